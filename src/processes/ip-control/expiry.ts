import type { AddressRange } from '../../addresses/range.ts';
import { RangeMap } from '../../addresses/range-map.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { parseRangeTexts, rangeTexts } from '../../addresses/range-text.ts';
import type { Aggregate } from '../../commands/aggregate.ts';
import type { CustomerState } from '../../commands/ip-control/customer-state.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import type { RegionState } from '../../commands/ip-control/region-state.ts';
import { changedAddresses, subnetRange } from '../../domain/ip-control/address-ledger.ts';
import { regionLimits } from '../../domain/ip-control/region-limits.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type Duty, type Mark, markOf, type Perform, type Process, type Since } from '../../kernel/process.ts';
import { streamId } from '../../kernel/stream-name.ts';
import { inParts } from './in-parts.ts';

/** What one call has said: when addresses are enabled by themselves, and how long after which event that is. */
type Term = Readonly<{ until: string; from: Mark; milliseconds: number }>;

/** The addresses of one customer that are disabled for a time, by region. */
export type ExpiryState = Readonly<{ customerId: number; regions: ReadonlyMap<number, RangeMap<Term>> }>;

export type EndDisabledTermDuty = Duty<
  'EndDisabledTerm',
  Readonly<{ customerId: number; regionId: number; until: string; ranges: readonly AddressRange[] }>
>;

type Watched = Extract<
  CustomerEvent,
  { type: 'AddressesDisabled' | 'DisabledTermChanged' | 'AddressesEnabled' | 'SubnetReleased' }
>;

/** Owes the end of a time for which addresses are disabled, as long as some of them still are because of the call that said so. */
export const expiry: Process<Watched, ExpiryState, EndDisabledTermDuty> = {
  name: 'expiry',
  version: 1,
  handles: ['AddressesDisabled', 'DisabledTermChanged', 'AddressesEnabled', 'SubnetReleased'],
  keysOf: (event) => [streamId(event.stream)],
  evolve,
  owed: ({ customerId, regions }, since) =>
    [...regions].flatMap(([regionId, terms]) => dutiesOf(customerId, regionId, terms, since)),
  wakesIn: ({ regions }, since) => {
    let next = Number.POSITIVE_INFINITY;
    for (const terms of regions.values())
      for (const term of termsOf(terms)) {
        const left = remaining(term, since);
        if (left > 0 && left < next) next = left;
      }
    return Number.isFinite(next) ? next : undefined;
  },
  stored: { encode: encodeState, decode: (json) => decodeState(json as StoredState) },
};

/** What ends at the same instant ends by one command: it enables whatever is disabled until then, whichever call said so. */
type Ending = { firstPosition: number; readonly ranges: AddressRange[] };

/** One look at each range: a state is asked again after each duty, and thousands of calls may have disabled addresses for a time. */
function dutiesOf(
  customerId: number,
  regionId: number,
  terms: RangeMap<Term>,
  since: Since,
): readonly EndDisabledTermDuty[] {
  const endings = new Map<string, Ending>();
  for (const { range, value: term } of terms.entries()) {
    // Of two calls with the same end, one may have been made before the wall clock was set: its time is over at another moment.
    if (remaining(term, since) > 0) continue;
    const { until, from } = term;
    const known = endings.get(until);
    if (known === undefined) endings.set(until, { firstPosition: from.position, ranges: [range] });
    else {
      known.firstPosition = Math.min(known.firstPosition, from.position);
      known.ranges.push(range);
    }
  }
  return Array.from(endings, ([until, { firstPosition, ranges }]) => ({
    type: 'EndDisabledTerm',
    id: `${customerId}/${regionId}@${firstPosition}`,
    data: { customerId, regionId, until, ranges },
  }));
}

function evolve(state: ExpiryState | undefined, event: RecordedEvent<Watched>): ExpiryState | undefined {
  const { regionId } = event.data;
  const term = termIn(event);
  // Most customers disable nothing for a time, and most events of a log come by here.
  if (term === undefined && state === undefined) return undefined;
  const before = state?.regions.get(regionId) ?? new RangeMap<Term>();
  if (term === undefined && before.isEmpty) return state;
  const regions = new Map(state?.regions);
  const after = before.with(addressesOf(event), term);
  if (after.isEmpty) regions.delete(regionId);
  else regions.set(regionId, after);
  return regions.size === 0 ? undefined : { customerId: Number(streamId(event.stream)), regions };
}

function termIn(event: RecordedEvent<Watched>): Term | undefined {
  if (event.type !== 'AddressesDisabled' && event.type !== 'DisabledTermChanged') return undefined;
  const { until, lastsMilliseconds: milliseconds } = event.data;
  return until === undefined || milliseconds === undefined ? undefined : { until, from: markOf(event), milliseconds };
}

function addressesOf({ type, data }: RecordedEvent<Watched>): RangeSet {
  return type === 'SubnetReleased' ? RangeSet.of(subnetRange(data.cidr)) : changedAddresses(data.ranges);
}

function termsOf(terms: RangeMap<Term>): ReadonlySet<Term> {
  return new Set(Array.from(terms.entries(), ({ value }) => value));
}

function remaining({ from, milliseconds }: Term, since: Since): number {
  return milliseconds - since(from);
}

type StoredState = Readonly<{
  customerId: number;
  terms: readonly Readonly<{ regionId: number; term: Term; ranges: readonly string[] }>[];
}>;

function encodeState({ customerId, regions }: ExpiryState): StoredState {
  const terms = [...regions].flatMap(([regionId, all]) =>
    [...all.byValue()].map(([term, addresses]) => ({ regionId, term, ranges: rangeTexts(addresses) })),
  );
  return { customerId, terms };
}

/** As this process's own version wrote it. */
function decodeState({ customerId, terms }: StoredState): ExpiryState {
  const regions = new Map<number, RangeMap<Term>>();
  for (const { regionId, term, ranges } of terms) {
    const known = regions.get(regionId) ?? new RangeMap<Term>();
    regions.set(regionId, known.with(parseRangeTexts(ranges), term));
  }
  return { customerId, regions };
}

export type ExpiryDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  regions: Readonly<{ state: (regionId: number) => Promise<Readonly<{ state: RegionState }>> }>;
}>;

/** Enables what of these addresses is still disabled until that instant: at once, or in parts where that is more than the store takes. */
export function performEndDisabledTerm({ customers, regions }: ExpiryDependencies): Perform<EndDisabledTermDuty> {
  return async ({ id, data: { customerId, regionId, until, ranges } }) => {
    const { state: region } = await regions.state(regionId);
    const limits =
      region.phase === 'created' ? regionLimits([{ ...region, routers: [...region.routers.values()] }]) : new Map();
    await inParts(ranges, async (part) => {
      const data = { regionId, until, addresses: RangeSet.from(part), limits };
      const by = { actor: 'system:expiry', requestId: id };
      const answer = await customers.handle(customerId, { type: 'EndDisabledTerm', data }, by);
      if (isRefusal(answer)) throw new Error(`what was disabled until ${until} can not be enabled: ${answer.because}`);
    });
  };
}
