import type { Command } from 'commander';
import {
  type BackedUp,
  type BackUpEnds,
  backUpStores,
  type PutBack,
  restoreStores,
} from '../../application/operations/back-up.ts';
import { act, type ActOptions, type CommandTools, leaf, outputOf } from '../command.ts';
import { counted } from '../../domain/counted.ts';
import { accepted, CommandFailure, EXIT, operatorContext } from '../output.ts';
import { openProgress } from '../progress.ts';

type BackUpTools = CommandTools & Readonly<{ storeEnds: BackUpEnds }>;

/** `stores backup`, `stores restore`. */
export function addBackUpCommands(stores: Command, tools: BackUpTools): void {
  leaf(
    stores,
    'backup <dir>',
    'copy log and evidence to a directory, beside a running server; later times only what is new',
  )
    .option('--with-secrets', 'copy the secret store as well: keep the directory as safe as DATA_DIR')
    .action(async (directory: string, options: Readonly<{ withSecrets?: boolean; json?: boolean }>) => {
      const progress = openProgress('backup', options.json !== true);
      const wanted = { withSecrets: options.withSecrets === true };
      const made = accepted(
        await backUpStores(directory, wanted, tools.storeEnds, progress.show).finally(progress.stop),
      );
      outputOf(options, tools).object({ ...answerOf(made), at: made.note.at }, linesOfBackUp(made));
      requireEvidence(made);
    });
  act(stores, 'restore <dir>', 'put a backup into the empty stores of the settings, as a restored log').action(
    async (directory: string, options: ActOptions) => {
      const progress = openProgress('restore', options.json !== true);
      const context = operatorContext(tools.storeEnds.ids, options);
      const back = accepted(
        await restoreStores(directory, context, tools.storeEnds, progress.show).finally(progress.stop),
      );
      outputOf(options, tools).object(
        { ...answerOf(back), backup_at: back.note?.at ?? null, restored: true },
        linesOfRestore(back),
      );
      requireEvidence(back);
    },
  );
}

function answerOf({ stores: { events, evidence }, secrets }: Pick<BackedUp, 'stores' | 'secrets'>) {
  return { ...events, evidence: evidence ?? null, secrets: secrets ?? null };
}

function linesOfBackUp({ stores: { events, evidence }, secrets, note }: BackedUp): readonly string[] {
  const without =
    note.secrets === null
      ? 'secrets: none are in the backup; --with-secrets copies them.'
      : `secrets: as they were; ${note.secrets} are in the backup (--with-secrets copies them).`;
  return [
    `${counted(events.copied, 'event')} copied, ${events.there} were there; every one checked on both sides.`,
    `evidence: ${counted(evidence?.copied ?? 0, 'file')} copied, ${evidence?.there ?? 0} were there.`,
    secrets === undefined ? without : `secrets: ${secrets.copied} copied, ${secrets.there} were there.`,
    ...(evidence?.problems ?? []),
  ];
}

function linesOfRestore({ stores: { events, evidence }, secrets, note }: PutBack): readonly string[] {
  const kept = secrets?.kept ?? [];
  return [
    note === undefined ? 'the backup does not say when it was made.' : `the backup of ${note.at}:`,
    `${counted(events.copied, 'event')} copied, ${events.there} were there; every one checked on both sides.`,
    `evidence: ${counted(evidence?.copied ?? 0, 'file')} copied, ${evidence?.there ?? 0} were there.`,
    secrets === undefined
      ? 'secrets: the backup has none; those of DATA_DIR/secrets are used.'
      : `secrets: ${secrets.copied} copied, ${secrets.there} were there.`,
    ...(kept.length === 0 ? [] : [`secrets that differ stay as they are here: ${kept.join(', ')}.`]),
    ...(evidence?.problems ?? []),
    'the log is a restored one now: routers keep what it does not explain.',
    'next: edgeward serve; beside it edgeward restore status, and in the end edgeward restore accept.',
  ];
}

function requireEvidence({ stores: { evidence } }: Pick<BackedUp, 'stores'>): void {
  const problems = evidence?.problems.length ?? 0;
  if (problems > 0)
    throw new CommandFailure(EXIT.failed, 'evidence-incomplete', `${problems} files of evidence were not copied.`);
}
