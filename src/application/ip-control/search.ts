import { formatAddress, parseAddress } from '../../addresses/address.ts';
import { isAddressProblem } from '../../addresses/address-problem.ts';
import { parseCidr, rangeOfCidr } from '../../addresses/cidr.ts';
import { type AddressRange, firstAddress, overlaps, rangeOfAddress, rangeSize } from '../../addresses/range.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { subnetStatus } from '../../domain/ip-control/subnet-status.ts';
import { rangeOfPrefixes } from '../../domain/ip-control/source-whitelist-ledger.ts';
import { prefixListName } from '../../events/ip-control/vocabulary.ts';
import type { Application } from '../application.ts';
import type { WhitelistRequestView } from '../../projections/ip-control/source-whitelist-request-view.ts';
import { type CustomerName, customerNames, removedCustomers } from './customer-lists.ts';
import { positionNamed, showEvent } from './history.ts';
import { isInUse, type ReviewStage, reviewStage } from './review-queue.ts';

export type SearchDependencies = Pick<Application, 'directory' | 'store'> &
  Readonly<{
    views: Pick<
      Application['views'],
      | 'addresses'
      | 'customers'
      | 'removedCustomers'
      | 'regions'
      | 'administrators'
      | 'commits'
      | 'whitelistRequests'
      | 'tokens'
    >;
  }>;

/** A subnet that holds what was looked for, and how a single address stands in it. */
export type SubnetHit = Readonly<{
  customer: CustomerName;
  subnetId: number;
  cidr: string;
  address:
    | Readonly<{
        text: string;
        isDisabled: boolean;
        isPending: boolean;
        /** The list on the routers that holds it now; undefined where none does. */
        list: string | undefined;
      }>
    | undefined;
}>;

/** Something else that has a page. `name`: what people call it. */
export type FoundThing = Readonly<{ name: string }> &
  (
    | Readonly<{ kind: 'region'; regionId: number }>
    | Readonly<{ kind: 'router'; regionId: number }>
    | Readonly<{ kind: 'account' }>
    | Readonly<{ kind: 'commit'; commitSetId: string }>
    /** `list`: what holds its addresses, or would once it is approved. */
    | Readonly<{ kind: 'request'; requestId: string; stage: ReviewStage; list: string }>
    | Readonly<{ kind: 'token'; customerId: number }>
    | Readonly<{ kind: 'event'; position: bigint }>
  );

export type SearchHits = Readonly<{
  customers: readonly CustomerName[];
  subnets: readonly SubnetHit[];
  things: readonly FoundThing[];
}>;

/** More than these are no answer to a search. */
const HITS_MAX = 100;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const BEGINNING_OF_TOKEN = /^edw_[\w-]{6}/;

/**
 * What a text may mean: of an address or a CIDR the subnets that it lies in or overlaps, in the order in which they came, and the whitelist
 * requests for any of it; of a UUID the commit set, the whitelist request or the token that has it; of a token's beginning the token; of
 * anything else the customers, regions, routers and accounts whose names hold it, and of digits the event at this position. At most 100 of each.
 */
export async function search(text: string, application: SearchDependencies): Promise<SearchHits> {
  const range = addressesMeant(text);
  if (range !== undefined) {
    const [subnets, things] = [await subnetsWith(range, application), await requestsFor(range, application)];
    return { customers: [], subnets, things };
  }
  if (UUID.test(text) || BEGINNING_OF_TOKEN.test(text))
    return { customers: [], subnets: [], things: await numbered(text, application) };
  const list = text.replace(/-(?:BLACKHOLE|SRC_WHITELIST)$/i, '').replace(/^Svc-/i, '');
  const [customers, things, events] = await Promise.all([
    customerNames(list, application),
    named(text, application),
    eventAt(text, application),
  ]);
  return { customers: customers.slice(0, HITS_MAX), subnets: [], things: [...things, ...events] };
}

