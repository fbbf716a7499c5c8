import type { Command } from 'commander';
import { epochMilliseconds } from '../../domain/instants.ts';
import type { WorkerView } from '../../projections/worker-pools/worker-view.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { notFound } from '../output.ts';
import { yamlLines } from './print.ts';

/** `worker list | show`. */
export function addWorkerCommands(program: Command, tools: CommandTools): void {
  const group = program.command('worker').description('workers and their instances');
  leaf(group, 'list', 'list workers')
    .option('--pool <name>', 'of one pool')
    .action((options: { pool?: string; json?: boolean }) =>
      tools.withApplication(async (application) => {
        await application.catchUp();
        const now = application.clock.now().epochMilliseconds;
        const rows = (await application.views.workers.list())
          .filter(({ view }) => options.pool === undefined || view.pool === options.pool)
          .map(({ view }) => ({
            name: view.worker,
            pool: view.pool,
            state: stateOf(view),
            architectures: options.json === true ? view.architectures : view.architectures.join(','),
            instance_created_at: view.instanceCreatedAt,
            runtime_seconds: runtimeSeconds(view, now),
            task: view.task?.task ?? null,
            scope: view.task?.scope ?? null,
          }));
        outputOf(options, tools).table(
          ['name', 'pool', 'state', 'architectures', 'instance_created_at', 'runtime_seconds', 'task', 'scope'],
          rows,
        );
      }),
    );
  leaf(group, 'show <name>', 'show a worker, as YAML').action((name: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      await application.catchUp();
      const view = await application.views.workers.get(name);
      if (view === undefined) throw notFound(`worker ${name} not found.`);
      const { worker, pool, architectures, registeredAt, instanceCreatedAt, workerPoolData, task, ending, failure } =
        view;
      const shown = {
        name: worker,
        pool,
        state: stateOf(view),
        architectures,
        registered_at: registeredAt,
        instance_created_at: instanceCreatedAt,
        runtime_seconds: runtimeSeconds(view, application.clock.now().epochMilliseconds),
        worker_pool_data: workerPoolData,
        task:
          task === null
            ? null
            : {
                name: task.task,
                scope: task.scope,
                started_at: task.startedAt,
                expected_seconds: task.expectedSeconds,
              },
        ending: ending?.because ?? null,
        last_failure: failure,
      };
      outputOf(options, tools).object(shown, yamlLines(shown));
    }),
  );
}

function stateOf({ phase, task, ending }: WorkerView): string {
  if (task !== null) return ending === null ? 'busy' : 'busy, then ends';
  if (ending !== null) return 'ending';
  return phase === 'ready' ? 'idle' : phase;
}

function runtimeSeconds({ instanceCreatedAt }: WorkerView, now: number): number | null {
  if (instanceCreatedAt === null) return null;
  return Math.max(0, Math.floor((now - epochMilliseconds(instanceCreatedAt)) / 1000));
}
