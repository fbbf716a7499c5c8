import { type Command, Option } from 'commander';
import { regionAddresses } from '../events/ip-control/address-ledger.ts';
import { regionWhitelist } from '../events/ip-control/source-whitelist-ledger.ts';
import { type ListKind, listKind, prefixListName } from '../events/ip-control/vocabulary.ts';
import type { Registered } from '../commands/ip-control/customer-state.ts';
import { coverTexts } from '../kernel/addresses/cover.ts';
import { RouterFailure } from '../ports/routers.ts';
import { type CommandTools, leaf, outputOf } from './command.ts';
import type { House } from './house.ts';
import { findCustomer, findRegion } from './lookup.ts';
import { CommandFailure, EXIT } from './output.ts';

const READ_MILLISECONDS = 30_000;

/** `commit list | diff | run`. */
export function addCommitCommands(program: Command, tools: CommandTools): void {
  const commit = program.command('commit').description('deployments of lists to routers');
  leaf(commit, 'list', 'list commit sets, newest first')
    .option('--customer <customer>', 'only those of one customer')
    .addOption(listOption('only those of one list'))
    .action((options: { customer?: string; list?: ListKind; json?: boolean }) =>
      tools.withHouse((house) => listCommits(house, options, tools)),
    );
  leaf(commit, 'diff <customer> <region>', 'what a commit would change on each router now; changes nothing')
    .addOption(listOption('which list').default('BLACKHOLE'))
    .action((customer: string, region: string, options: OneListOptions) =>
      tools.withHouse((house) => showDifference(house, customer, region, options, tools)),
    );
  leaf(commit, 'run <customer> <region>', 'deploy what is pending now, without waiting for the quiet period')
    .addOption(listOption('which list').default('BLACKHOLE'))
    .action((customer: string, region: string, options: OneListOptions) =>
      tools.withHouse(async (house) => {
        const { customerId, name } = await findCustomer(house, customer);
        const { regionId, name: regionName } = await findRegion(house, region);
        const status = await house.commitNow(customerId, regionId, options.list);
        outputOf(options, tools).object({ customer: name, region: regionName, list: options.list, status }, [
          `${options.list} of ${name} in ${regionName}: ${status}`,
        ]);
        if (status !== 'success') throw new CommandFailure(EXIT.failed, `commit-${status}`, `the commit is ${status}.`);
      }),
    );
}

type OneListOptions = Readonly<{ list: ListKind; json?: boolean }>;

function listOption(description: string): Option {
  return new Option('--list <list>', description).choices(listKind.options);
}

async function listCommits(
  house: House,
  options: { customer?: string; list?: ListKind; json?: boolean },
  tools: CommandTools,
): Promise<void> {
  await house.catchUp();
  const only = options.customer === undefined ? undefined : (await findCustomer(house, options.customer)).customerId;
  const commits = (await house.views.commits.list())
    .map(({ view }) => view)
    .filter(({ customerId }) => only === undefined || customerId === only)
    .filter(({ list }) => options.list === undefined || list === options.list);
  commits.sort((a, b) => (a.requestedAt < b.requestedAt ? 1 : -1));
  const rows = await Promise.all(
    commits.map(async (commit) => ({
      id: commit.commitSetId,
      customer: (await house.views.customers.get(String(commit.customerId)))?.name ?? commit.customerId,
      region: (await house.views.regions.get(String(commit.regionId)))?.name ?? commit.regionId,
      list: commit.list,
      status: commit.status,
      attempt: commit.attempt,
      prefixes: commit.content?.prefixes ?? null,
      requested_at: commit.requestedAt,
      completed_at: commit.completedAt,
      outcomes: commit.outcomes,
    })),
  );
  outputOf(options, tools).table(
    ['id', 'customer', 'region', 'list', 'status', 'attempt', 'prefixes', 'requested_at', 'completed_at'],
    rows,
  );
}

async function showDifference(
  house: House,
  customer: string,
  region: string,
  options: OneListOptions,
  tools: CommandTools,
): Promise<void> {
  const state = await findCustomer(house, customer);
  const { name } = state;
  const { regionId, name: regionName, routers } = await findRegion(house, region);
  const list = prefixListName(state.listName, options.list);
  const wanted = wantedPrefixes(state, regionId, options.list);
  const differences = await Promise.all(
    [...routers.values()].map(async ({ router, driver, options: own }) => {
      const held = await readList(house, { name: router, driver, options: own }, list);
      if ('problem' in held) return { router, problem: held.problem, added: [], removed: [] };
      const has = new Set(held.prefixes);
      const wants = new Set(wanted);
      return {
        router,
        added: wanted.filter((prefix) => !has.has(prefix)),
        removed: held.prefixes.filter((prefix) => !wants.has(prefix)),
      };
    }),
  );
  const lines = differences.flatMap(({ router, added, removed, problem }) => [
    problem === undefined ? `${router}: ${added.length} added, ${removed.length} removed` : `${router}: ${problem}`,
    ...added.map((prefix) => `  + ${prefix}`),
    ...removed.map((prefix) => `  - ${prefix}`),
  ]);
  outputOf(options, tools).object(
    { customer: name, region: regionName, list, prefixes: wanted.length, routers: differences },
    [`${list} in ${regionName}: ${wanted.length} blocks`, ...lines],
  );
}

/** What a commit would put on routers now. */
function wantedPrefixes({ ledger, whitelist }: Registered, regionId: number, list: ListKind): readonly string[] {
  switch (list) {
    case 'BLACKHOLE':
      return coverTexts(regionAddresses(ledger, regionId).disabled);
    case 'SRC_WHITELIST':
      return coverTexts(regionWhitelist(whitelist, regionId).live);
  }
}

async function readList(
  house: House,
  router: Readonly<{ name: string; driver: string; options: Readonly<Record<string, string>> }>,
  list: string,
): Promise<Readonly<{ prefixes: readonly string[] }> | Readonly<{ problem: string }>> {
  const driver = house.openRouter(router);
  try {
    const held = await driver.read(list, AbortSignal.timeout(READ_MILLISECONDS));
    return { prefixes: held === 'absent' ? [] : held };
  } catch (error) {
    if (error instanceof RouterFailure) return { problem: `${error.code}: ${error.message}` };
    throw error;
  } finally {
    await driver.close();
  }
}
