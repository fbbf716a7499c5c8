import type { Command } from 'commander';
import { listWorkers, showWorker } from '../../application/worker-pools/workers.ts';
import type { WorkerView } from '../../projections/worker-pools/worker-view.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted } from '../output.ts';
import { yamlLines } from './print.ts';

/** `worker list | show`. */
export function addWorkerCommands(program: Command, tools: CommandTools): void {
  const group = program.command('worker').description('workers and their instances');
  leaf(group, 'list', 'list workers')
    .option('--pool <name>', 'of one pool')
    .action((options: { pool?: string; json?: boolean }) =>
      tools.withApplication(async (application) => {
        const rows = (await listWorkers({ pool: options.pool }, application)).map(({ view, runtimeSeconds }) => ({
          name: view.worker,
          pool: view.pool,
          state: stateOf(view),
          architectures: options.json === true ? view.architectures : view.architectures.join(','),
          instance_created_at: view.instanceCreatedAt,
          runtime_seconds: runtimeSeconds,
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
      const { view, runtimeSeconds } = accepted(await showWorker(name, application));
      const { worker, pool, architectures, registeredAt, instanceCreatedAt, workerPoolData, task, ending, failure } =
        view;
      const shown = {
        name: worker,
        pool,
        state: stateOf(view),
        architectures,
        registered_at: registeredAt,
        instance_created_at: instanceCreatedAt,
        runtime_seconds: runtimeSeconds,
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
