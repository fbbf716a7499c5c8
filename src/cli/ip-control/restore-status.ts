import type { DirectoryState } from '../../commands/ip-control/directory.ts';
import { keepingOf, unexplained } from '../../commands/ip-control/kept-lists.ts';
import type { RegionRouter } from '../../commands/ip-control/region-state.ts';
import { type ListKind, listKind, prefixListName } from '../../events/ip-control/vocabulary.ts';
import { type RouterDriver, RouterFailure } from '../../ports/routers.ts';
import type { Application } from '../../application/application.ts';

/** A list on a router with what the log does not explain of it: canonical blocks, and entries of others as they are. */
export type ListBeyondLog = Readonly<{ list: string; customer: string | null; prefixes: readonly string[] }>;

/** `problem`: why it could not be seen, or not all of it. */
export type RouterBeyondLog = Readonly<{
  router: string;
  lists: readonly ListBeyondLog[];
  disabled?: true;
  problem?: string;
}>;

export type RegionBeyondLog = Readonly<{ region: string; restored: boolean; routers: readonly RouterBeyondLog[] }>;

type Owner = Readonly<{ customerId: number; name: string; kind: ListKind }>;

const CALL_MILLISECONDS = 30_000;

/** Asks all routers of a restored region at the same time what they hold, and tells what the log does not explain. */
export async function regionBeyondLog(
  application: Application,
  { customers }: DirectoryState,
  regionId: number,
  region: string,
): Promise<RegionBeyondLog> {
  const owners = new Map(
    [...customers].flatMap(([customerId, { name, listName }]) =>
      listKind.options.map((kind): [string, Owner] => [prefixListName(listName, kind), { customerId, name, kind }]),
    ),
  );
  const { state } = await application.regions.state(regionId);
  const routers = state.phase === 'absent' ? [] : [...state.routers.values()];
  const seen = await Promise.all(routers.map((router) => routerBeyondLog(application, regionId, router, owners)));
  return { region, restored: true, routers: seen };
}

async function routerBeyondLog(
  application: Application,
  regionId: number,
  { router, driver: kind, options, phase }: RegionRouter,
  owners: ReadonlyMap<string, Owner>,
): Promise<RouterBeyondLog> {
  if (phase === 'disabled') return { router, lists: [], disabled: true };
  const lists: ListBeyondLog[] = [];
  const problems: string[] = [];
  try {
    const driver = application.openRouter({ name: router, driver: kind, options });
    try {
      for (const list of await driver.lists(AbortSignal.timeout(CALL_MILLISECONDS))) {
        const beyond = await listBeyondLog(application, regionId, list, owners.get(list), driver).catch(
          (error: unknown) => {
            problems.push(`${list}: ${problemOf(error)}`);
          },
        );
        if (beyond !== undefined && beyond.prefixes.length > 0) lists.push(beyond);
      }
    } finally {
      await driver.close();
    }
  } catch (error) {
    problems.push(problemOf(error));
  }
  return { router, lists, ...(problems.length === 0 ? {} : { problem: problems.join('; ') }) };
}

/** All of a list that belongs to no customer is beyond what the log knows. */
async function listBeyondLog(
  application: Application,
  regionId: number,
  list: string,
  owner: Owner | undefined,
  driver: RouterDriver,
): Promise<ListBeyondLog | undefined> {
  const held = await driver.read(list, AbortSignal.timeout(CALL_MILLISECONDS));
  if (owner === undefined) return { list, customer: null, prefixes: held === 'absent' ? [] : held };
  const keeping = await keepingOf({ customerId: owner.customerId, regionId, list: owner.kind }, application);
  // It has been accepted meanwhile.
  if (keeping === undefined) return undefined;
  return { list, customer: owner.name, prefixes: unexplained(held, keeping) };
}

function problemOf(error: unknown): string {
  if (error instanceof RouterFailure) return `${error.code}: ${error.message}`;
  throw error;
}
