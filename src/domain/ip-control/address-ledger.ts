import { isAddressProblem } from '../../addresses/address-problem.ts';
import { parseCidr, rangeOfCidr } from '../../addresses/cidr.ts';
import { RangeMap } from '../../addresses/range-map.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { parseRangeTexts, rangeTexts } from '../../addresses/range-text.ts';
import type { AddressRange } from '../../addresses/range.ts';
import {
  type GetPage,
  type PutPage,
  rangesOfStored,
  type StoredRanges,
  storedRanges,
} from '../../addresses/stored-ranges.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { isOfTypes } from '../../kernel/event.ts';
import { invariant } from '../../kernel/invariant.ts';
import {
  capture,
  decodeWaiting,
  encodeWaiting,
  giveBack,
  type CommitContent,
  type Layers,
  type WaitingJson,
  withChange,
} from './layers.ts';

/** A customer's addresses in one region. Pending are the touched ones and the captured ones. */
export type RegionAddresses = Readonly<{
  owned: RangeSet;
  disabled: RangeSet;
  /** When those of the disabled ones are enabled by themselves that are disabled for a time. */
  terms: RangeMap<string>;
  /** Changed since the last commit was requested. */
  touched: RangeSet;
  /** Parts of it after a failed commit. */
  layers: Layers;
  inDeployment: CommitContent | undefined;
}>;

/** A customer's addresses by region number. The meaning of the address events, for every reader of them. */
export type AddressLedger = ReadonlyMap<number, RegionAddresses>;

export const EMPTY_LEDGER: AddressLedger = new Map();

const NOTHING: RegionAddresses = {
  owned: RangeSet.empty,
  disabled: RangeSet.empty,
  terms: new RangeMap(),
  touched: RangeSet.empty,
  layers: [],
  inDeployment: undefined,
};

/** The addresses of one region; a region without any has empty sets. */
export function regionAddresses(ledger: AddressLedger, regionId: number): RegionAddresses {
  return ledger.get(regionId) ?? NOTHING;
}

/** The addresses whose change is not on all routers of the region yet. */
export function pendingAddresses(region: RegionAddresses): RangeSet {
  return region.inDeployment === undefined ? region.touched : region.touched.union(region.inDeployment.captured);
}

/** All that a ledger is made of. */
export const LEDGER_EVENTS = [
  'SubnetAssigned',
  'SubnetReleased',
  'AddressesDisabled',
  'DisabledTermChanged',
  'AddressesEnabled',
  'CommitRequested',
  'CommitCompleted',
  'CommitFailed',
] as const;
export type LedgerEvent = Extract<CustomerEvent, { type: (typeof LEDGER_EVENTS)[number] }>;

const isLedgerEvent = isOfTypes(LEDGER_EVENTS);

/** The ledger after an event; events that are not about addresses change nothing. */
export function applyToLedger(ledger: AddressLedger, event: CustomerEvent): AddressLedger {
  if (!isLedgerEvent(event)) return ledger;
  switch (event.type) {
    case 'SubnetAssigned':
      return change(ledger, event.data.regionId, (region) => ({
        ...region,
        owned: region.owned.union(subnetSet(event.data.cidr)),
      }));
    case 'SubnetReleased':
      return change(ledger, event.data.regionId, (region) =>
        release(region, subnetSet(event.data.cidr), changedAddresses(event.data.wasDisabled)),
      );
    case 'AddressesDisabled':
      return change(ledger, event.data.regionId, (region) => {
        const changed = changedAddresses(event.data.ranges);
        const { until } = event.data;
        const terms = until === undefined ? region.terms : region.terms.with(changed, until);
        return { ...touch(region, changed), disabled: region.disabled.union(changed), terms };
      });
    case 'DisabledTermChanged':
      return change(ledger, event.data.regionId, (region) => ({
        ...region,
        terms: region.terms.with(changedAddresses(event.data.ranges), event.data.until),
      }));
    case 'AddressesEnabled':
      return change(ledger, event.data.regionId, (region) => {
        const changed = changedAddresses(event.data.ranges);
        const terms = region.terms.with(changed, undefined);
        return { ...touch(region, changed), disabled: region.disabled.difference(changed), terms };
      });
    case 'CommitRequested':
    case 'CommitCompleted':
    case 'CommitFailed':
      if (event.data.list !== 'BLACKHOLE') return ledger;
      return change(ledger, event.data.regionId, (region) => applyCommit(region, event.type));
  }
}

const changedSets = new WeakMap<readonly string[], RangeSet>();

/** Reading few texts again is cheaper than remembering what they spell. */
const REMEMBERED_FROM = 16;

/** The set that an event's range texts spell. Many are kept beside the texts: decider, views and the answer all ask for them. */
export function changedAddresses(texts: readonly string[]): RangeSet {
  if (texts.length < REMEMBERED_FROM) return parseRangeTexts(texts);
  const known = changedSets.get(texts);
  if (known !== undefined) return known;
  const set = parseRangeTexts(texts);
  changedSets.set(texts, set);
  return set;
}

