import { coverTexts } from '../../addresses/cidr-cover.ts';
import type { RangeMap } from '../../addresses/range-map.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import type { CommitSettled, CustomerEvent } from '../../events/ip-control/customer.ts';
import type { ListContent, ListKind } from '../../events/ip-control/vocabulary.ts';
import {
  type AddressLedger,
  applyToLedger,
  EMPTY_LEDGER,
  pendingAddresses,
  regionAddresses,
} from './address-ledger.ts';
import { contentOf, inDeployment } from './commit-content.ts';
import {
  applyToWhitelist,
  EMPTY_WHITELIST,
  pendingWhitelist,
  regionWhitelist,
  type SourceWhitelist,
} from './source-whitelist-ledger.ts';

/** What was on all routers, by region. */
type Deployed = ReadonlyMap<number, RangeSet>;

/** A customer as its events tell it up to some moment: what each list was to hold, what was pending, what was on all routers. */
export type CustomerHistory = Readonly<{
  ledger: AddressLedger;
  whitelist: SourceWhitelist;
  deployed: Readonly<Record<ListKind, Deployed>>;
}>;

export const NO_HISTORY: CustomerHistory = {
  ledger: EMPTY_LEDGER,
  whitelist: EMPTY_WHITELIST,
  deployed: { BLACKHOLE: new Map(), SRC_WHITELIST: new Map() },
};

/** The history after one more event. */
export function applyToHistory(history: CustomerHistory, event: CustomerEvent): CustomerHistory {
  const ledger = applyToLedger(history.ledger, event);
  const whitelist = applyToWhitelist(history.whitelist, event);
  if (event.type !== 'CommitCompleted') return { ...history, ledger, whitelist };
  const { regionId, list } = event.data;
  const content = inDeployment(history, regionId, list)?.content ?? RangeSet.empty;
  const deployed = { ...history.deployed, [list]: new Map(history.deployed[list]).set(regionId, content) };
  return { ledger, whitelist, deployed };
}

export type RegionAt = Readonly<{
  regionId: number;
  disabled: RangeSet;
  pending: RangeSet;
  deployed: RangeSet;
  /** When those of the disabled ones are enabled by themselves that are disabled for a time. */
  terms: RangeMap<string>;
  whitelist: Readonly<{ live: RangeSet; pending: RangeSet; deployed: RangeSet }>;
}>;

/** The sets of each region, for both lists. */
export function regionsAt({ ledger, whitelist, deployed }: CustomerHistory): readonly RegionAt[] {
  const regionIds = [...new Set([...ledger.keys(), ...whitelist.regions.keys()])].sort((a, b) => a - b);
  return regionIds.map((regionId) => {
    const region = regionAddresses(ledger, regionId);
    const own = regionWhitelist(whitelist, regionId);
    return {
      regionId,
      disabled: region.disabled,
      terms: region.terms,
      pending: pendingAddresses(region),
      deployed: deployed.BLACKHOLE.get(regionId) ?? RangeSet.empty,
      whitelist: {
        live: own.live,
        pending: pendingWhitelist(own),
        deployed: deployed.SRC_WHITELIST.get(regionId) ?? RangeSet.empty,
      },
    };
  });
}

/** What is wrong with what a commit says that it deployed, given the history before it; `undefined` when the events agree. */
export function contentProblem(history: CustomerHistory, { data }: CommitSettled): string | undefined {
  const carried = inDeployment(history, data.regionId, data.list);
  if (carried === undefined) return `commit ${data.commitSetId} was settled without having been requested`;
  const expected = contentOf(coverTexts(carried.content));
  const isSame = expected.sha256 === data.content.sha256 && expected.prefixes === data.content.prefixes;
  return isSame
    ? undefined
    : `commit ${data.commitSetId} deployed other blocks than the events say: ${shown(data.content)}, not ${shown(expected)}`;
}

function shown({ prefixes, sha256 }: ListContent): string {
  return `${prefixes} with SHA-256 ${sha256.slice(0, 16)}…`;
}