/** Requests that were neither rejected nor removed; the newest first. */
async function requestsFor(range: AddressRange, application: SearchDependencies): Promise<readonly FoundThing[]> {
  const { views } = application;
  const [asked, gone] = await Promise.all([views.whitelistRequests.list(), removedCustomers(views)]);
  const meant = asked
    .map(({ view }) => view)
    .filter((request) => isInUse(reviewStage(request)) && !gone.has(request.customerId))
    .filter(({ prefixes }) => overlaps(rangeOfPrefixes(prefixes), range))
    .toSorted((a, b) => (a.submitted.at < b.submitted.at ? 1 : -1));
  return Promise.all(meant.slice(0, HITS_MAX).map((request) => foundRequest(request, application)));
}

async function foundRequest(request: WhitelistRequestView, { directory }: SearchDependencies): Promise<FoundThing> {
  const { requestId, input, customerId } = request;
  const { state } = await directory.state(DIRECTORY_ID);
  const list = prefixListName(state.customers.get(customerId)?.listName ?? '', 'SRC_WHITELIST');
  return { kind: 'request', requestId, name: input, stage: reviewStage(request), list };
}

async function numbered(text: string, application: SearchDependencies): Promise<readonly FoundThing[]> {
  const { views } = application;
  const id = text.toLowerCase();
  const commit = await views.commits.get(id);
  if (commit !== undefined) return [{ kind: 'commit', commitSetId: id, name: id }];
  const request = await views.whitelistRequests.get(id);
  if (request !== undefined) return [await foundRequest(request, application)];
  return (await views.tokens.list())
    .map(({ view }) => view)
    .filter(({ tokenId, prefix }) => tokenId === id || (prefix !== null && text.startsWith(prefix)))
    .map(({ customerId, tokenId, label }) => ({ kind: 'token', customerId, name: label === '' ? tokenId : label }));
}

async function named(text: string, { views }: SearchDependencies): Promise<readonly FoundThing[]> {
  const wanted = text.toLowerCase();
  const isMeant = ({ name }: Readonly<{ name: string }>): boolean => name.toLowerCase().includes(wanted);
  const regions = (await views.regions.list()).map(({ view }) => view);
  const accounts = (await views.administrators.list()).map(({ view }) => view);
  const found: readonly FoundThing[][] = [
    regions.map(({ regionId, name }) => ({ kind: 'region', regionId, name })),
    regions.flatMap(({ regionId, routers }) =>
      routers.map(({ name }) => ({ kind: 'router', regionId, name }) as const),
    ),
    accounts.map(({ name }) => ({ kind: 'account', name })),
  ];
  return found.flatMap((things) => things.filter(isMeant).slice(0, HITS_MAX));
}

async function eventAt(text: string, application: SearchDependencies): Promise<readonly FoundThing[]> {
  const position = positionNamed(text);
  const event = position === undefined ? undefined : await showEvent(position, application);
  return event === undefined
    ? []
    : [{ kind: 'event', position: event.position, name: `${event.position} ${event.type}` }];
}

/** The addresses that a text names: one, or a CIDR; undefined for any other text. */
export function addressesMeant(text: string): AddressRange | undefined {
  const address = parseAddress(text);
  if (!isAddressProblem(address)) return rangeOfAddress(address);
  const cidr = parseCidr(text);
  return isAddressProblem(cidr) ? undefined : rangeOfCidr(cidr);
}

async function subnetsWith(
  range: AddressRange,
  { directory, views }: SearchDependencies,
): Promise<readonly SubnetHit[]> {
  const { state } = await directory.state(DIRECTORY_ID);
  const found = [...state.subnets.values()].filter((subnet) => overlaps(subnet.range, range)).slice(0, HITS_MAX);
  const hits = found.map(async ({ subnetId, customerId, cidr }) => {
    const { name, listName } = state.customers.get(customerId) ?? { name: String(customerId), listName: '' };
    const view = await views.addresses.get(String(customerId));
    const status = view === undefined ? undefined : subnetStatus(view, subnetId);
    const customer = { customerId, name, listName };
    if (status === undefined || rangeSize(range) !== 1n) return { customer, subnetId, cidr, address: undefined };
    const isDisabled = status.disabled.countWithin(range) === 1n;
    const isPending = status.pending.countWithin(range) === 1n;
    const list = isDisabled === isPending ? undefined : prefixListName(listName, 'BLACKHOLE');
    return {
      customer,
      subnetId,
      cidr,
      address: { text: formatAddress(firstAddress(range)), isDisabled, isPending, list },
    };
  });
  return Promise.all(hits);
}
