import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import type { Application } from '../../application/application.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, CommandFailure, EXIT, notFound, operatorContext, usage } from '../output.ts';
import { secretUses } from './secret-uses.ts';

const SECRET_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const SECRET_BYTES_MAX = 64 * 1024;
const STANDARD_INPUT = 0;

/** `secret put | remove | list`: what router options of the form `secret:<id>` name. A secret is never an argument: others can read those. */
export function addSecretCommands(program: Command, tools: CommandTools): void {
  const secret = program.command('secret').description('credentials that router options name as secret:<id>');
  leaf(secret, 'put <id>', 'keep a secret')
    .requiredOption('--from <file>', 'where it is read from; - for standard input')
    .action((id: string, options: { from: string; json?: boolean }) =>
      tools.withApplication(async (application) => {
        const value = readSecret(checkedId(id), options.from);
        await application.secrets.put(id, value);
        const command = {
          type: 'RecordSecretStored',
          data: { secretId: id, changeId: application.ids.uuid() },
        } as const;
        accepted(await application.directory.handle(DIRECTORY_ID, command, operatorContext(application.ids)));
        outputOf(options, tools).object({ id, stored: true }, [`secret ${id} stored; options name it as secret:${id}`]);
      }),
    );
  leaf(secret, 'remove <id>', 'forget a secret').action((id: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      if ((await application.secrets.get(checkedId(id))) === undefined) throw notFound(`secret ${id} not found.`);
      await refuseUsed(application, id);
      // Recorded first: had it gone before, a crash in between would leave nothing that tells who has removed it.
      const command = { type: 'RecordSecretRemoved', data: { secretId: id } } as const;
      accepted(await application.directory.handle(DIRECTORY_ID, command, operatorContext(application.ids)));
      await application.secrets.remove(id);
      outputOf(options, tools).object({ id, removed: true }, [`secret ${id} removed`]);
    }),
  );
  leaf(secret, 'list', 'which secrets there are, since when, and what uses them').action(
    (options: { json?: boolean }) => tools.withApplication((application) => listSecrets(application, options, tools)),
  );
}

async function refuseUsed(application: Application, id: string): Promise<void> {
  const uses = (await secretUses(application)).get(id);
  if (uses === undefined) return;
  throw new CommandFailure(EXIT.conflict, 'secret-in-use', `secret ${id} is used by ${uses.join(', ')}.`);
}

/** What is used and not there is listed as well: `since` is null. */
async function listSecrets(application: Application, options: { json?: boolean }, tools: CommandTools): Promise<void> {
  const uses = await secretUses(application);
  const kept = new Map((await application.secrets.list()).map(({ id, since }) => [id, since]));
  const rows = [...new Set([...kept.keys(), ...uses.keys()])].toSorted().map((id) => {
    const usedBy = uses.get(id) ?? [];
    return { id, since: kept.get(id) ?? null, used_by: options.json === true ? usedBy : usedBy.join(', ') || null };
  });
  outputOf(options, tools).table(['id', 'since', 'used_by'], rows);
}

function checkedId(id: string): string {
  if (!SECRET_ID.test(id))
    throw usage('a secret id has 1 to 128 of A–Z a–z 0–9 _ . - and starts with a letter or digit.');
  return id;
}

function readSecret(id: string, from: string): string {
  let text: string;
  try {
    text = readFileSync(from === '-' ? STANDARD_INPUT : from, 'utf8');
  } catch (error) {
    throw usage(`--from ${from} can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  // An editor ends a file with a line break that belongs to no password; a key is given as it is.
  const value = text.includes('PRIVATE KEY') ? text : text.replace(/\r?\n$/, '');
  if (value === '') throw usage(`the secret ${id} is empty.`);
  if (Buffer.byteLength(value) > SECRET_BYTES_MAX) throw usage(`a secret has at most ${SECRET_BYTES_MAX} bytes.`);
  return value;
}
