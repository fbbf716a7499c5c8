import type { Aggregate, CommandContext } from '../../commands/aggregate.ts';
import { DIRECTORY_ID, type DirectoryCommand, type DirectoryState } from '../../commands/ip-control/directory.ts';
import { keepingOf, unexplained } from '../../commands/ip-control/kept-lists.ts';
import type { RegionRouter } from '../../commands/ip-control/region-state.ts';
import { isRestored, type Restored } from '../../commands/ip-control/restore.ts';
import type { DirectoryEvent } from '../../events/ip-control/directory.ts';
import type { RestoreReason } from '../../events/ip-control/restore.ts';
import { listKind, type ListKind, prefixListName } from '../../events/ip-control/vocabulary.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import { streamName } from '../../kernel/stream-name.ts';
import { type EventStore, NO_STREAM } from '../../ports/event-store.ts';
import { type RouterDriver, RouterFailure } from '../../ports/routers.ts';
import type { Application } from '../application.ts';
import { findRegion, type RegionLookup } from './lookups.ts';

type StatusDependencies = Pick<Application, 'directory' | 'customers' | 'regions' | 'store' | 'openRouter'>;

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

/** Whether the log is one that was put back from an older copy; if so, since when, who has said it and why, and what routers hold beyond it. */
export type RestoreStatus =
  | Readonly<{ restored: false }>
  | Readonly<{
      restored: true;
      because: Restored['because'];
      since: string;
      by: string;
      regions: readonly RegionBeyondLog[];
    }>;

/** What was accepted, and where routers still keep what the log does not explain. */
export type RestoreAcceptance = Readonly<{
  /** Whether there was anything to accept. */
  isNew: boolean;
  restored: boolean;
  accepted: readonly string[];
  left: readonly string[];
}>;

type Owner = Readonly<{ customerId: number; name: string; kind: ListKind }>;

const CALL_MILLISECONDS = 30_000;

/** What routers hold and a restored log does not explain, region by region; changes nothing. */
export async function restoreStatus(dependencies: StatusDependencies): Promise<RestoreStatus> {
  const { state } = await dependencies.directory.state(DIRECTORY_ID);
  if (state.restored === undefined) return { restored: false };
  const { because } = state.restored;
  const { at, actor } = await beginning(state.restored, dependencies);
  const regions = await Promise.all(
    [...state.regions].map(async ([regionId, region]): Promise<RegionBeyondLog> =>
      isRestored(state, regionId)
        ? regionBeyondLog(dependencies, state, regionId, region)
        : { region, restored: false, routers: [] },
    ),
  );
  return { restored: true, because, since: at, by: actor, regions };
}

/** Has the routers of one region, or of all, hold what the log says again, and nothing else. */
export async function acceptRestore(
  region: string | undefined,
  context: CommandContext,
  lookup: RegionLookup,
): Promise<RestoreAcceptance | Refusal> {
  const only = region === undefined ? undefined : await findRegion(region, lookup);
  if (only !== undefined && isRefusal(only)) return only;
  const command = { type: 'AcceptRestore', data: { regionId: only?.regionId } } as const;
  const answer = await lookup.directory.handle(DIRECTORY_ID, command, context);
  if (isRefusal(answer)) return answer;
  const { events, state } = answer;
  const ids = events.flatMap((event) => (event.type === 'RestoreAccepted' ? event.data.regionIds : []));
  const accepted = ids.map((id) => state.regions.get(id) ?? String(id));
  const left = [...state.regions].filter(([id]) => isRestored(state, id)).map(([, name]) => name);
  return { isNew: events.length > 0, restored: state.restored !== undefined, accepted, left };
}

/** Who has recorded it, and when. */
async function beginning(
  { revision }: Restored,
  { store }: StatusDependencies,
): Promise<Readonly<{ at: string; actor: string }>> {
  for await (const [event] of store.read(streamName('directory', DIRECTORY_ID), revision - 1n))
    if (event !== undefined) return event.metadata;
  throw new Error(`the directory has no event at revision ${revision}`);
}

/** Asks all routers of a restored region at the same time what they hold, and tells what the log does not explain. */
async function regionBeyondLog(
  application: StatusDependencies,
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
  application: StatusDependencies,
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
  application: StatusDependencies,
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

/** Asked of the store at the same moment. */
const ASKED_AT_ONCE = 16;

/** Records that the log was put back from an older copy; `true` where that is news. Nothing may be pushed before it has resolved. */
export async function beginRestore(
  because: RestoreReason,
  context: CommandContext,
  {
    directory,
    store,
  }: Readonly<{
    directory: Aggregate<DirectoryCommand, DirectoryState, DirectoryEvent>;
    store: Pick<EventStore, 'revision'>;
  }>,
): Promise<boolean> {
  const known = [...(await directory.state(DIRECTORY_ID)).state.customers.keys()];
  const customers: { customerId: number; revision: number }[] = [];
  for (let at = 0; at < known.length; at += ASKED_AT_ONCE) {
    await Promise.all(
      known.slice(at, at + ASKED_AT_ONCE).map(async (customerId) => {
        const revision = await store.revision(streamName('customer', customerId));
        // A name that was reserved for a customer who was never registered has no stream.
        if (revision !== NO_STREAM) customers.push({ customerId, revision: Number(revision) });
      }),
    );
  }
  customers.sort((a, b) => a.customerId - b.customerId);
  const answer = await directory.handle(DIRECTORY_ID, { type: 'BeginRestore', data: { because, customers } }, context);
  if (isRefusal(answer)) throw new Error(`the restored log could not be recorded as such: ${answer.because}`);
  return answer.events.length > 0;
}
