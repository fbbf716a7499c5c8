import {
  applyToWhitelist,
  decodeWhitelist,
  EMPTY_WHITELIST,
  encodeWhitelist,
  type SourceWhitelist,
  WHITELIST_EVENTS,
  type WhitelistEvent,
  type WhitelistJson,
} from '../../domain/ip-control/source-whitelist-ledger.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** A customer's whitelist requests that were not removed. Key: the customer's number. */
export type SourceWhitelistView = Readonly<{
  customerId: number;
  whitelist: SourceWhitelist;
  /** When each request was submitted, by its id. */
  submittedAt: ReadonlyMap<string, string>;
}>;

export const sourceWhitelistProjection: Projection<WhitelistEvent, SourceWhitelistView> = {
  name: 'source-whitelists',
  version: 2,
  handles: WHITELIST_EVENTS,
  // Other lists' commits are no business of this view, and are most of them.
  keysOf: ({ stream, data }) => ('list' in data && data.list !== 'SRC_WHITELIST' ? [] : [streamId(stream)]),
  evolve: (view = { customerId: 0, whitelist: EMPTY_WHITELIST, submittedAt: new Map() }, event) => ({
    customerId: Number(streamId(event.stream)),
    whitelist: applyToWhitelist(view.whitelist, event),
    submittedAt: submittedAfter(view.submittedAt, event),
  }),
  stored: {
    encode: ({ customerId, whitelist, submittedAt }): StoredView => ({
      customerId,
      whitelist: encodeWhitelist(whitelist),
      submittedAt: [...submittedAt],
    }),
    decode: (json) => decodeView(json as StoredView),
  },
};

function submittedAfter(
  before: ReadonlyMap<string, string>,
  event: RecordedEvent<WhitelistEvent>,
): ReadonlyMap<string, string> {
  switch (event.type) {
    case 'SourceWhitelistSubmitted':
      return new Map(before).set(event.data.requestId, event.metadata.at);
    case 'SourceWhitelistRemoved': {
      const left = new Map(before);
      left.delete(event.data.requestId);
      return left;
    }
    case 'SourceWhitelistApproved':
    case 'SourceWhitelistRejected':
    case 'CommitRequested':
    case 'CommitCompleted':
    case 'CommitFailed':
      return before;
  }
}

/** As this projection's own version wrote it. */
type StoredView = Readonly<{
  customerId: number;
  whitelist: WhitelistJson;
  submittedAt: readonly (readonly [requestId: string, at: string])[];
}>;

function decodeView({ customerId, whitelist, submittedAt }: StoredView): SourceWhitelistView {
  return { customerId, whitelist: decodeWhitelist(whitelist), submittedAt: new Map(submittedAt) };
}
