import type { Command } from 'commander';
import { scale } from '../../application/worker-pools/apply-scaling.ts';
import { launchWorkers, terminateWorker } from '../../application/worker-pools/workers.ts';
import { checkQueue } from '../../domain/worker-pools/documents.ts';
import type { ScalingDecision } from '../../domain/worker-pools/scaling/decision.ts';
import { act, type ActOptions, type CommandTools, outputOf } from '../command.ts';
import { accepted, operatorContext } from '../output.ts';
import { readDocument } from './documents.ts';
import { wholeNumber } from './options.ts';
import { shownTermination, taken } from './print.ts';

const LAUNCHES_MAX = 1_000;
const BOOT_SECONDS = 120;
const BOOT_TIMEOUT_SECONDS = 1_800;

type ScaleOptions = Readonly<{
  queue: string;
  bootSeconds: number;
  bootTimeoutSeconds: number;
  dryRun?: boolean;
}> &
  ActOptions;

/** `worker_pool launch | terminate | scale`: instances by hand, and by what a queue needs. */
export function addInstanceCommands(group: Command, tools: CommandTools): void {
  act(group, 'launch', 'launch instances; a running server creates them')
    .argument('<pool>')
    .argument('<count>', 'how many', wholeNumber(1, LAUNCHES_MAX))
    .action((pool: string, count: number, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const { workers, notes } = accepted(
          await launchWorkers(pool, count, operatorContext(application.ids, options), application),
        );
        const said = workers.map((worker) => `worker ${worker} is being launched`);
        const shown = [...said, ...notes.map((note) => `note: ${note}`)];
        outputOf(options, tools).object({ pool, workers, notes }, shown);
      }),
    );
  act(group, 'terminate <worker>', 'end a worker’s instance; a running task is waited for')
    .option('--force', 'at once, whatever it runs')
    .action((worker: string, options: ActOptions & Readonly<{ force?: boolean }>) =>
      tools.withApplication(async (application) => {
        const how = { forced: options.force === true };
        const { changed, waitsForTask } = accepted(
          await terminateWorker(worker, how, operatorContext(application.ids, options), application),
        );
        const when = waitsForTask === null ? 'now' : `when task ${waitsForTask} has ended`;
        outputOf(options, tools).object({ worker, changed, waits_for_task: waitsForTask }, [
          `worker ${worker} ends ${when}`,
        ]);
      }),
    );
  addScaleCommand(group, tools);
}

function addScaleCommand(group: Command, tools: CommandTools): void {
  act(group, 'scale', 'decide from a queue what to launch and to end, print why, and do it')
    .requiredOption(
      '--queue <file>',
      'pending tasks: a list of {scope, architecture, count, expected_seconds}, YAML or JSON',
    )
    .option('--boot-seconds <n>', 'expected from creation to the first task', wholeNumber(0, 86_400), BOOT_SECONDS)
    .option(
      '--boot-timeout-seconds <n>',
      'an instance not ready after this is given up',
      wholeNumber(1, 86_400),
      BOOT_TIMEOUT_SECONDS,
    )
    .option('--dry-run', 'print the decision, and carry out nothing')
    .action(async (options: ScaleOptions) => {
      const queue = taken(checkQueue(await readDocument('--queue', options.queue)));
      const { bootSeconds, bootTimeoutSeconds } = options;
      const how = { dryRun: options.dryRun === true, bootSeconds, bootTimeoutSeconds };
      await tools.withApplication(async (application) => {
        const { decision, applied } = await scale(queue, how, operatorContext(application.ids, options), application);
        const { launches, refusals } = decision;
        const terminations = decision.terminations.map(shownTermination);
        outputOf(options, tools).object(
          { dry_run: how.dryRun, launches, terminations, refusals, ...applied },
          lines(decision),
        );
      });
    });
}

function lines({ launches, terminations, refusals }: ScalingDecision): readonly string[] {
  const all = [
    ...launches.map(({ pool, count, because }) => `launch ${count} in ${pool}: ${because}`),
    ...terminations.map(
      ({ worker, afterTask, because }) => `end ${worker}${afterTask ? ' after its task' : ''}: ${because}`,
    ),
    ...refusals.map(
      ({ scope, architecture, unmet, because }) => `not ${unmet} more for ${scope} (${architecture}): ${because}`,
    ),
  ];
  return all.length === 0 ? ['nothing to do'] : all;
}
