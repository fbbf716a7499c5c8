import type { Command } from 'commander';
import { carryOutScaling } from '../../commands/worker-pools/carry-out-scaling.ts';
import { decideScaling, type ScalingDecision } from '../../domain/worker-pools/scaling/decision.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, operatorContext } from '../output.ts';
import { wholeNumber } from './options.ts';
import { shownTermination } from './print.ts';
import { readQueue, scalingSnapshot } from './snapshot.ts';

const LAUNCHES_MAX = 1_000;
const BOOT_SECONDS = 120;
const BOOT_TIMEOUT_SECONDS = 1_800;

type ScaleOptions = Readonly<{
  queue: string;
  bootSeconds: number;
  bootTimeoutSeconds: number;
  dryRun?: boolean;
  json?: boolean;
}>;

/** `worker_pool launch | terminate | scale`: instances by hand, and by what a queue needs. */
export function addInstanceCommands(group: Command, tools: CommandTools): void {
  leaf(group, 'launch', 'launch instances; a running server creates them')
    .argument('<pool>')
    .argument('<count>', 'how many', wholeNumber(1, LAUNCHES_MAX))
    .action((pool: string, count: number, options: { json?: boolean }) =>
      tools.withApplication(async (application) => {
        const runs = Array.from({ length: count }, () => application.ids.uuid());
        const data = { runs, because: 'an administrator asked for it', at: application.clock.nowText(), partly: false };
        const context = operatorContext(application.ids);
        const answer = accepted(
          await application.workerPools.handle(pool, { type: 'ReserveInstances', data }, context),
        );
        const workers = answer.events.flatMap((event) =>
          event.type === 'InstanceReserved' ? [event.data.worker] : [],
        );
        const said = workers.map((worker) => `worker ${worker} is being launched`);
        outputOf(options, tools).object({ pool, workers }, said);
      }),
    );
  leaf(group, 'terminate <worker>', 'end a worker’s instance; a running task is waited for')
    .option('--force', 'at once, whatever it runs')
    .action((worker: string, options: { force?: boolean; json?: boolean }) =>
      tools.withApplication(async (application) => {
        const forced = options.force === true;
        const data = {
          code: 'asked',
          because: 'an administrator asked for it',
          forced,
          at: application.clock.nowText(),
        };
        const context = operatorContext(application.ids);
        const { state, events } = accepted(
          await application.workers.handle(worker, { type: 'RequestTermination', data }, context),
        );
        const waits = state.task !== undefined && state.instance?.termination?.forced !== true;
        const when = waits ? `when task ${state.task?.task ?? ''} has ended` : 'now';
        outputOf(options, tools).object(
          { worker, changed: events.length > 0, waits_for_task: waits ? (state.task?.task ?? null) : null },
          [`worker ${worker} ends ${when}`],
        );
      }),
    );
  addScaleCommand(group, tools);
}

function addScaleCommand(group: Command, tools: CommandTools): void {
  leaf(group, 'scale', 'decide from a queue what to launch and to end, print why, and do it')
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
      const queue = await readQueue(options.queue);
      await tools.withApplication(async (application) => {
        await application.catchUp();
        const snapshot = await scalingSnapshot(application, queue, options);
        const decision = decideScaling(snapshot);
        const pools = snapshot.pools.map(({ name }) => name);
        const context = operatorContext(application.ids);
        const done =
          options.dryRun === true
            ? { reserved: [], ending: [] }
            : await carryOutScaling(decision, pools, application.clock.nowText(), context, application);
        const { launches, refusals } = decision;
        const terminations = decision.terminations.map(shownTermination);
        outputOf(options, tools).object(
          { dry_run: options.dryRun === true, launches, terminations, refusals, ...done },
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
