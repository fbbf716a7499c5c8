import type { Command } from 'commander';
import { listWorkers, showWorker } from '../../application/worker-pools/workers.ts';
import { registerWorker } from '../../application/worker-pools/worker-sessions.ts';
import { checkWorker } from '../../domain/worker-pools/documents.ts';
import type { WorkerView } from '../../projections/worker-pools/worker-view.ts';
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
import { commandRunner, runAgent } from './agent.ts';
import { taken, yamlLines } from './print.ts';

/** `worker list | show | register | run`. */
export function addWorkerCommands(program: Command, tools: CommandTools): void {
  const group = program.command('worker').description('workers and their instances');
  listing(group, 'list', 'list workers', {
    states: ['stopped', 'launching', 'booting', 'idle', 'busy', 'ending'],
    since: 'those registered',
  })
    .option('--pool <name>', 'of one pool')
    .action((options: ListOptions & Readonly<{ pool?: string }>) =>
      tools.withApplication(async (application) => {
        const rows = (await listWorkers({ pool: options.pool }, application)).map(({ view, runtimeSeconds }) => ({
          name: view.worker,
          pool: view.pool,
          state: stateOf(view),
          architectures: options.json === true ? view.architectures : view.architectures.join(','),
          registered_at: view.registeredAt,
          instance_created_at: view.instanceCreatedAt,
          runtime_seconds: runtimeSeconds,
          task: view.task?.task ?? null,
          scope: view.task?.scope ?? null,
        }));
        outputOf(options, tools).table(
          ['name', 'pool', 'state', 'architectures', 'instance_created_at', 'runtime_seconds', 'task', 'scope'],
          narrowed(rows, options, {
            now: application.clock.now(),
            statusOf: ({ state }) => state.replace(/,.*/, ''),
            at: ({ registered_at: at }) => at,
          }),
        );
      }),
    );
  leaf(group, 'show <name>', 'show a worker, as YAML').action((name: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const { view, runtimeSeconds } = accepted(await showWorker(name, application));
      const { worker, pool, architectures, registeredAt, instanceCreatedAt, workerPoolData, task, ending, failure } =
        view;
      const { callFailed } = view;
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
        provider_call_failed: callFailed,
        silent_since: view.silentSince,
      };
      outputOf(options, tools).object(shown, yamlLines(shown));
    }),
  );
  addAgentCommands(group, tools);
}

function addAgentCommands(group: Command, tools: CommandTools): void {
  act(group, 'register <name>', 'make a worker without a pool known; prints its activation token, once')
    .requiredOption('--architectures <list>', 'what it runs, separated by commas: amd64,arm64')
    .action((name: string, options: ActOptions & Readonly<{ architectures: string }>) => {
      const given = options.architectures.split(',').map((architecture) => architecture.trim());
      const worker = taken(checkWorker({ name, architectures: given }));
      return tools.withApplication(async (application) => {
        const context = operatorContext(application.ids, options);
        const { token } = accepted(await registerWorker(worker.name, worker.architectures, context, application));
        outputOf(options, tools).object({ name, activation_token: token }, [
          `worker ${name} registered; its activation token, shown once:`,
          token,
        ]);
      });
    });
  group
    .command('run')
    .description('be a worker: take work, run a command for each, report how it ended')
    .requiredOption('--server <url>', 'where the service is: its PUBLIC_URL')
    .requiredOption('--token-file <file>', 'holds the activation token; the worker’s own token is kept beside it')
    .requiredOption('--exec <command>', 'run by the shell for each work request, its payload as JSON on standard input')
    .action(async ({ server, tokenFile, exec }: Readonly<{ server: string; tokenFile: string; exec: string }>) => {
      const stop = new AbortController();
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
      const agent = { server: server.replace(/\/+$/, ''), tokenFile, run: commandRunner(exec), stop: stop.signal };
      await runAgent({ ...agent, say: (line) => tools.write(`${line}\n`) });
    });
}

function stateOf({ phase, task, ending }: WorkerView): string {
  if (task !== null) return ending === null ? 'busy' : 'busy, then ends';
  if (ending !== null) return 'ending';
  return phase === 'ready' ? 'idle' : phase;
}
