import { Temporal } from '@js-temporal/polyfill';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import type { Told } from '../../kernel/event.ts';
import type { Duty, Process } from '../../kernel/process.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** One list of one customer in one region that is not on all routers as it should be. */
export type QuietPeriodState = Readonly<{
  customerId: number;
  regionId: number;
  list: ListKind;
  /** Of the last change that no commit has captured yet. */
  changedAt: string | null;
  commit: Readonly<{ phase: 'deploying' }> | Readonly<{ phase: 'failed'; attempt: number; failedAt: string }> | null;
}>;

export type RequestCommitDuty = Duty<
  'RequestCommit',
  { customerId: number; regionId: number; list: ListKind; reason: 'quiet' | 'retry' }
>;

type Watched = Extract<
  CustomerEvent,
  {
    type:
      | 'SubnetReleased'
      | 'AddressesDisabled'
      | 'AddressesEnabled'
      | 'SourceWhitelistSubmitted'
      | 'SourceWhitelistApproved'
      | 'SourceWhitelistRemoved'
      | 'CommitRequested'
      | 'CommitCompleted'
      | 'CommitFailed';
  }
>;

export type QuietPeriodSettings = Readonly<{
  quietMilliseconds: number;
  /** After the first failure, the second, …; the last one repeats. */
  retryMilliseconds: readonly number[];
}>;

/**
 * Asks for a commit when a customer has been quiet in a region for the quiet period, and again after a failed one
 * (specification, Deployment rules 1, 2 and 5; decisions: 1, 2, 5, 10, then every 15 minutes, or at once when a new commit becomes due).
 */
export function quietPeriod(settings: QuietPeriodSettings): Process<Watched, QuietPeriodState, RequestCommitDuty> {
  return {
    name: 'quiet-period',
    version: 2,
    handles: [
      'SubnetReleased',
      'AddressesDisabled',
      'AddressesEnabled',
      'SourceWhitelistSubmitted',
      'SourceWhitelistApproved',
      'SourceWhitelistRemoved',
      'CommitRequested',
      'CommitCompleted',
      'CommitFailed',
    ],
    keysOf,
    evolve,
    owed: (state, now) => {
      const due = dueAt(state, settings);
      if (due === undefined || Temporal.Instant.compare(due, now) > 0) return [];
      const { customerId, regionId, list, changedAt, commit } = state;
      const id = `${customerId}/${regionId}/${list}@${changedAt ?? ''}#${commit?.phase === 'failed' ? commit.attempt : 0}`;
      return [
        {
          type: 'RequestCommit',
          id,
          data: { customerId, regionId, list, reason: commit === null ? 'quiet' : 'retry' },
        },
      ];
    },
    wakeAt: (state) => dueAt(state, settings),
  };
}

function keysOf(event: Told<Watched>): readonly string[] {
  const customerId = streamId(event.stream);
  // Nearly all events of a log are of these types: asking them which fields they have takes longer than the rest.
  if (event.type === 'AddressesDisabled' || event.type === 'AddressesEnabled') {
    return [`${customerId}/${event.data.regionId}/BLACKHOLE`];
  }
  return changedRegions(event).map((regionId) => `${customerId}/${regionId}/${listOf(event)}`);
}

function listOf(event: Watched): ListKind {
  if ('list' in event.data) return event.data.list;
  return 'requestId' in event.data ? 'SRC_WHITELIST' : 'BLACKHOLE';
}

/** The regions whose list an event changes; a whitelist request that waits for its review changes none. */
function changedRegions({ type, data }: Watched): readonly number[] {
  if (type === 'SourceWhitelistSubmitted' && !data.autoApproved) return [];
  return 'regionIds' in data ? data.regionIds : [data.regionId];
}

function evolve(before: QuietPeriodState | undefined, event: Told<Watched>, key: string): QuietPeriodState | undefined {
  const state = before ?? {
    customerId: Number(streamId(event.stream)),
    regionId: Number(key.split('/')[1]),
    list: listOf(event),
    changedAt: null,
    commit: null,
  };
  switch (event.type) {
    case 'SubnetReleased':
      return event.data.wasDisabled.length === 0 ? before : withChange(state, event.metadata.at);
    case 'AddressesDisabled':
    case 'AddressesEnabled':
    case 'SourceWhitelistSubmitted':
    case 'SourceWhitelistApproved':
    case 'SourceWhitelistRemoved':
      return withChange(state, event.metadata.at);
    case 'CommitRequested':
      return { ...state, changedAt: null, commit: { phase: 'deploying' } };
    case 'CommitCompleted':
      return state.changedAt === null ? undefined : { ...state, commit: null };
    case 'CommitFailed':
      return { ...state, commit: { phase: 'failed', attempt: event.data.attempt, failedAt: event.metadata.at } };
  }
}

/** Field by field: most events of a log come by here, and a spread takes several times as long. */
function withChange({ customerId, regionId, list, commit }: QuietPeriodState, at: string): QuietPeriodState {
  return { customerId, regionId, list, changedAt: at, commit };
}

function dueAt(state: QuietPeriodState, settings: QuietPeriodSettings): Temporal.Instant | undefined {
  const { changedAt, commit } = state;
  const quietAt = changedAt === null ? undefined : after(changedAt, settings.quietMilliseconds);
  if (commit === null) return quietAt;
  if (commit.phase === 'deploying') return undefined;
  const retryAt = after(commit.failedAt, retryDelay(settings.retryMilliseconds, commit.attempt));
  return quietAt !== undefined && Temporal.Instant.compare(quietAt, retryAt) < 0 ? quietAt : retryAt;
}

function retryDelay(delays: readonly number[], attempt: number): number {
  return delays[Math.min(attempt, delays.length) - 1] ?? 0;
}

function after(instant: string, milliseconds: number): Temporal.Instant {
  return Temporal.Instant.from(instant).add({ milliseconds });
}
