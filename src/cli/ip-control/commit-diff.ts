import { commitKey, listedAddresses, type Registered } from '../../commands/ip-control/customer-state.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import type { CustomersList } from '../../commands/ip-control/explained-removals.ts';
import { type Keeping, keepingOf, wantedOn } from '../../commands/ip-control/kept-lists.ts';
import type { CreatedRegion, RegionRouter } from '../../commands/ip-control/region-state.ts';
import { pendingAddresses, regionAddresses } from '../../domain/ip-control/address-ledger.ts';
import { pendingWhitelist, regionWhitelist } from '../../domain/ip-control/source-whitelist-ledger.ts';
import { type ListKind, listKind, prefixListName } from '../../events/ip-control/vocabulary.ts';
import { coverTexts } from '../../addresses/cidr-cover.ts';
import { type RouterDriver, RouterFailure } from '../../ports/routers.ts';
import { type CommandTools, outputOf } from '../command.ts';
import type { Application } from '../../application/application.ts';
import { allRegions, findCustomer, findRegion } from '../lookup.ts';
import { CommandFailure, counted, EXIT, usage } from '../output.ts';

export type DiffOptions = Readonly<{ list?: ListKind; due?: boolean; all?: boolean; json?: boolean }>;

/** One list that a commit may put on the routers of a region. */
type Planned = Readonly<{ of: CustomersList; customer: string; list: string; prefixes: readonly string[] }>;

/** What a commit would change on one router; `problem` where that could not be seen. */
type RouterDifference = Readonly<{
  router: string;
  added_count: number;
  removed_count: number;
  added: readonly string[];
  removed: readonly string[];
  /** Blocks that it would keep, as the restored log does not explain them. */
  kept_count?: number;
  problem?: string;
  disabled?: true;
}>;

type ListDifference = Readonly<{
  customer: string;
  region: string;
  list: string;
  prefixes: number;
  routers: readonly RouterDifference[];
}>;

const READ_MILLISECONDS = 30_000;

/** Shows what a commit would change on each router now, from the router's real content; nothing is changed by looking. */
export async function showDifference(
  application: Application,
  customer: string | undefined,
  region: string | undefined,
  options: DiffOptions,
  tools: CommandTools,
): Promise<void> {
  const many = options.due === true || options.all === true;
  if (many === (customer !== undefined)) throw usage('name a customer and a region, or give --due or --all.');
  const differences = many
    ? await everyDifference(application, options)
    : await oneDifference(application, customer ?? '', region, options.list ?? 'BLACKHOLE');
  const output = outputOf(options, tools);
  const [first] = differences;
  if (!many && first !== undefined) output.object(first, linesOf(first));
  else if (output.json) output.object({ ...sumOf(differences), lists: differences });
  else output.object({}, linesOfAll(differences));
  const unseen = new Set(
    differences.flatMap(({ routers }) =>
      routers.filter(({ problem }) => problem !== undefined).map(({ router }) => router),
    ),
  );
  if (unseen.size > 0)
    throw new CommandFailure(EXIT.failed, 'router-not-seen', `what is on ${[...unseen].join(', ')} could not be seen.`);
}

async function oneDifference(
  application: Application,
  customer: string,
  regionName: string | undefined,
  kind: ListKind,
): Promise<readonly ListDifference[]> {
  if (regionName === undefined) throw usage('name the region, too.');
  const state = await findCustomer(application, customer);
  const region = await findRegion(application, regionName);
  return differencesIn(application, region, [plannedOf(state, region.regionId, kind)]);
}

