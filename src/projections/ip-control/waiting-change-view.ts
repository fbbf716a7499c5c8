import { LIST_EVENTS, type ListEvent, listKeysOf, listOf } from '../../events/ip-control/list-changes.ts';
import { failedRouters, type ListKind } from '../../events/ip-control/vocabulary.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** A list with changes that are not on all routers, or whose newest commit has failed. Key: `customer/region/list`. Instants as in the events. */
export type WaitingChangeView = Readonly<{
  customerId: number;
  regionId: number;
  list: ListKind;
  /** Of the oldest change that a commit under way carries, or one that has failed. */
  carriedSince: string | null;
  /** Of the oldest change that no commit has captured yet. */
  waitingSince: string | null;
  /** Once the newest commit has failed, until one completes: the routers that did not take it. */
  failingOn?: readonly string[];
}>;

export const waitingChangeProjection: Projection<ListEvent, WaitingChangeView> = {
  name: 'waiting-changes',
  version: 3,
  handles: LIST_EVENTS,
  keysOf: listKeysOf,
  evolve,
};

function evolve(
  before: WaitingChangeView | undefined,
  event: RecordedEvent<ListEvent>,
  key: string,
): WaitingChangeView | undefined {
  switch (event.type) {
    case 'CommitRequested':
      return before && { ...before, carriedSince: before.carriedSince ?? before.waitingSince, waitingSince: null };
    case 'CommitCompleted':
      return before === undefined || before.waitingSince === null ? undefined : withoutFailure(before);
    case 'CommitFailed':
      // Also of a commit that carries no change, such as one that an operator has asked for: its routers do not hold the list either.
      return { ...(before ?? nothingWaits(event, key)), failingOn: failedRouters(event.data.outcomes) };
    case 'SubnetReleased':
      return event.data.wasDisabled.length === 0 ? before : changed(before, event, key);
    case 'AddressesDisabled':
    case 'AddressesEnabled':
    case 'SourceWhitelistSubmitted':
    case 'SourceWhitelistApproved':
    case 'SourceWhitelistRemoved':
      return changed(before, event, key);
  }
}

function withoutFailure(before: WaitingChangeView): WaitingChangeView {
  const { failingOn: _, ...view } = before;
  return { ...view, carriedSince: null };
}

/** Most events of a log come by here, of lists that wait already. */
function changed(
  before: WaitingChangeView | undefined,
  event: RecordedEvent<ListEvent>,
  key: string,
): WaitingChangeView {
  const waitingSince = event.metadata.at;
  if (before !== undefined) return before.waitingSince === null ? { ...before, waitingSince } : before;
  return { ...nothingWaits(event, key), waitingSince };
}

function nothingWaits(event: RecordedEvent<ListEvent>, key: string): WaitingChangeView {
  const [customerId, regionId] = [Number(streamId(event.stream)), Number(key.split('/')[1])];
  return { customerId, regionId, list: listOf(event), carriedSince: null, waitingSince: null };
}
