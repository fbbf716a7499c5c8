import type { Registered } from '../../commands/ip-control/customer-state.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import type { CreatedRegion, RegionRouter } from '../../commands/ip-control/region-state.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';

export type CustomerLookup = Pick<Application, 'directory' | 'customers'>;
export type RegionLookup = Pick<Application, 'directory' | 'regions'>;

/** A router as an operator names it: by region and name, or by its name alone where only one region has it. */
export type RouterName = Readonly<{ region?: string; router: string }>;

/** As a number of a customer or region is written. */
const NUMBER = /^[1-9]\d{0,14}$/;

/** A router and the region that it belongs to. */
export type FoundRouter = Readonly<{ region: CreatedRegion; router: RegionRouter }>;

/** A customer by a text, which is its name or else its number, or by its number alone; refused with `not-found`, also where it was removed. */
export async function findCustomer(
  nameOrNumber: string | number,
  lookup: CustomerLookup,
): Promise<Registered | Refusal> {
  const found = await findAnyCustomer(nameOrNumber, lookup);
  return isRefusal(found) || found.standing !== 'removed' ? found : wasRemoved(found);
}

/** The same, one that was removed included, for those who look back or take its lists off the routers. */
export async function findAnyCustomer(
  nameOrNumber: string | number,
  lookup: CustomerLookup,
): Promise<Registered | Refusal> {
  if (typeof nameOrNumber === 'number') return customerNumbered(nameOrNumber, lookup);
  const named = await anyCustomerNamed(nameOrNumber, lookup);
  if (!isRefusal(named) || !NUMBER.test(nameOrNumber)) return named;
  return customerNumbered(Number(nameOrNumber), lookup);
}

/** A customer by its name alone, whatever numbers there are; refused with `not-found`, also where it was removed. */
export async function customerNamed(name: string, lookup: CustomerLookup): Promise<Registered | Refusal> {
  const found = await anyCustomerNamed(name, lookup);
  return isRefusal(found) || found.standing !== 'removed' ? found : wasRemoved(found);
}

function wasRemoved({ name }: Registered): Refusal {
  return notFound(`customer ${name} was removed.`, 'customer');
}

async function anyCustomerNamed(name: string, { directory, customers }: CustomerLookup): Promise<Registered | Refusal> {
  const known = (await directory.state(DIRECTORY_ID)).state.customers;
  const id = [...known].find(([, customer]) => customer.name === name)?.[0];
  const state = id === undefined ? undefined : (await customers.state(id)).state;
  return state?.phase === 'registered' ? state : notFound(`customer ${name} not found.`, 'customer');
}

async function customerNumbered(
  customerId: number,
  { directory, customers }: CustomerLookup,
): Promise<Registered | Refusal> {
  const isKnown = (await directory.state(DIRECTORY_ID)).state.customers.has(customerId);
  const state = isKnown ? (await customers.state(customerId)).state : undefined;
  return state?.phase === 'registered' ? state : notFound(`customer ${customerId} not found.`, 'customer');
}

/** All customers that are registered and were not removed, by number. */
export async function allCustomers({ directory, customers }: CustomerLookup): Promise<readonly Registered[]> {
  const known = (await directory.state(DIRECTORY_ID)).state.customers;
  const states = await Promise.all([...known.keys()].map((id) => customers.state(id)));
  return states.flatMap(({ state }) => (state.phase === 'registered' && state.standing !== 'removed' ? [state] : []));
}

/** A region by name or number, the name first; refused with `not-found`. */
export async function findRegion(nameOrNumber: string, lookup: RegionLookup): Promise<CreatedRegion | Refusal> {
  const named = await regionNamed(nameOrNumber, lookup);
  if (!isRefusal(named) || !NUMBER.test(nameOrNumber)) return named;
  const number = Number(nameOrNumber);
  const isKnown = (await lookup.directory.state(DIRECTORY_ID)).state.regions.has(number);
  const state = isKnown ? (await lookup.regions.state(number)).state : undefined;
  return state?.phase === 'created' ? state : named;
}

/** A region by its name alone, whatever numbers there are; refused with `not-found`. */
export async function regionNamed(
  name: string,
  { directory, regions }: RegionLookup,
): Promise<CreatedRegion | Refusal> {
  const known = (await directory.state(DIRECTORY_ID)).state.regions;
  const id = [...known].find(([, its]) => its === name)?.[0];
  const state = id === undefined ? undefined : (await regions.state(id)).state;
  return state?.phase === 'created' ? state : notFound(`region ${name} not found.`, 'region');
}

/** All regions, by number. */
export async function allRegions({ directory, regions }: RegionLookup): Promise<readonly CreatedRegion[]> {
  const known = (await directory.state(DIRECTORY_ID)).state.regions;
  const states = await Promise.all([...known.keys()].map((id) => regions.state(id)));
  return states.flatMap(({ state }) => (state.phase === 'created' ? [state] : []));
}

/** A router by its name; refused with `not-found`, or with `ambiguous-router` where several regions have one of that name. */
export async function findRouter(
  { region: regionName, router: name }: RouterName,
  lookup: RegionLookup,
): Promise<FoundRouter | Refusal> {
  const named = regionName === undefined ? undefined : await findRegion(regionName, lookup);
  if (named !== undefined && isRefusal(named)) return named;
  const regions = named === undefined ? await allRegions(lookup) : [named];
  const found = regions.flatMap((region) => {
    const router = region.routers.get(name);
    return router === undefined ? [] : [{ region, router }];
  });
  const [only, another] = found;
  if (only === undefined) return notFound(`router ${name} not found.`, 'router');
  if (another === undefined) return only;
  return refuse('ambiguous-router', `several regions have a router ${name}: name the region first.`, 'router');
}

/** The refusal for something that was named and is not there. */
export function notFound(because: string, field: string): Refusal {
  return refuse('not-found', because, field);
}
