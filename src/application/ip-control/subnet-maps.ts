import { isAddressProblem } from '../../addresses/address-problem.ts';
import { formatAddress, parseAddress } from '../../addresses/address.ts';
import { type Cidr, networkAddress, parseCidr, rangeOfCidr } from '../../addresses/cidr.ts';
import {
  type AddressRange,
  firstAddress,
  lastAddress,
  overlaps,
  rangeContains,
  rangeSize,
} from '../../addresses/range.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import {
  applyToSubnetHistory,
  NO_SUBNET_HISTORY,
  STEPS_MAX,
  stepAt,
  type SubnetHistory,
  type SubnetStep,
  unchangedSince,
} from '../../domain/ip-control/subnet-history.ts';
import { type MapLayers, type SubnetMap, subnetMap, setWithin } from '../../domain/ip-control/subnet-map.ts';
import { addressRuns, type SubnetOfCustomer } from '../../domain/ip-control/subnet-status.ts';
import { type CustomerEvent, isCustomerEvent } from '../../events/ip-control/customer.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { Refusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Application } from '../application.ts';
import { type CustomerName, namedSubnetRows, regionNames, type SubnetRow } from './customer-lists.ts';
import { notFound } from './lookups.ts';
import { addressesMeant } from './search.ts';

/** Histories that are kept to be folded on. */
const HISTORIES_MAX = 50;

type SubnetsCustomer = SubnetOfCustomer & Readonly<{ customerId: number }>;

/** Gives the steps of a subnet's history, the oldest first; what was read before is not read again. */
export type SubnetHistories = (subnet: SubnetsCustomer) => Promise<readonly SubnetStep[]>;

/** Reads histories from the log. */
export function openSubnetHistories({ store }: Readonly<{ store: Pick<EventStore, 'read'> }>): SubnetHistories {
  const known = new BoundedMap<number, Readonly<{ revision: bigint | undefined; folded: SubnetHistory }>>(
    HISTORIES_MAX,
  );
  return async (subnet) => {
    let { revision, folded } = known.get(subnet.subnetId) ?? { revision: undefined, folded: NO_SUBNET_HISTORY };
    for await (const page of store.read(streamName('customer', subnet.customerId), revision)) {
      folded = applyToSubnetHistory(folded, page.filter(isCustomers), subnet);
      revision = page.at(-1)?.revision ?? revision;
    }
    known.set(subnet.subnetId, { revision, folded });
    return folded.steps;
  };
}

function isCustomers(event: RecordedEvent): event is RecordedEvent<CustomerEvent> {
  return isCustomerEvent(event);
}

/** What of an instant is looked at: what was wanted, what all routers had, or how these differed. */
export const MAP_LOOKS = ['wanted', 'deployed', 'difference'] as const;
export type MapLook = (typeof MAP_LOOKS)[number];

/** Neighbouring addresses that stand alike. */
export type MapRange = Readonly<{
  first: string;
  last: string;
  addresses: bigint;
  isDisabled: boolean;
  isPending: boolean;
  until: string | undefined;
  /** Undefined: for longer than the steps that are kept. */
  since: string | undefined;
}>;

/** A block of a subnet at a step of its history. */
export type BlockThen = Readonly<{
  subnet: SubnetsCustomer;
  steps: readonly SubnetStep[];
  /** The place of the step among them. */
  step: number;
  /** Whether steps before the first one are not kept any more. */
  isCutOff: boolean;
  map: SubnetMap;
  counts: Readonly<{ total: bigint; disabled: bigint; pending: bigint; deployed: bigint }>;
  ranges: readonly MapRange[];
  /** The address from which on more ranges follow. */
  nextFrom: string | undefined;
}>;

type Asked = Readonly<{
  subnetId: string;
  /** Default: the whole subnet. */
  block: string | undefined;
  look: MapLook;
  /** Default: now. */
  at: string | undefined;
  /** Where the ranges begin; default: with the block. */
  from: string | undefined;
  /** So many ranges at most. */
  limit: number;
}>;

type MapDependencies = Readonly<{ views: Pick<Application['views'], 'subnets'>; histories: SubnetHistories }>;

/** How a block of a subnet was at an instant. */
export async function blockOfSubnet(asked: Asked, { views, histories }: MapDependencies): Promise<BlockThen | Refusal> {
  const subnet = /^[1-9]\d{0,14}$/.test(asked.subnetId) ? await views.subnets.get(asked.subnetId) : undefined;
  if (subnet === undefined) return notFound(`There is no subnet ${asked.subnetId}.`, 'subnet');
  const block = blockWithin(subnet.cidr, asked.block ?? subnet.cidr);
  if (block === undefined) return notFound(`${asked.block ?? ''} is no block of ${subnet.cidr}.`, 'block');
  const steps = await histories(subnet);
  const step = asked.at === undefined ? steps.length - 1 : stepAt(steps, asked.at);
  const then = steps[step];
  if (then === undefined) return notFound(`The subnet ${asked.subnetId} is not assigned any more.`, 'subnet');
  const range = rangeOfCidr(block);
  const [disabled, pending, deployed] = [
    setWithin(then.disabled, range),
    setWithin(then.pending, range),
    setWithin(then.deployed, range),
  ];
  return {
    subnet,
    steps,
    step,
    isCutOff: steps.length === STEPS_MAX,
    map: subnetMap(block, layersOf(asked.look, { disabled, pending, deployed })),
    counts: {
      total: rangeSize(range),
      disabled: disabled.count(),
      pending: pending.count(),
      deployed: deployed.count(),
    },
    ...rangesOf({ range, disabled, pending, terms: then.terms }, asked, steps, step),
  };
}

