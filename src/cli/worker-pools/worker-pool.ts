import { Argument, type Command } from 'commander';
import { assetFacts } from '../../commands/worker-pools/asset-facts.ts';
import { deleteWorkerPool } from '../../commands/worker-pools/delete-worker-pool.ts';
import { differences } from '../../commands/worker-pools/difference.ts';
import { poolNotes } from '../../commands/worker-pools/pool-notes.ts';
import type { PoolState } from '../../commands/worker-pools/pool-state.ts';
import { type WorkerPoolCommand, workerPoolDecider } from '../../commands/worker-pools/worker-pool.ts';
import { jsonSchema, SCHEMA_NAMES, type SchemaName } from '../../domain/worker-pools/json-schemas.ts';
import type { PoolChanges } from '../../events/worker-pools/pool-record.ts';
import type { WorkerPoolEvent } from '../../events/worker-pools/worker-pool.ts';
import { monthOf } from '../../domain/worker-pools/months.ts';
import { poolMonthMilliseconds } from '../../projections/worker-pools/pool-usage-view.ts';
import type { WorkerPoolView } from '../../projections/worker-pools/worker-pool-view.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import type { Application } from '../../application/application.ts';
import { accepted, CommandFailure, EXIT, notFound, operatorContext } from '../output.ts';
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
    .addArgument(new Argument('<name>').choices([...SCHEMA_NAMES]))
    .option('--json', 'print JSON for machines')
    .action((name: SchemaName) => tools.write(`${JSON.stringify(jsonSchema(name), undefined, 2)}\n`));
}

function addEnsuring(group: Command, tools: CommandTools): void {
  poolOptions(
    leaf(group, 'create <name>', 'ensure that a pool exists with what is given; what is not named stays as it is'),
  ).action(async (name: string, options: PoolOptions) => {
    const pool = poolNameOf(name);
    const given = await poolChanges(options);
    await tools.withApplication((application) => change(application, pool, 'EnsureWorkerPool', given, options, tools));
  });
  poolOptions(leaf(group, 'edit <name>', 'change a pool; only what is named changes')).action(
    async (name: string, options: PoolOptions) => {
      const given = await poolChanges(options);
      await tools.withApplication((application) => change(application, name, 'EditWorkerPool', given, options, tools));
    },
  );
  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    leaf(group, `${verb} <name>`, `${verb} the creation of instances in a pool`).action(
      (name: string, options: PoolOptions) =>
        tools.withApplication((application) =>
          change(application, name, 'EditWorkerPool', { enabled }, options, tools),
        ),
    );
  }
}

/** Decides on what the pool is now, shows the difference and, but for a dry run, makes it so. */
async function change(
  application: Application,
  pool: string,
  type: 'EnsureWorkerPool' | 'EditWorkerPool',
  given: PoolChanges,
  options: PoolOptions,
  tools: CommandTools,
): Promise<void> {
  const before = (await application.workerPools.state(pool)).state;
  if (type === 'EditWorkerPool' && before.record === undefined)
    throw new CommandFailure(EXIT.notFound, 'worker-pool-not-found', `worker pool ${pool} not found.`);
  const assets = await assetFacts(application.assets, before.record, given);
  const command: WorkerPoolCommand =
    type === 'EnsureWorkerPool' ? { type, data: { pool, given, assets } } : { type, data: { changes: given, assets } };
  const dryRun = options.dryRun === true;
  const after = dryRun
    ? foreseen(command, before)
    : accepted(await application.workerPools.handle(pool, command, operatorContext(application.ids))).state;
  printEnsured(outputOf(options, tools), {
    what: `worker pool ${pool}`,
    name: pool,
    created: before.record === undefined,
    differences: differences(before.record ?? {}, after.record ?? {}),
    notes: poolNotes(after, await usedSeconds(application, pool)),
    dryRun,
  });
}

function foreseen(command: WorkerPoolCommand, before: PoolState): PoolState {
  const events = accepted<readonly WorkerPoolEvent[]>(workerPoolDecider.decide(command, before));
  return events.reduce<PoolState>((state, event) => workerPoolDecider.evolve(state, event), before);
}

async function usedSeconds(application: Application, pool: string): Promise<number> {
  await application.catchUp();
  const now = application.clock.now().epochMilliseconds;
  return poolMonthMilliseconds(await application.views.poolUsage.get(pool), monthOf(now), now) / 1000;
}

function addReading(group: Command, tools: CommandTools): void {
  leaf(group, 'list', 'list pools').action((options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      await application.catchUp();
      const rows = (await application.views.workerPools.list()).map(({ view: { record, active, scopes } }) => ({
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
        rows,
      );
    }),
  );
  leaf(group, 'show <name>', 'show a pool, as YAML').action((name: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      await application.catchUp();
      const view = await application.views.workerPools.get(name);
      if (view === undefined) throw notFound(`worker pool ${name} not found.`);
      const { record, dynamicMetadata, scopes, active, decision, createdAt } = view;
      const { name: poolName, provider_account, enabled, architectures, static_metadata, ...rest } = record;
      const shown = {
        name: poolName,
        provider_account,
        enabled,
        architectures,
        static_metadata,
        dynamic_metadata: dynamicMetadata,
        ...rest,
        scopes,
        active_workers: active.map(({ worker }) => worker),
        created_at: createdAt,
        last_scaling_decision: decision === null ? null : shownDecision(decision),
      };
      outputOf(options, tools).object(shown, yamlLines(shown));
    }),
  );
}

function shownDecision({ decidedAt, launches, terminations, refusals }: NonNullable<WorkerPoolView['decision']>) {
  return { decided_at: decidedAt, launches, terminations: terminations.map(shownTermination), refusals };
}

function addDeleting(group: Command, tools: CommandTools): void {
  leaf(group, 'delete <name>', 'delete a pool; refused while its workers run')
    .option('--force', 'end what runs, at once')
    .action((name: string, options: { force?: boolean; json?: boolean }) =>
      tools.withApplication(async (application) => {
        const how = { force: options.force === true, at: application.clock.nowText() };
        const { scopes, ending } = accepted(
          await deleteWorkerPool(name, how, operatorContext(application.ids), application),
        );
        outputOf(options, tools).object({ name, deleted: true, scopes, ending }, [
          `worker pool ${name} deleted`,
          ...scopes.map((scope) => `taken from scope ${scope}`),
          ...ending.map((worker) => `worker ${worker} is being ended`),
        ]);
      }),
    );
}