async function everyDifference(application: Application, options: DiffOptions): Promise<readonly ListDifference[]> {
  const { customers } = (await application.directory.state(DIRECTORY_ID)).state;
  const kinds = options.list === undefined ? listKind.options : [options.list];
  const differences: ListDifference[] = [];
  for (const region of await allRegions(application)) {
    const planned: Planned[] = [];
    for (const customerId of customers.keys()) {
      const { state } = await application.customers.state(customerId);
      if (state.phase === 'unregistered') continue;
      for (const kind of kinds)
        if (options.all === true || isDue(state, region.regionId, kind))
          planned.push(plannedOf(state, region.regionId, kind));
    }
    if (planned.length > 0) differences.push(...(await differencesIn(application, region, planned)));
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
  application: Application,
  region: CreatedRegion,
  planned: readonly Planned[],
): Promise<readonly ListDifference[]> {
  const routers = [...region.routers.values()];
  const keepings = await Promise.all(planned.map(({ of }) => keepingOf(of, application)));
  const found = await Promise.all(routers.map((router) => differencesOn(application, router, planned, keepings)));
  return planned.map(({ customer, list, prefixes }, at) => ({
    customer,
    region: region.name,
    list,
    prefixes: prefixes.length,
    routers: found.flatMap((differences) => differences[at] ?? []),
  }));
}

async function differencesOn(
  application: Application,
  { router, driver: kind, options, phase }: RegionRouter,
  planned: readonly Planned[],
  keepings: readonly (Keeping | undefined)[],
): Promise<readonly RouterDifference[]> {
  const nothing = { router, added_count: 0, removed_count: 0, added: [], removed: [] };
  if (phase === 'disabled') return planned.map(() => ({ ...nothing, disabled: true }));
  let driver: RouterDriver;
  try {
    driver = application.openRouter({ name: router, driver: kind, options });
  } catch (error) {
    return planned.map(() => ({ ...nothing, problem: problemOf(error) }));
  }
  const differences: RouterDifference[] = [];
  try {
    for (const [at, { list, prefixes }] of planned.entries()) {
      try {
        const held = await driver.read(list, AbortSignal.timeout(READ_MILLISECONDS));
        differences.push(differenceOn(router, held, prefixes, keepings[at]));
      } catch (error) {
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
  const kept = wanted.kept.length === 0 ? {} : { kept_count: wanted.kept.length };
  return { ...differenceOf(router, entries, wanted.prefixes), ...kept };
}

function differenceOf(router: string, held: readonly string[], wanted: readonly string[]): RouterDifference {
  const [has, wants] = [new Set(held), new Set(wanted)];
  const added = wanted.filter((prefix) => !has.has(prefix));
  const removed = held.filter((prefix) => !wants.has(prefix));
  return { router, added_count: added.length, removed_count: removed.length, added, removed };
}

function problemOf(error: unknown): string {
  if (error instanceof RouterFailure) return `${error.code}: ${error.message}`;
  throw error;
}

function linesOf({ region, list, prefixes, routers }: ListDifference): readonly string[] {
  return [
    `${list} in ${region}: ${prefixes} blocks`,
    ...routers.flatMap((difference) => [
      `${difference.router}: ${summaryOf(difference)}`,
      ...difference.added.map((prefix) => `  + ${prefix}`),
      ...difference.removed.map((prefix) => `  - ${prefix}`),
    ]),
  ];
}

function summaryOf(difference: RouterDifference): string {
  if (difference.problem !== undefined) return difference.problem;
  if (difference.disabled === true) return 'disabled: commits pass it over';
  const kept =
    difference.kept_count === undefined ? '' : `, ${difference.kept_count} kept that the log does not explain`;
  return `${difference.added_count} added, ${difference.removed_count} removed${kept}`;
}

function linesOfAll(differences: readonly ListDifference[]): readonly string[] {
  const { lists_count: lists, added_count: added, removed_count: removed } = sumOf(differences);
  return [...differences.flatMap(linesOf), `${counted(lists, 'list')}: ${added} added, ${removed} removed in all`];
}

function sumOf(differences: readonly ListDifference[]) {
  const routers = differences.flatMap((difference) => difference.routers);
  return {
    lists_count: differences.length,
    added_count: routers.reduce((sum, router) => sum + router.added_count, 0),
    removed_count: routers.reduce((sum, router) => sum + router.removed_count, 0),
  };
}
