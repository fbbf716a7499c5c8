import type { Command } from 'commander';
import {
  addScopeWorkerPool,
  createScope,
  deleteScope,
  editScopeWorkerPool,
  listScopes,
  type MembershipChanged,
  removeScopeWorkerPool,
  showScope,
} from '../../application/worker-pools/scopes.ts';
import {
  act,
  type ActOptions,
  type CommandTools,
  leaf,
  listing,
  type ListOptions,
  narrowed,
  outputOf,
} from '../command.ts';
import { accepted, operatorContext } from '../output.ts';
import { scopeLimitsOf, scopeNameOf, wholeNumber } from './options.ts';
import { yamlLines } from './print.ts';

type MembershipOptions = ActOptions & Readonly<{ priority?: number; limits?: string }>;

const PRIORITY_MAX = 1_000_000;

/** `scope create | list | show | delete | add_worker_pool | edit_worker_pool | remove_worker_pool`. */
export function addScopeCommands(program: Command, tools: CommandTools): void {
  const group = program.command('scope').description('whose work it is, and which worker pools it may use');
  act(group, 'create <name>', 'ensure that a scope exists').action((name: string, options: ActOptions) =>
    tools.withApplication(async (application) => {
      const scope = scopeNameOf(name);
      const { created } = accepted(await createScope(scope, operatorContext(application.ids, options), application));
      outputOf(options, tools).object({ name: scope, created, changed: created }, [
        `scope ${scope} ${created ? 'created' : 'unchanged'}`,
      ]);
    }),
  );
  listing(group, 'list', 'list scopes', { since: 'those created' }).action((options: ListOptions) =>
    tools.withApplication(async (application) => {
      const scopes = await listScopes(application);
      const wanted = narrowed(scopes, options, { now: application.clock.now(), at: ({ createdAt }) => createdAt });
      const rows = wanted.map(({ scope, pools, createdAt }) => {
        const names = Object.keys(pools).toSorted();
        const joined = options.json === true ? names : names.join(',') || null;
        return { name: scope, worker_pools: joined, created_at: createdAt };
      });
      outputOf(options, tools).table(['name', 'worker_pools'], rows);
    }),
  );
  leaf(group, 'show <name>', 'show a scope, as YAML').action((name: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const view = accepted(await showScope(name, application));
      const pools = Object.entries(view.pools).toSorted(([, a], [, b]) => b.priority - a.priority);
      const shown = {
        name: view.scope,
        worker_pools: pools.map(([pool, { priority, limits }]) => ({ name: pool, priority, limits })),
        created_at: view.createdAt,
        refused: view.refused,
      };
      outputOf(options, tools).object(shown, yamlLines(shown));
    }),
  );
  act(group, 'delete <name>', 'delete a scope that uses no pool and has no work').action(
    (name: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        accepted(await deleteScope(name, operatorContext(application.ids, options), application));
        outputOf(options, tools).object({ name, deleted: true }, [`scope ${name} deleted`]);
      }),
  );
  addMembershipCommands(group, tools);
}

function addMembershipCommands(group: Command, tools: CommandTools): void {
  membershipOptions(
    act(group, 'add_worker_pool <scope> <pool>', 'let a scope use a pool; asked again, what is named is changed'),
  ).action(async (scope: string, pool: string, options: MembershipOptions) => {
    const terms = await termsOf(options);
    await tools.withApplication(async (application) => {
      const context = operatorContext(application.ids, options);
      const changed = accepted(await addScopeWorkerPool({ scope, pool }, terms, context, application));
      print(scope, pool, changed, options, tools);
    });
  });
  membershipOptions(
    act(group, 'edit_worker_pool <scope> <pool>', 'change what a scope says about a pool; only what is named changes'),
  ).action(async (scope: string, pool: string, options: MembershipOptions) => {
    const terms = await termsOf(options);
    await tools.withApplication(async (application) => {
      const context = operatorContext(application.ids, options);
      const changed = accepted(await editScopeWorkerPool({ scope, pool }, terms, context, application));
      print(scope, pool, changed, options, tools);
    });
  });
  act(group, 'remove_worker_pool <scope> <pool>', 'take a pool from a scope').action(
    (scope: string, pool: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const { changed } = accepted(
          await removeScopeWorkerPool({ scope, pool }, operatorContext(application.ids, options), application),
        );
        outputOf(options, tools).object({ scope, worker_pool: pool, changed }, [
          changed ? `worker pool ${pool} removed from scope ${scope}` : `scope ${scope} has no worker pool ${pool}`,
        ]);
      }),
  );
}

function membershipOptions(command: Command): Command {
  return command
    .option('--priority <n>', 'pools with a higher priority are preferred', wholeNumber(-PRIORITY_MAX, PRIORITY_MAX))
    .option('--limits <file>', 'scope-level limits, YAML or JSON; - for standard input');
}

async function termsOf({ priority, limits: source }: MembershipOptions) {
  const limits = await scopeLimitsOf(source);
  return { ...(priority === undefined ? {} : { priority }), ...(limits === undefined ? {} : { limits }) };
}

function print(
  scope: string,
  pool: string,
  { changed, terms }: MembershipChanged,
  options: MembershipOptions,
  tools: CommandTools,
): void {
  const { priority = 0, limits = {} } = terms ?? {};
  outputOf(options, tools).object({ scope, worker_pool: pool, changed, priority, limits }, [
    `scope ${scope} uses worker pool ${pool} with priority ${priority}${changed ? '' : ' (unchanged)'}`,
  ]);
}
