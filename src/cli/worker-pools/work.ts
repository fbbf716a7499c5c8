import { type Command, Option } from 'commander';
import {
  cancelWork,
  describeWork,
  describeWorkWithPayload,
  listWork,
  showWork,
  submitWork,
} from '../../application/worker-pools/work-requests.ts';
import { checkWork } from '../../domain/worker-pools/documents.ts';
import { act, type ActOptions, type CommandTools, leaf, listing, type ListOptions, outputOf } from '../command.ts';
import { accepted, operatorContext, sinceOf, usage } from '../output.ts';
import { readDocument } from './documents.ts';
import { wholeNumber } from './options.ts';
import { taken, yamlLines } from './print.ts';

const STATES = ['waiting', 'running', 'succeeded', 'failed', 'cancelled'];
const LIST_MAX = 10_000;
const LIST_DEFAULT = 100;

type OwnListOptions = ListOptions & Readonly<{ scope?: string; state?: string }>;

type SubmitOptions = ActOptions &
  Readonly<{ scope: string; architecture: string; pool?: string; payload?: string; expectedSeconds?: number }>;

/** `work submit | list | show | cancel`: what waits for workers. */
export function addWorkCommands(program: Command, tools: CommandTools): void {
  const group = program.command('work').description('work requests: what waits for workers, and what became of it');
  act(group, 'submit', 'put work into the queue')
    .requiredOption('--scope <name>', 'whose work it is')
    .requiredOption('--architecture <name>', 'what its worker must run: amd64')
    .option('--pool <name>', 'only workers of this pool')
    .option('--payload <file>', 'what its worker is given, YAML or JSON, at most 64 KiB; - for standard input')
    .option('--expected-seconds <n>', 'how long it is expected to run', wholeNumber(1, 31_536_000))
    .action(async (options: SubmitOptions) => {
      const payload = options.payload === undefined ? null : await readDocument('--payload', options.payload);
      const { scope, architecture, pool = null, expectedSeconds = null } = options;
      const work = taken(checkWork({ scope, architecture, pool, payload, expected_seconds: expectedSeconds }));
      await tools.withApplication(async (application) => {
        const shown = accepted(await submitWork(work, operatorContext(application.ids, options), application));
        outputOf(options, tools).object(describeWorkWithPayload(shown), [`work request ${shown.view.id} waits`]);
      });
    });
  listing(group, 'list', 'list work requests, the newest first', {
    states: STATES,
    since: 'what was submitted',
  })
    .option('--scope <name>', 'of one scope')
    .addOption(new Option('--state <state>', 'the same as --status').choices(STATES))
    .action((options: OwnListOptions) =>
      tools.withApplication(async (application) => {
        const { scope, status, state = status, limit = LIST_DEFAULT } = options;
        const since = sinceOf(options.since, application.clock.now());
        if (limit > LIST_MAX) throw usage(`--limit must be a whole number from 1 to ${LIST_MAX}.`);
        const rows = accepted(await listWork({ scope, state, since, limit }, application)).map(describeWork);
        const columns = ['id', 'scope', 'architecture', 'pool', 'state', 'worker', 'attempts', 'submitted_at'];
        outputOf(options, tools).table(columns, rows);
      }),
    );
  leaf(group, 'show <id>', 'show a work request, as YAML').action((id: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const shown = describeWorkWithPayload(accepted(await showWork(id, application)));
      outputOf(options, tools).object(shown, yamlLines(shown));
    }),
  );
  act(
    group,
    'cancel <id>',
    'take work out of the queue; a worker that has it goes on, and its outcome is not kept',
  ).action((id: string, options: ActOptions) =>
    tools.withApplication(async (application) => {
      const context = operatorContext(application.ids, options);
      const { changed, shown } = accepted(await cancelWork(id, context, application));
      outputOf(options, tools).object({ ...describeWorkWithPayload(shown), changed }, [`work request ${id} cancelled`]);
    }),
  );
}
