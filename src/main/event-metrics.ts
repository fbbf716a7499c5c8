import { DIRECTORY_ID } from '../commands/ip-control/directory.ts';
import { epochMilliseconds } from '../domain/instants.ts';
import { LIST_EVENTS, type ListEvent, listKeysOf } from '../events/ip-control/list-changes.ts';
import type { WebhookDeliveryEvent } from '../events/ip-control/webhook-delivery.ts';
import { type WorkerEvent, workerEvents } from '../events/worker-pools/worker.ts';
import type { Instruments } from '../http/operations/instruments.ts';
import { BoundedMap } from '../kernel/bounded-map.ts';
import { isHandled, type RecordedEvent } from '../kernel/event.ts';
import type { Clock } from '../ports/clock.ts';
import { type EventStore, WrongExpectedRevision } from '../ports/event-store.ts';
import type { Log } from '../ports/log.ts';
import type { Aggregates } from './contexts.ts';
import type { PushEnded } from './seen-routers.ts';

const REMEMBERED_MAX = 10_000;
const OF_LISTS: ReadonlySet<string> = new Set(LIST_EVENTS);
const OF_WORKERS: ReadonlySet<string> = new Set(workerEvents.map(({ type }) => type));

const OUTCOMES = {
  WebhookDelivered: 'delivered',
  WebhookAttemptFailed: 'failed',
  WebhookAbandoned: 'given_up',
} as const;
const OF_TRIES: ReadonlySet<string> = new Set(Object.keys(OUTCOMES));

type TriedWebhook = Extract<WebhookDeliveryEvent, { type: keyof typeof OUTCOMES }>;

type EventInstruments = Pick<Instruments, 'commitCompleted' | 'webhookTried' | 'launchEnded'>;

/** Measures what the log tells while this server follows it, whichever server has recorded it. `regionName`: undefined for one that is gone. */
export function eventMetrics(
  instruments: EventInstruments,
  regionName: (regionId: number) => Promise<string | undefined>,
): (event: RecordedEvent) => void {
  /** By customer, region and list: when the newest change was made that no commit has captured. */
  const changedAt = new BoundedMap<string, string>(REMEMBERED_MAX);
  /** By commit set: the same of what it carries. */
  const carriedAt = new BoundedMap<string, string>(REMEMBERED_MAX);

  return (event) => {
    if (isHandled<ListEvent>(OF_LISTS, event)) noteList(event);
    else if (isHandled<TriedWebhook>(OF_TRIES, event)) instruments.webhookTried(OUTCOMES[event.type]);
    else if (isHandled<WorkerEvent>(OF_WORKERS, event)) noteWorker(event, instruments);
  };

  function noteList(event: RecordedEvent<ListEvent>): void {
    switch (event.type) {
      case 'CommitRequested': {
        const [key = ''] = listKeysOf(event);
        const changed = changedAt.get(key);
        if (changed === undefined) return;
        changedAt.delete(key);
        carriedAt.set(event.data.commitSetId, changed);
        return;
      }
      case 'CommitCompleted': {
        const { commitSetId, regionId, list, completedAt } = event.data;
        const changed = carriedAt.get(commitSetId);
        if (changed === undefined) return;
        carriedAt.delete(commitSetId);
        const delaySeconds = Math.max(0, epochMilliseconds(completedAt) - epochMilliseconds(changed)) / 1000;
        // A region whose name can't be read at this moment is not measured: nothing else depends on it.
        void regionName(regionId).then(
          (region) => region !== undefined && instruments.commitCompleted({ region, list }, delaySeconds),
          () => undefined,
        );
        return;
      }
      case 'CommitFailed':
        return;
      case 'SubnetReleased':
      case 'AddressesDisabled':
      case 'AddressesEnabled':
      case 'SourceWhitelistSubmitted':
      case 'SourceWhitelistApproved':
      case 'SourceWhitelistRemoved':
        for (const key of listKeysOf(event)) changedAt.set(key, event.metadata.at);
    }
  }
}

function noteWorker({ type, data }: RecordedEvent<WorkerEvent>, instruments: EventInstruments): void {
  if (type === 'InstanceCreated') instruments.launchEnded(data.pool, 'created');
  if (type === 'InstanceLaunchFailed') instruments.launchEnded(data.pool, 'failed');
}

/** The same store; each append is measured until its events are durable, or are not. */
export function withMeasuredAppends(
  store: EventStore,
  { appendEnded }: Pick<Instruments, 'appendEnded'>,
  clock: Pick<Clock, 'monotonicMilliseconds'>,
): EventStore {
  return {
    ...store,
    append: async (...call) => {
      const began = clock.monotonicMilliseconds();
      const seconds = (): number => (clock.monotonicMilliseconds() - began) / 1000;
      try {
        const appended = await store.append(...call);
        appendEnded('success', seconds());
        return appended;
      } catch (error) {
        appendEnded(error instanceof WrongExpectedRevision ? 'conflict' : 'failed', seconds());
        throw error;
      }
    },
  };
}

/** The name of a region by its number; undefined for one that is gone. */
export function namesOfRegions({
  directory,
}: Pick<Aggregates, 'directory'>): (regionId: number) => Promise<string | undefined> {
  return async (regionId) => (await directory.state(DIRECTORY_ID)).state.regions.get(regionId);
}

/** Measures pushes under the name of their region. */
export function measurePushes(
  { pushEnded }: Pick<Instruments, 'pushEnded'>,
  regionName: (regionId: number) => Promise<string | undefined>,
  log: Pick<Log, 'debug'>,
): PushEnded {
  return (regionId, { name: router, driver }, outcome, seconds) =>
    void regionName(regionId).then(
      (region = String(regionId)) => pushEnded({ region, router, driver, outcome }, seconds),
      (error: unknown) => log.debug({ error }, 'a push could not be measured: the name of its region is out of reach'),
    );
}
