import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import {
  applyToWhitelist,
  EMPTY_WHITELIST,
  type SourceWhitelist,
  type WhitelistRequest,
} from '../../events/ip-control/source-whitelist-ledger.ts';
import {
  decodeWhitelist,
  encodeWhitelist,
  type WhitelistJson,
} from '../../events/ip-control/source-whitelist-ledger-json.ts';
import type { Recorded } from '../../kernel/event.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** When a request was submitted, and by whom and when it was decided about: `null` while it was not, and for accounts that need no review. */
export type RequestTimes = Readonly<{ submittedAt: string; decidedAt: string | null; decidedBy: string | null }>;

/** A customer's whitelist requests that were not removed. Key: the customer's number. */
export type SourceWhitelistView = Readonly<{
  customerId: number;
  whitelist: SourceWhitelist;
  /** By request id. */
  times: ReadonlyMap<string, RequestTimes>;
}>;

export type ShownRequest = WhitelistRequest & RequestTimes;

type Shown = Extract<
  CustomerEvent,
  {
    type:
      | 'SourceWhitelistSubmitted'
      | 'SourceWhitelistApproved'
      | 'SourceWhitelistRejected'
      | 'SourceWhitelistRemoved'
      | 'CommitRequested'
      | 'CommitCompleted'
      | 'CommitFailed';
  }
>;

export const sourceWhitelistProjection: Projection<Shown, SourceWhitelistView> = {
  name: 'source-whitelists',
  version: 1,
  handles: [
    'SourceWhitelistSubmitted',
    'SourceWhitelistApproved',
    'SourceWhitelistRejected',
    'SourceWhitelistRemoved',
    'CommitRequested',
    'CommitCompleted',
    'CommitFailed',
  ],
  // Other lists' commits are no business of this view, and are most of them.
  keysOf: ({ stream, data }) => ('list' in data && data.list !== 'SRC_WHITELIST' ? [] : [streamId(stream)]),
  evolve: (view, event) => {
    const whitelist = applyToWhitelist(view?.whitelist ?? EMPTY_WHITELIST, event);
    return {
      customerId: Number(streamId(event.stream)),
      whitelist,
      times: timesAfter(view?.times ?? new Map(), event),
    };
  },
  stored: {
    encode: ({ customerId, whitelist, times }): StoredView => ({
      customerId,
      whitelist: encodeWhitelist(whitelist),
      times: [...times],
    }),
    decode: (json) => decodeView(json as StoredView),
  },
};

/** The requests of a view, newest first. */
export function newestFirst({ whitelist, times }: SourceWhitelistView): readonly ShownRequest[] {
  return [...whitelist.requests.values()].toReversed().map((request) => {
    const own = times.get(request.requestId);
    invariant(own, `the view knows when request ${request.requestId} was submitted`);
    return { ...request, ...own };
  });
}

function timesAfter(
  times: ReadonlyMap<string, RequestTimes>,
  event: Recorded<Shown>,
): ReadonlyMap<string, RequestTimes> {
  const { at, actor } = event.metadata;
  switch (event.type) {
    case 'SourceWhitelistSubmitted':
      return new Map(times).set(event.data.requestId, { submittedAt: at, decidedAt: null, decidedBy: null });
    case 'SourceWhitelistApproved':
    case 'SourceWhitelistRejected': {
      const { requestId } = event.data;
      const submittedAt = times.get(requestId)?.submittedAt ?? at;
      return new Map(times).set(requestId, { submittedAt, decidedAt: at, decidedBy: actor });
    }
    case 'SourceWhitelistRemoved': {
      const left = new Map(times);
      left.delete(event.data.requestId);
      return left;
    }
    case 'CommitRequested':
    case 'CommitCompleted':
    case 'CommitFailed':
      return times;
  }
}

/** As this projection's own version wrote it. */
type StoredView = Readonly<{
  customerId: number;
  whitelist: WhitelistJson;
  times: readonly (readonly [requestId: string, times: RequestTimes])[];
}>;

function decodeView({ customerId, whitelist, times }: StoredView): SourceWhitelistView {
  return { customerId, whitelist: decodeWhitelist(whitelist), times: new Map(times) };
}
