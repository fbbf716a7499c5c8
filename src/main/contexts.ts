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
import type { EventDefinition } from '../events/codec.ts';
import type { Config } from '../config.ts';
import type { ReadModels } from '../ports/read-models.ts';
import type { DirectReading } from '../projections/engine/stored-views.ts';
import { ipControlProcesses } from './ip-control.ts';
import type { ProcessTools, RegisteredProcess, WiredProcess } from './process-wiring.ts';
import { workerPoolsProcesses } from './worker-pools.ts';

const EVENTS: Readonly<Record<string, readonly EventDefinition[]>> = { ...ipControlEvents, ...workerPoolsEvents };

/** Every stream category of every context. */
export const STREAM_CATEGORIES: readonly string[] = Object.keys(EVENTS);

/** Every event that edgeward writes or reads. */
export const EVENT_CATALOGUE: readonly EventDefinition[] = Object.values(EVENTS).flat();

/** Every stream category with its rules. */
export function openAggregates(dependencies: AggregateDependencies) {
  return { ...openIpControlAggregates(dependencies), ...openWorkerPoolsAggregates(dependencies) };
}

export type Aggregates = ReturnType<typeof openAggregates>;

/** Each view that people read. */
export function openViews(reading: DirectReading) {
  return { ...openIpControlViews(reading), ...openWorkerPoolsViews(reading) };
}

/** The process managers that a configuration stands for. */
export function processesOf(config: Config): readonly RegisteredProcess[] {
  return [...ipControlProcesses(config), ...workerPoolsProcesses(config)];
}

/** Connects each process manager with its tools and the cache of its states. */
export function wireProcesses(readModels: ReadModels, tools: ProcessTools): readonly WiredProcess[] {
  return processesOf(tools.config).map((process) => process.wire(readModels, tools));
}
