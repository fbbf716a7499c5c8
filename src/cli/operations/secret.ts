import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ListedSecret, listSecrets, putSecret, removeSecret } from '../../application/operations/secrets.ts';
import { act, type ActOptions, type CommandTools, listing, type ListOptions, narrowed, outputOf } from '../command.ts';
import { accepted, operatorContext, usage } from '../output.ts';

const STANDARD_INPUT = 0;

/** `secret put | remove | list`: what router options of the form `secret:<id>` name. A secret is never an argument: others can read those. */
export function addSecretCommands(program: Command, tools: CommandTools): void {
  const secret = program.command('secret').description('credentials that router options name as secret:<id>');
  act(secret, 'put <id>', 'keep a secret')
    .requiredOption('--from <file>', 'where it is read from; - for standard input')
    .action((id: string, options: ActOptions & Readonly<{ from: string }>) =>
      tools.withApplication(async (application) => {
        const value = readSecret(options.from);
        accepted(await putSecret(id, value, operatorContext(application.ids, options), application));
        outputOf(options, tools).object({ id, stored: true }, [`secret ${id} stored; options name it as secret:${id}`]);
      }),
    );
  act(secret, 'remove <id>', 'forget a secret').action((id: string, options: ActOptions) =>
    tools.withApplication(async (application) => {
      accepted(await removeSecret(id, operatorContext(application.ids, options), application));
      outputOf(options, tools).object({ id, removed: true }, [`secret ${id} removed`]);
    }),
  );
  listing(secret, 'list', 'which secrets there are, since when, and what uses them', {
    states: ['used', 'unused', 'missing'],
    since: 'those whose value was put there',
  }).action((options: ListOptions) =>
    tools.withApplication(async (application) => {
      const secrets = await listSecrets(application);
      const wanted = narrowed(secrets, options, { now: application.clock.now(), statusOf, at: ({ since }) => since });
      const rows = wanted.map(({ id, since, usedBy }) => ({
        id,
        since,
        used_by: options.json === true ? usedBy : usedBy.join(', ') || null,
      }));
      outputOf(options, tools).table(['id', 'since', 'used_by'], rows);
    }),
  );
}

/** `missing`: something uses it, and it is not there. */
function statusOf({ since, usedBy }: ListedSecret): string {
  if (since === null) return 'missing';
  return usedBy.length > 0 ? 'used' : 'unused';
}

function readSecret(from: string): string {
  let text: string;
  try {
    text = readFileSync(from === '-' ? STANDARD_INPUT : from, 'utf8');
  } catch (error) {
    throw usage(`--from ${from} can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  // An editor ends a file with a line break that belongs to no password; a key is given as it is.
  return text.includes('PRIVATE KEY') ? text : text.replace(/\r?\n$/, '');
}
