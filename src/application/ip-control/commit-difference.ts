import { commitKey, listedAddresses, type Registered } from '../../commands/ip-control/customer-state.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import type { CustomersList } from '../../commands/ip-control/explained-removals.ts';
import { type Keeping, keepingOf, wantedOn } from '../../commands/ip-control/kept-lists.ts';
import type { CreatedRegion, RegionRouter } from '../../commands/ip-control/region-state.ts';
import { pendingAddresses, regionAddresses } from '../../domain/ip-control/address-ledger.ts';
import { pendingWhitelist, regionWhitelist } from '../../domain/ip-control/source-whitelist-ledger.ts';
import { type ListKind, prefixListName } from '../../events/ip-control/vocabulary.ts';
import { coverTexts } from '../../addresses/cidr-cover.ts';
import { type RouterDriver, RouterFailure } from '../../ports/routers.ts';
import { invariant } from '../../kernel/invariant.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';
import { allRegions, findAnyCustomer, findRegion } from './lookups.ts';

type DifferenceDependencies = Pick<Application, 'directory' | 'customers' | 'regions' | 'store' | 'openRouter'>;

/** One list that a commit may put on the routers of a region. */
type Planned = Readonly<{ of: CustomersList; customer: string; list: string; prefixes: readonly string[] }>;

/** What a commit would change on one router; `problem` where that could not be seen. */
export type RouterDifference = Readonly<{
  router: string;
  added: readonly string[];
  removed: readonly string[];
  /** How many blocks it would keep, as the restored log does not explain them. */
  kept?: number;
  problem?: string;
  disabled?: true;
}>;

/** What a commit of one list would change; `prefixes`: how many the list is to have everywhere. */
export type ListDifference = Readonly<{
  customer: string;
  region: string;
  list: string;
  prefixes: number;
  routers: readonly RouterDifference[];
}>;

const READ_MILLISECONDS = 30_000;

/**
 * What a commit of one list would change on each router now, from the router's real content; nothing is changed by looking. Routers are
 * left alone once the signal aborts, if there is one. @throws its reason then
 */
export async function listDifference(
  of: Readonly<{ customer: string; region: string; list: ListKind }>,
  dependencies: DifferenceDependencies,
  signal?: AbortSignal,
): Promise<ListDifference | Refusal> {
  const customer = await findAnyCustomer(of.customer, dependencies);
  if (isRefusal(customer)) return customer;
  const region = await findRegion(of.region, dependencies);
  if (isRefusal(region)) return region;
  const planned = [plannedOf(customer, region.regionId, of.list)];
  const [difference] = await differencesIn(region, planned, dependencies, signal);
  signal?.throwIfAborted();
  invariant(difference !== undefined, 'a planned list has its difference');
  return difference;
}

/** As `listDifference`, of every list of these kinds, or of those that a commit is to come for. */
export async function everyDifference(
  { lists, which }: Readonly<{ lists: readonly ListKind[]; which: 'all' | 'due' }>,
  dependencies: DifferenceDependencies,
): Promise<readonly ListDifference[]> {
  const { customers } = (await dependencies.directory.state(DIRECTORY_ID)).state;
  const differences: ListDifference[] = [];
  for (const region of await allRegions(dependencies)) {
    const planned: Planned[] = [];
    for (const customerId of customers.keys()) {
      const { state } = await dependencies.customers.state(customerId);
      if (state.phase === 'unregistered') continue;
      for (const kind of lists)
        if (which === 'all' || isDue(state, region.regionId, kind))
          planned.push(plannedOf(state, region.regionId, kind));
    }
    if (planned.length > 0) differences.push(...(await differencesIn(region, planned, dependencies)));
  }
  return differences;
}

/** Whether a commit of the list is to come: something is pending, or the last one has not succeeded. */
function isDue(state: Registered, regionId: number, kind: ListKind): boolean {
  if (state.commits.has(commitKey(regionId, kind))) return true;
  switch (kind) {
    case 'BLACKHOLE':
      return !pendingAddresses(regionAddresses(state.ledger, regionId)).isEmpty;
    case 'SRC_WHITELIST':
      return !pendingWhitelist(regionWhitelist(state.whitelist, regionId)).isEmpty;
  }
}

function plannedOf(state: Registered, regionId: number, kind: ListKind): Planned {
  const prefixes = coverTexts(listedAddresses(state, regionId, kind));
  const of = { customerId: state.customerId, regionId, list: kind };
  return { of, customer: state.name, list: prefixListName(state.listName, kind), prefixes };
}

/** All lists of one region: routers at the same time, the lists of one router one after another over one session. */
async function differencesIn(
  region: CreatedRegion,
  planned: readonly Planned[],
  dependencies: DifferenceDependencies,
  signal?: AbortSignal,
): Promise<readonly ListDifference[]> {
  const routers = [...region.routers.values()];
  const keepings = await Promise.all(planned.map(({ of }) => keepingOf(of, dependencies)));
  const looks = routers.map((router) => differencesOn(router, planned, keepings, dependencies, signal));
  const found = await Promise.all(looks);
  return planned.map(({ customer, list, prefixes }, at) => ({
    customer,
    region: region.name,
    list,
    prefixes: prefixes.length,
    routers: found.flatMap((differences) => differences[at] ?? []),
  }));
}

async function differencesOn(
  { router, driver: kind, options, phase }: RegionRouter,
  planned: readonly Planned[],
  keepings: readonly (Keeping | undefined)[],
  { openRouter }: DifferenceDependencies,
  signal: AbortSignal | undefined,
): Promise<readonly RouterDifference[]> {
  const nothing = { router, added: [], removed: [] };
  if (phase === 'disabled') return planned.map(() => ({ ...nothing, disabled: true }));
  let driver: RouterDriver;
  try {
    driver = openRouter({ name: router, driver: kind, options });
  } catch (error) {
    return planned.map(() => ({ ...nothing, problem: problemOf(error) }));
  }
  const differences: RouterDifference[] = [];
  try {
    for (const [at, { list, prefixes }] of planned.entries()) {
      try {
        const inTime = AbortSignal.timeout(READ_MILLISECONDS);
        const held = await driver.read(list, signal === undefined ? inTime : AbortSignal.any([signal, inTime]));
        differences.push(differenceOn(router, held, prefixes, keepings[at]));
      } catch (error) {
        signal?.throwIfAborted();
        differences.push({ ...nothing, problem: problemOf(error) });
      }
    }
  } finally {
    await driver.close();
  }
  return differences;
}

function differenceOn(
  router: string,
  held: readonly string[] | 'absent',
  prefixes: readonly string[],
  keeping: Keeping | undefined,
): RouterDifference {
  const wanted = wantedOn(held, prefixes, keeping);
  const entries = held === 'absent' ? [] : held;
  if ('problem' in wanted) return { ...differenceOf(router, entries, entries), problem: wanted.problem };
  const kept = wanted.kept.length === 0 ? {} : { kept: wanted.kept.length };
  return { ...differenceOf(router, entries, wanted.prefixes), ...kept };
}

function differenceOf(router: string, held: readonly string[], wanted: readonly string[]): RouterDifference {
  const [has, wants] = [new Set(held), new Set(wanted)];
  const added = wanted.filter((prefix) => !has.has(prefix));
  const removed = held.filter((prefix) => !wants.has(prefix));
  return { router, added, removed };
}

function problemOf(error: unknown): string {
  if (error instanceof RouterFailure) return `${error.code}: ${error.message}`;
  throw error;
}
