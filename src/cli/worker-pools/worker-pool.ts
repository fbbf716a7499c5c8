import { Argument, type Command } from 'commander';
import type { Application } from '../../application/application.ts';
import {
  deletePool,
  editPool,
  ensurePool,
  limitsInForce,
  listPools,
  type PoolChanged,
  showPool,
} from '../../application/worker-pools/pools.ts';
import { jsonSchema, schemaNames } from '../../domain/worker-pools/json-schemas.ts';
import type { PoolChanges } from '../../events/worker-pools/pool-record.ts';
import type { Refusal } from '../../kernel/decider.ts';
import type { WorkerPoolView } from '../../projections/worker-pools/worker-pool-view.ts';
import {
  act,
  type ActOptions,
  type CommandTools,
  leaf,
  listing,
  narrowed,
  type ListOptions,
  outputOf,
} from '../command.ts';
import { accepted, operatorContext } from '../output.ts';
import { addInstanceCommands } from './instances.ts';
import { type PoolOptions, poolChanges, poolNameOf, poolOptions } from './options.ts';
import { printEnsured, shownTermination, yamlLines } from './print.ts';
import { addUsageCommand } from './usage.ts';

/** `worker_pool create | edit | list | show | enable | disable | delete | launch | terminate | scale | usage | schema`. */
export function addWorkerPoolCommands(program: Command, tools: CommandTools): void {
  const group = program.command('worker_pool').description('pools of cloud instances that come and go with demand');
  addEnsuring(group, tools);
  addReading(group, tools);
  addDeleting(group, tools);
  addInstanceCommands(group, tools);
  addUsageCommand(group, tools);
  group
    .command('schema')
    .description('print the JSON Schema of a document, for editors and other tools')
    .addArgument(new Argument('<name>').choices(schemaNames(tools.cloudDrivers)))
    .option('--json', 'print JSON for machines')
    .action((name: string) => tools.write(`${JSON.stringify(jsonSchema(name, tools.cloudDrivers), undefined, 2)}\n`));
}

function addEnsuring(group: Command, tools: CommandTools): void {
  poolOptions(
    act(group, 'create <name>', 'ensure that a pool exists with what is given; what is not named stays as it is'),
  ).action(async (name: string, options: PoolOptions) => {
    const pool = poolNameOf(name);
    const given = await poolChanges(options, tools.cloudDrivers);
    await tools.withApplication(async (application) =>
      print(pool, await ensurePool(pool, given, ...howOf(options, application)), options, tools),
    );
  });
  const edit = (pool: string, changes: PoolChanges, options: PoolOptions) =>
    tools.withApplication(async (application) =>
      print(pool, await editPool(pool, changes, ...howOf(options, application)), options, tools),
    );
  poolOptions(act(group, 'edit <name>', 'change a pool; only what is named changes')).action(
    async (name: string, options: PoolOptions) => edit(name, await poolChanges(options, tools.cloudDrivers), options),
  );
  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    act(group, `${verb} <name>`, `${verb} the creation of instances in a pool`).action(
      (name: string, options: PoolOptions) => edit(name, { enabled }, options),
    );
  }
}

function howOf(options: PoolOptions, application: Application) {
  return [{ dryRun: options.dryRun === true }, operatorContext(application.ids, options), application] as const;
}

function print(pool: string, answer: Refusal | PoolChanged, options: PoolOptions, tools: CommandTools): void {
  const what = `worker pool ${pool}`;
  const dryRun = options.dryRun === true;
  printEnsured(outputOf(options, tools), { what, name: pool, ...accepted(answer), dryRun });
}

function addReading(group: Command, tools: CommandTools): void {
  listing(group, 'list', 'list pools', { states: ['enabled', 'disabled'], since: 'those created' }).action(
    (options: ListOptions) =>
      tools.withApplication(async (application) => {
        const rows = (await listPools(application)).map(({ record, active, scopes, createdAt }) => ({
          name: record.name,
          provider_type: record.specifications.provider_type,
          provider_account: record.provider_account,
          enabled: record.enabled,
          architectures: options.json === true ? record.architectures : record.architectures.join(','),
          active: active.length,
          max_active_instances: record.limits.max_active_instances,
          instance_wide: record.instance_wide,
          ephemeral: record.ephemeral,
          scopes: options.json === true ? scopes : scopes.join(',') || null,
          created_at: createdAt,
        }));
        outputOf(options, tools).table(
          [
            'name',
            'provider_type',
            'provider_account',
            'enabled',
            'architectures',
            'active',
            'max_active_instances',
            'scopes',
          ],
          narrowed(rows, options, {
            now: application.clock.now(),
            statusOf: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
            at: ({ created_at: at }) => at,
          }),
        );
      }),
  );
  leaf(group, 'show <name>', 'show a pool, as YAML').action((name: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const view = accepted(await showPool(name, application));
      const { record, dynamicMetadata, scopes, active, decision, createdAt, failure } = view;
      const { name: poolName, provider_account, enabled, architectures, static_metadata, ...rest } = record;
      const shown = {
        name: poolName,
        provider_account,
        enabled,
        architectures,
        static_metadata,
        dynamic_metadata: dynamicMetadata,
        ...rest,
        limits: limitsInForce(record),
        scopes,
        active_workers: active.map(({ worker }) => worker),
        created_at: createdAt,
        last_scaling_decision: decision === null ? null : shownDecision(decision),
        last_failure: failure,
      };
      outputOf(options, tools).object(shown, yamlLines(shown));
    }),
  );
}

type Decision = NonNullable<WorkerPoolView['decision']>;

function shownDecision({ decidedAt, launches, terminations, refusals, nothing }: Decision) {
  const shown = { decided_at: decidedAt, launches, terminations: terminations.map(shownTermination), refusals };
  return nothing === undefined ? shown : { ...shown, nothing_done: nothing.because };
}

function addDeleting(group: Command, tools: CommandTools): void {
  act(group, 'delete <name>', 'delete a pool; refused while its workers run')
    .option('--force', 'end what runs, at once')
    .action((name: string, options: ActOptions & Readonly<{ force?: boolean }>) =>
      tools.withApplication(async (application) => {
        const how = { force: options.force === true };
        const { scopes, ending } = accepted(
          await deletePool(name, how, operatorContext(application.ids, options), application),
        );
        outputOf(options, tools).object({ name, deleted: true, scopes, ending }, [
          `worker pool ${name} deleted`,
          ...scopes.map((scope) => `taken from scope ${scope}`),
          ...ending.map((worker) => `worker ${worker} is being ended`),
        ]);
      }),
    );
}