type Sets = Readonly<Record<'disabled' | 'pending' | 'deployed', RangeSet>>;

function layersOf(look: MapLook, { disabled, pending, deployed }: Sets): MapLayers {
  switch (look) {
    case 'wanted':
      return { disabled, toDisable: pending.intersection(disabled), toEnable: pending.difference(disabled) };
    case 'deployed':
      return { disabled: deployed, toDisable: RangeSet.empty, toEnable: RangeSet.empty };
    case 'difference':
      return {
        disabled: RangeSet.empty,
        toDisable: disabled.difference(deployed),
        toEnable: deployed.difference(disabled),
      };
  }
}

function rangesOf(
  then: Parameters<typeof addressRuns>[0],
  { from, limit }: Asked,
  steps: readonly SubnetStep[],
  step: number,
): Pick<BlockThen, 'ranges' | 'nextFrom'> {
  const asked = from === undefined ? undefined : parseAddress(from);
  const begins =
    asked === undefined || isAddressProblem(asked) || !rangeContains(then.range, asked)
      ? firstAddress(then.range)
      : asked;
  const ranges: MapRange[] = [];
  for (const { first, last, isDisabled, isPending, until } of addressRuns(then, begins)) {
    const range = rangeBetweenValues(then.range.version, first, last);
    if (ranges.length === limit) return { ranges, nextFrom: formatAddress(firstAddress(range)) };
    ranges.push({
      first: formatAddress(firstAddress(range)),
      last: formatAddress(lastAddress(range)),
      addresses: last - first + 1n,
      isDisabled,
      isPending,
      until,
      since: unchangedSince(steps, step, range),
    });
  }
  return { ranges, nextFrom: undefined };
}

function rangeBetweenValues(version: 4 | 6, first: bigint, last: bigint): AddressRange {
  return version === 4 ? { version, first: Number(first), last: Number(last) } : { version, first, last };
}

/** A block by its text, where it lies in a subnet. */
function blockWithin(cidr: string, text: string): Cidr | undefined {
  const [subnet, block] = [parseCidr(cidr), parseCidr(text)];
  if (isAddressProblem(subnet) || isAddressProblem(block) || block.length < subnet.length) return undefined;
  return rangeContains(rangeOfCidr(subnet), networkAddress(block)) ? block : undefined;
}

/** A subnet as the list of all subnets names it. */
export type ListedSubnet = Readonly<{
  subnetId: number;
  cidr: string;
  customer: CustomerName;
}>;

/** One row of that list. */
export type SubnetListRow = SubnetRow & Pick<ListedSubnet, 'customer'>;

type SubnetListDependencies = Pick<Application, 'directory'> &
  Readonly<{ views: Pick<Application['views'], 'addresses' | 'regions'> }>;

/**
 * All subnets that a text means, in the order of their addresses: of an address or a CIDR those that it lies in or overlaps, of another text
 * those whose CIDR begins with it or whose customer has it in its name; all of them for an empty one.
 */
export async function subnetNames(
  text: string,
  { directory }: Pick<SubnetListDependencies, 'directory'>,
): Promise<readonly ListedSubnet[]> {
  const { state } = await directory.state(DIRECTORY_ID);
  const all = subnetsInOrder(state);
  if (text === '') return all;
  const range = addressesMeant(text);
  const wanted = text.toLowerCase();
  return all.filter(({ cidr, customer: { name }, range: own }) =>
    range === undefined ? cidr.startsWith(wanted) || name.toLowerCase().includes(wanted) : overlaps(own, range),
  );
}

type DirectoryState = Awaited<ReturnType<Application['directory']['state']>>['state'];
type PlacedSubnet = ListedSubnet & Readonly<{ range: AddressRange }>;

/** The subnets of a state of the directory, as long as it is the newest: of ten thousands, sorting costs more than the page that shows a hundred. */
const sorted = new WeakMap<DirectoryState['subnets'], readonly PlacedSubnet[]>();

function subnetsInOrder({ subnets, customers }: DirectoryState): readonly PlacedSubnet[] {
  const known = sorted.get(subnets);
  if (known !== undefined) return known;
  const listed = [...subnets.values()].map(({ subnetId, cidr, customerId, range }) => {
    const { name, listName } = customers.get(customerId) ?? { name: '', listName: '' };
    return { subnetId, cidr, range, customer: { customerId, name, listName } };
  });
  listed.sort((a, b) => compareRanges(a.range, b.range));
  sorted.set(subnets, listed);
  return listed;
}

function compareRanges(a: AddressRange, b: AddressRange): number {
  if (a.version !== b.version) return a.version - b.version;
  return a.first < b.first ? -1 : 1;
}

/** Of these subnets what their list shows; those that are being assigned or released at this moment are left out. */
export async function subnetListRows(
  subnets: readonly ListedSubnet[],
  { views }: Pick<SubnetListDependencies, 'views'>,
): Promise<readonly SubnetListRow[]> {
  const customers = new Map(subnets.map(({ customer }) => [customer.customerId, customer]));
  const wanted = new Set(subnets.map(({ subnetId }) => subnetId));
  const regions = await regionNames({ views });
  const rows = new Map<number, SubnetListRow>();
  await Promise.all(
    [...customers].map(async ([customerId, customer]) => {
      for (const row of await namedSubnetRows(customerId, regions, { views }, wanted))
        rows.set(row.subnetId, { ...row, customer });
    }),
  );
  return subnets.flatMap(({ subnetId }) => rows.get(subnetId) ?? []);
}
