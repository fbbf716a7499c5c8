import { type Command, Option } from 'commander';
import {
  COMMIT_STATES,
  type CommitFilter,
  listCommits,
  type ListedCommit,
  runCommit,
  type WaitingList,
} from '../../application/ip-control/commits.ts';
import { LIST_KINDS } from '../../domain/ip-control/waiting-changes.ts';
import type { ListKind, RouterOutcome } from '../../events/ip-control/vocabulary.ts';
import {
  act,
  type ActOptions,
  type CommandTools,
  leaf,
  listing,
  type ListOptions,
  outputOf,
  wideOption,
} from '../command.ts';
import { counted } from '../../domain/counted.ts';
import { accepted, CommandFailure, EXIT, operatorContext, sinceOf } from '../output.ts';
import { type DiffOptions, showDifference } from './commit-diff.ts';

type OwnListOptions = Omit<CommitFilter, 'since'> & ListOptions;
type RunOptions = ActOptions & Readonly<{ list: ListKind }>;

const COLUMNS = [
  'id',
  'customer',
  'region',
  'list',
  'status',
  'attempt',
  'prefixes',
  'requested_at',
  'completed_at',
  'waiting_seconds',
  'problems',
];

/** `commit list | diff | run`. */
export function addCommitCommands(program: Command, tools: CommandTools): void {
  const commit = program.command('commit').description('deployments of lists to routers');
  listing(commit, 'list', 'list commit sets, newest first, and what waits for its first or next one', {
    states: COMMIT_STATES,
    region: 'those of one region',
    since: 'what was requested',
  })
    .option('--customer <customer>', 'only those of one customer')
    .addOption(listOption('only those of one list'))
    .action(({ customer, list, region, status, since: sinceText, ...options }: OwnListOptions) =>
      tools.withApplication(async (application) => {
        const since = sinceOf(sinceText, application.clock.now());
        const filter = { customer, list, region, status, since };
        const { commits, waiting } = accepted(await listCommits(filter, application));
        const rows = commits.map((one) => rowOf(one, options.json === true));
        outputOf(options, tools).table(COLUMNS, [...rows, ...waiting.map(waitingRowOf)]);
      }),
    );
  leaf(commit, 'diff [customer] [region]', 'what a commit would change on each router now; changes nothing')
    .addOption(listOption('which list; BLACKHOLE, or both with --due and --all'))
    .option('--due', 'every list that a commit is to come for')
    .option('--all', 'every list')
    .addOption(wideOption())
    .action((customer: string | undefined, region: string | undefined, options: DiffOptions) =>
      tools.withApplication((application) => showDifference(application, customer, region, options, tools)),
    );
  act(commit, 'run <customer> <region>', 'deploy what is pending now, without waiting for the quiet period')
    .addOption(listOption('which list').default('BLACKHOLE'))
    .action((customer: string, region: string, { list, ...options }: RunOptions) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids, options);
        const { outcomes, ...run } = accepted(await runCommit({ customer, region, list }, context, application));
        const { status } = run;
        const problems = outcomeProblems(outcomes);
        outputOf(options, tools).object({ customer: run.customer, region: run.region, list, status, problems }, [
          `${list} of ${run.customer} in ${run.region}: ${status}`,
          ...problems,
        ]);
        if (status !== 'success') throw new CommandFailure(EXIT.failed, `commit-${status}`, `the commit is ${status}.`);
      }),
    );
}

function listOption(description: string): Option {
  return new Option('--list <list>', description).choices(LIST_KINDS);
}

function rowOf(commit: ListedCommit, isForMachines: boolean) {
  const { progress, outcomes, waitsFor } = commit;
  const problems = [...waitsFor.map((router) => `${router}: no answer yet`), ...outcomeProblems(outcomes)];
  return {
    id: commit.commitSetId,
    customer: commit.customer,
    region: commit.region,
    list: commit.list,
    status: commit.status,
    ...(progress === null ? {} : { prefixes_total: progress.total, prefixes_done: progress.done }),
    attempt: commit.attempt,
    prefixes: isForMachines || progress === null ? commit.prefixes : progressText(progress),
    requested_at: commit.requestedAt,
    completed_at: commit.completedAt,
    problems: problems.join('; ') || null,
    outcomes,
    waiting_seconds: commit.waitingSeconds,
  };
}

function waitingRowOf({ customer, region, list, waitingSeconds }: WaitingList): Readonly<Record<string, unknown>> {
  return {
    id: null,
    customer,
    region,
    list,
    status: 'waiting',
    attempt: null,
    prefixes: null,
    requested_at: null,
    completed_at: null,
    problems: null,
    outcomes: [],
    waiting_seconds: waitingSeconds,
  };
}

/** What kept a commit from the routers, by router. */
function outcomeProblems(outcomes: readonly RouterOutcome[]): readonly string[] {
  return outcomes.flatMap(({ router, result, because, saved, kept }) => [
    ...(saved !== false && (result === 'confirmed' || result === 'skipped') ? [] : [`${router}: ${because ?? result}`]),
    ...(kept === undefined
      ? []
      : [`${router}: keeps ${counted(kept, 'block')} that the restored log does not explain`]),
  ]);
}

/** `1,200 of 5,000`. */
function progressText(progress: Readonly<{ done: number; total: number }>): string {
  const [done, total] = [progress.done, progress.total].map((count) => count.toLocaleString('en-US'));
  return `${done} of ${total}`;
}
