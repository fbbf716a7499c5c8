import { coverTexts } from '../../kernel/addresses/cover.ts';
import { RangeSet } from '../../kernel/addresses/range-set.ts';
import {
  type AddressLedger,
  applyToLedger,
  EMPTY_LEDGER,
  pendingAddresses,
  regionAddresses,
} from '../../events/ip-control/address-ledger.ts';
import type { CommitSettled, CustomerEvent } from '../../events/ip-control/customer.ts';
import { contentOf } from '../../events/ip-control/list-content.ts';

/** A customer as its events tell it up to some moment: what was disabled, what was pending, what was on all routers. */
export type CustomerHistory = Readonly<{ ledger: AddressLedger; deployed: ReadonlyMap<number, RangeSet> }>;

export const NO_HISTORY: CustomerHistory = { ledger: EMPTY_LEDGER, deployed: new Map() };

/** The history after one more event. */
export function applyToHistory({ ledger, deployed }: CustomerHistory, event: CustomerEvent): CustomerHistory {
  const after = applyToLedger(ledger, event);
  if (event.type !== 'CommitCompleted' || event.data.list !== 'BLACKHOLE') return { ledger: after, deployed };
  const content = regionAddresses(ledger, event.data.regionId).inDeployment?.content ?? RangeSet.empty;
  return { ledger: after, deployed: new Map(deployed).set(event.data.regionId, content) };
}

export type RegionAt = Readonly<{ regionId: number; disabled: RangeSet; pending: RangeSet; deployed: RangeSet }>;

/** The three sets of each region. */
export function regionsAt({ ledger, deployed }: CustomerHistory): readonly RegionAt[] {
  return [...ledger].map(([regionId, region]) => ({
    regionId,
    disabled: region.disabled,
    pending: pendingAddresses(region),
    deployed: deployed.get(regionId) ?? RangeSet.empty,
  }));
}

/** What is wrong with what a commit says that it deployed, given the history before it; `undefined` when the events agree. */
export function contentProblem({ ledger }: CustomerHistory, { data }: CommitSettled): string | undefined {
  if (data.list !== 'BLACKHOLE') return undefined;
  const { inDeployment } = regionAddresses(ledger, data.regionId);
  if (inDeployment === undefined) return `commit ${data.commitSetId} was settled without having been requested`;
  const expected = contentOf(coverTexts(inDeployment.content));
  const isSame = expected.sha256 === data.content.sha256 && expected.prefixes === data.content.prefixes;
  return isSame
    ? undefined
    : `commit ${data.commitSetId} deployed other blocks than the events say (${data.content.prefixes}, not ${expected.prefixes})`;
}