/** The range texts of a set for an event; `changedAddresses` of many need not read them again. */
export function changedTexts(set: RangeSet): string[] {
  const texts = rangeTexts(set);
  if (texts.length >= REMEMBERED_FROM) changedSets.set(texts, set);
  return texts;
}

/** The address range of a subnet's CIDR, which was checked before it became an event. */
export function subnetRange(cidr: string): AddressRange {
  const parsed = parseCidr(cidr);
  invariant(!isAddressProblem(parsed), `an event holds the CIDR ${cidr}`);
  return rangeOfCidr(parsed);
}

function subnetSet(cidr: string): RangeSet {
  return RangeSet.of(subnetRange(cidr));
}

/** A region of which these addresses were changed, whatever was done to them. */
export function touch(region: RegionAddresses, changed: RangeSet): RegionAddresses {
  return { ...region, touched: region.touched.union(changed), layers: withChange(region, changed) };
}

function change(
  ledger: AddressLedger,
  regionId: number,
  apply: (region: RegionAddresses) => RegionAddresses,
): AddressLedger {
  return new Map(ledger).set(regionId, apply(regionAddresses(ledger, regionId)));
}

/** What was disabled in a released subnet must still leave the routers: it stays touched, though no view shows it any more. */
function release(region: RegionAddresses, subnet: RangeSet, wasDisabled: RangeSet): RegionAddresses {
  return {
    ...touch(region, wasDisabled),
    owned: region.owned.difference(subnet),
    disabled: region.disabled.difference(wasDisabled),
    terms: region.terms.with(subnet, undefined),
  };
}

function applyCommit(
  region: RegionAddresses,
  type: 'CommitRequested' | 'CommitCompleted' | 'CommitFailed',
): RegionAddresses {
  const { touched, disabled, inDeployment } = region;
  switch (type) {
    case 'CommitRequested':
      return { ...region, touched: RangeSet.empty, layers: [], inDeployment: capture(region, disabled, inDeployment) };
    case 'CommitCompleted':
      return { ...region, inDeployment: undefined };
    case 'CommitFailed':
      return { ...region, ...giveBack(touched, inDeployment), inDeployment: undefined };
  }
}

type RegionJson = Readonly<{
  regionId: number;
  disabled: StoredRanges;
  /** The addresses of each term; left out where there is none. */
  terms?: readonly (readonly [until: string, ranges: readonly string[]])[];
  touched: StoredRanges;
}> &
  WaitingJson;

/** A ledger as JSON. What is owned is not in it: the subnets say it. */
export type LedgerJson = readonly RegionJson[];

type OwnedSubnet = Readonly<{ cidr: string; regionId: number }>;

/** A ledger as JSON, which may name pages that are kept apart. */
export function encodeLedger(ledger: AddressLedger, put?: PutPage): LedgerJson {
  return [...ledger].map(([regionId, { disabled, terms, touched, layers, inDeployment }]) => ({
    regionId,
    disabled: storedRanges(disabled, put),
    ...(terms.isEmpty ? {} : { terms: encodeTerms(terms) }),
    touched: storedRanges(touched, put),
    ...encodeWaiting(layers, inDeployment, put),
  }));
}

function encodeTerms(terms: RangeMap<string>): NonNullable<RegionJson['terms']> {
  return [...terms.byValue()].map(([until, set]) => [until, rangeTexts(set)] as const);
}

function decodeTerms(terms: NonNullable<RegionJson['terms']>): RangeMap<string> {
  return terms.reduce((all, [until, texts]) => all.with(parseRangeTexts(texts), until), new RangeMap<string>());
}

/** A ledger that does not tell apart when its changes came: only pushing in slices asks for that, and views are the same however they were folded. */
export function withoutLayers(ledger: AddressLedger): AddressLedger {
  let plain: Map<number, RegionAddresses> | undefined;
  for (const [regionId, region] of ledger) {
    const { layers, inDeployment: carried } = region;
    if (layers.length === 0 && (carried === undefined || carried.layers.length === 1)) continue;
    const inDeployment = carried === undefined ? undefined : { ...carried, layers: [carried.captured] };
    plain ??= new Map(ledger);
    plain.set(regionId, { ...region, layers: [], inDeployment });
  }
  return plain ?? ledger;
}

/** The ledger that was encoded, given the subnets that the customer had then. */
export function decodeLedger(regions: LedgerJson, subnets: readonly OwnedSubnet[], get?: GetPage): AddressLedger {
  const ledger = new Map<number, RegionAddresses>();
  for (const { regionId, disabled, terms = [], touched, ...waiting } of regions) {
    const own = subnets.filter((subnet) => subnet.regionId === regionId);
    ledger.set(regionId, {
      owned: RangeSet.of(...own.map(({ cidr }) => subnetRange(cidr))),
      disabled: rangesOfStored(disabled, get),
      terms: decodeTerms(terms),
      touched: rangesOfStored(touched, get),
      ...decodeWaiting(waiting, get),
    });
  }
  return ledger;
}
