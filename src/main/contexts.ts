import {
  ipControlEvents,
  openIpControlAggregates,
  openIpControlViews,
} from '../application/ip-control/registration.ts';
import {
  openWorkerPoolsAggregates,
  openWorkerPoolsViews,
  workerPoolsEvents,
} from '../application/worker-pools/registration.ts';
import type { AggregateDependencies } from '../commands/aggregate.ts';
import { DIRECTORY_ID } from '../commands/ip-control/directory.ts';
import type { EventDefinition } from '../events/codec.ts';
import type { Config } from '../config.ts';
import { streamName } from '../kernel/stream-name.ts';
import type { ReadModels } from '../ports/read-models.ts';
import type { StoredViewsDependencies } from '../projections/engine/stored-views.ts';
import { viewReaderOf } from '../projections/engine/view-reader.ts';
import { eventDayProjection } from '../projections/operations/event-day-view.ts';
import { ipControlProcesses } from './ip-control.ts';
import type { RegisteredProcess, ServerTools, WiredProcess } from './process-wiring.ts';
import { workerPoolsProcesses } from './worker-pools.ts';

const EVENTS: Readonly<Record<string, readonly EventDefinition[]>> = { ...ipControlEvents, ...workerPoolsEvents };

/** Every stream category of every context. */
export const STREAM_CATEGORIES: readonly string[] = Object.keys(EVENTS);

/** Nothing can be done before there is a region or a customer, and both are reserved there. */
export const STREAM_OF_EVERY_LOG = streamName('directory', DIRECTORY_ID);

/** Every event that edgeward writes or reads. */
export const EVENT_CATALOGUE: readonly EventDefinition[] = Object.values(EVENTS).flat();

/** Every stream category with its rules. */
export function openAggregates(dependencies: AggregateDependencies) {
  return { ...openIpControlAggregates(dependencies), ...openWorkerPoolsAggregates(dependencies) };
}

export type Aggregates = ReturnType<typeof openAggregates>;

/** Each view that people read. */
export function openViews(reading: StoredViewsDependencies) {
  const types = EVENT_CATALOGUE.map(({ type }) => type);
  return {
    ...openIpControlViews(reading),
    ...openWorkerPoolsViews(reading),
    eventDays: viewReaderOf(eventDayProjection(types), reading),
  };
}

export type OpenedViews = ReturnType<typeof openViews>;

/** The process managers that a configuration stands for. */
export function processesOf(config: Config): readonly RegisteredProcess<ServerTools>[] {
  return [...ipControlProcesses(config), ...workerPoolsProcesses(config)];
}

/** What is kept in the read models: views, and states of process managers. */
export function projectionNames(config: Config, reading: StoredViewsDependencies): readonly string[] {
  const states = processesOf(config).map((process) => process.statesIn(reading.readModels));
  return [...Object.values(openViews(reading)), ...states].map(({ name }) => name);
}

/** Connects each process manager with its tools and the cache of its states. */
export function wireProcesses(readModels: ReadModels, tools: ServerTools): readonly WiredProcess[] {
  return processesOf(tools.config).map((process) => process.wire(readModels, tools));
}
