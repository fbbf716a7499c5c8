import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { Evidence } from '../../events/ip-control/source-whitelist.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

type Deed = Readonly<{ at: string; by: string }>;

/** One whitelist request and what people did with it, for administrators and auditors: removed ones stay. Key: the request's id. */
export type WhitelistRequestView = Readonly<{
  requestId: string;
  customerId: number;
  input: string;
  prefixes: readonly string[];
  regionIds: readonly number[];
  evidence: Evidence;
  autoApproved: boolean;
  submitted: Deed;
  /** `null` while it is not decided, and for accounts that need no review. */
  decided:
    | (Deed & Readonly<{ outcome: 'approved' }>)
    | (Deed & Readonly<{ outcome: 'rejected'; reason: string }>)
    | null;
  removed: Deed | null;
}>;

type Shown = Extract<
  CustomerEvent,
  {
    type: 'SourceWhitelistSubmitted' | 'SourceWhitelistApproved' | 'SourceWhitelistRejected' | 'SourceWhitelistRemoved';
  }
>;

export const whitelistRequestProjection: Projection<Shown, WhitelistRequestView> = {
  name: 'source-whitelist-requests',
  version: 1,
  handles: ['SourceWhitelistSubmitted', 'SourceWhitelistApproved', 'SourceWhitelistRejected', 'SourceWhitelistRemoved'],
  keysOf: (event) => [event.data.requestId],
  evolve: (view, event) => {
    const deed = deedOf(event);
    if (event.type === 'SourceWhitelistSubmitted') {
      return {
        customerId: Number(streamId(event.stream)),
        ...event.data,
        submitted: deed,
        decided: null,
        removed: null,
      };
    }
    if (view === undefined) return undefined;
    switch (event.type) {
      case 'SourceWhitelistApproved':
        return { ...view, decided: { ...deed, outcome: 'approved' } };
      case 'SourceWhitelistRejected':
        return { ...view, decided: { ...deed, outcome: 'rejected', reason: event.data.reason } };
      case 'SourceWhitelistRemoved':
        return { ...view, removed: deed };
    }
  },
};

function deedOf({ metadata: { at, actor } }: RecordedEvent<Shown>): Deed {
  return { at, by: actor };
}
