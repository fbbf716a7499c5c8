import { type Command, Option } from 'commander';
import { type ListKind, listKind } from '../../events/ip-control/vocabulary.ts';
import type { CommitView } from '../../projections/ip-control/commit-view.ts';
import { waitingSeconds } from '../../domain/ip-control/waiting-changes.ts';
import type { WaitingChangeView } from '../../projections/ip-control/waiting-change-view.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { type DiffOptions, showDifference } from './commit-diff.ts';
import type { Application } from '../../application/application.ts';
import { findCustomer, findRegion } from '../lookup.ts';
import { CommandFailure, counted, EXIT, operatorContext } from '../output.ts';

/** `commit list | diff | run`. */
export function addCommitCommands(program: Command, tools: CommandTools): void {
  const commit = program.command('commit').description('deployments of lists to routers');
  leaf(commit, 'list', 'list commit sets, newest first, and what waits for its first or next one')
    .option('--customer <customer>', 'only those of one customer')
    .addOption(listOption('only those of one list'))
    .action((options: { customer?: string; list?: ListKind; json?: boolean }) =>
      tools.withApplication((application) => listCommits(application, options, tools)),
    );
  leaf(commit, 'diff [customer] [region]', 'what a commit would change on each router now; changes nothing')
    .addOption(listOption('which list; BLACKHOLE, or both with --due and --all'))
    .option('--due', 'every list that a commit is to come for')
    .option('--all', 'every list')
    .action((customer: string | undefined, region: string | undefined, options: DiffOptions) =>
      tools.withApplication((application) => showDifference(application, customer, region, options, tools)),
    );
  leaf(commit, 'run <customer> <region>', 'deploy what is pending now, without waiting for the quiet period')
    .addOption(listOption('which list').default('BLACKHOLE'))
    .action((customer: string, region: string, options: OneListOptions) =>
      tools.withApplication(async (application) => {
        const { customerId, name } = await findCustomer(application, customer);
        const { regionId, name: regionName } = await findRegion(application, region);
        const status = await application.commitNow(
          customerId,
          regionId,
          options.list,
          operatorContext(application.ids),
        );
        const problems =
          status === 'in_progress' ? [] : await problemsOf(application, customerId, regionId, options.list);
        outputOf(options, tools).object({ customer: name, region: regionName, list: options.list, status, problems }, [
          `${options.list} of ${name} in ${regionName}: ${status}`,
          ...problems,
        ]);
        if (status !== 'success') throw new CommandFailure(EXIT.failed, `commit-${status}`, `the commit is ${status}.`);
      }),
    );
}

/** What kept the newest commit of a list from the routers, by router. */
async function problemsOf(
  application: Application,
  customerId: number,
  regionId: number,
  list: ListKind,
): Promise<readonly string[]> {
  await application.catchUp();
  const [newest] = (await application.views.commits.list())
    .map(({ view }) => view)
    .filter((commit) => commit.customerId === customerId && commit.regionId === regionId && commit.list === list)
    .sort((a, b) => b.position - a.position);
  return newest === undefined ? [] : outcomeProblems(newest);
}

function outcomeProblems({ outcomes }: CommitView): readonly string[] {
  return outcomes.flatMap(({ router, result, because, saved, kept }) => [
    ...(saved !== false && (result === 'confirmed' || result === 'skipped') ? [] : [`${router}: ${because ?? result}`]),
    ...(kept === undefined
      ? []
      : [`${router}: keeps ${counted(kept, 'block')} that the restored log does not explain`]),
  ]);
}

/** Routers that keep a commit from its end. */
function waitProblems({ waitsFor }: CommitView): readonly string[] {
  return waitsFor.map((router) => `${router}: no answer yet`);
}

/** `1,200 of 5,000`. */
function progressText({ progress }: CommitView): string | undefined {
  if (progress === null) return undefined;
  const [done, total] = [progress.done, progress.total].map((count) => count.toLocaleString('en-US'));
  return `${done} of ${total}`;
}

type OneListOptions = Readonly<{ list: ListKind; json?: boolean }>;

function listOption(description: string): Option {
  return new Option('--list <list>', description).choices(listKind.options);
}

async function listCommits(
  application: Application,
  options: { customer?: string; list?: ListKind; json?: boolean },
  tools: CommandTools,
): Promise<void> {
  await application.catchUp();
  const only =
    options.customer === undefined ? undefined : (await findCustomer(application, options.customer)).customerId;
  const isShown = ({ customerId, list }: OfList): boolean =>
    (only === undefined || customerId === only) && (options.list === undefined || list === options.list);
  const commits = (await application.views.commits.list()).map(({ view }) => view).filter(isShown);
  const waiting = await waitingChanges(application, isShown);
  commits.sort((a, b) => b.position - a.position);
  const rows = await Promise.all(
    commits.map(async (commit) => ({
      id: commit.commitSetId,
      customer: (await application.views.customers.get(String(commit.customerId)))?.name ?? commit.customerId,
      region: (await application.views.regions.get(String(commit.regionId)))?.name ?? commit.regionId,
      list: commit.list,
      status: commit.status,
      ...(commit.progress === null
        ? {}
        : { prefixes_total: commit.progress.total, prefixes_done: commit.progress.done }),
      attempt: commit.attempt,
      prefixes: (options.json === true ? undefined : progressText(commit)) ?? commit.content?.prefixes ?? null,
      requested_at: commit.requestedAt,
      completed_at: commit.completedAt,
      problems: [...waitProblems(commit), ...outcomeProblems(commit)].join('; ') || null,
      outcomes: commit.outcomes,
      waiting_seconds: waiting.takeAge(commit),
    })),
  );
  outputOf(options, tools).table(
    [
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
    ],
    [...rows, ...(await Promise.all(waiting.left().map((view) => waitingRow(application, view))))],
  );
}

type OfList = Readonly<{ customerId: number; regionId: number; list: ListKind }>;

function keyOf({ customerId, regionId, list }: OfList): string {
  return `${customerId}/${regionId}/${list}`;
}

/** The ages of lists' oldest changes that are not on all routers: told with the newest commit that carries them, the others alone. */
async function waitingChanges(application: Application, isShown: (list: OfList) => boolean) {
  const now = application.clock.now().epochMilliseconds;
  const views = (await application.views.waitingChanges.list()).map(({ view }) => view).filter(isShown);
  const carried = new Map(views.filter(({ carriedSince }) => carriedSince !== null).map((view) => [keyOf(view), view]));
  return {
    takeAge: (commit: OfList): number | null => {
      const view = carried.get(keyOf(commit));
      carried.delete(keyOf(commit));
      return view === undefined ? null : waitingSeconds(view, now);
    },
    left: (): readonly WaitingChangeView[] => views.filter(({ carriedSince }) => carriedSince === null),
  };
}

async function waitingRow(
  application: Application,
  waiting: WaitingChangeView,
): Promise<Readonly<Record<string, unknown>>> {
  const { customerId, regionId, list } = waiting;
  return {
    id: null,
    customer: (await application.views.customers.get(String(customerId)))?.name ?? customerId,
    region: (await application.views.regions.get(String(regionId)))?.name ?? regionId,
    list,
    status: 'waiting',
    attempt: null,
    prefixes: null,
    requested_at: null,
    completed_at: null,
    problems: null,
    outcomes: [],
    waiting_seconds: waitingSeconds(waiting, application.clock.now().epochMilliseconds),
  };
}
