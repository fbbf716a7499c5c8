import type { CommandContext } from '../../commands/aggregate.ts';
import { RestoreBegan } from '../../events/ip-control/restore.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { BEGINNING, type EventStore } from '../../ports/event-store.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Secrets } from '../../ports/secrets.ts';
import { type CopiedStores, type CopyEnds, copyStores, type StorePlace } from './copy-stores.ts';

/** What a backup says of itself: when it was made last, by which version, and what is in it; `secrets`: null where it has none. */
export type BackUpNote = Readonly<{
  at: string;
  version: string;
  events: number;
  evidence: number;
  secrets: number | null;
}>;

/** What backing up and restoring works on, besides what any copy does. */
export type BackUpEnds = CopyEnds &
  Readonly<{
    version: string;
    ids: Ids;
    now: () => string;
    /** Where the settings keep log and evidence. */
    own: () => Readonly<{ log: StorePlace; evidence: StorePlace }>;
    /** Whether a directory is the data directory of the settings. */
    isOwn: (directory: string) => boolean;
    /** The secrets below a directory, or those of the settings; `undefined` where there are none to read. */
    openSecrets: (directory: string | undefined, role: 'source' | 'target') => Secrets | undefined;
    /** What a directory says of itself; `undefined`: it is no backup that was ended. */
    readNote: (directory: string) => Promise<BackUpNote | undefined>;
    writeNote: (directory: string, note: BackUpNote) => Promise<void>;
    /** Whether this program can read events of a type and schema number. */
    knows: (type: string, schema: number) => boolean;
    /** From now on nobody acts upon the log in a data directory (that of the settings, if none is named), also when this process ends, */
    beginPuttingBack: (by: 'restore' | 'copy', directory?: string) => Promise<void>;
    /** until all of it is there. */
    endPuttingBack: (by: 'restore' | 'copy', directory?: string) => Promise<void>;
    /** Records in the log of the settings that it was put back from an older copy. */
    markRestored: (context: CommandContext) => Promise<void>;
  }>;

type Show = (done: bigint, end: bigint) => void;
type CopiedSecrets = Readonly<{ copied: number; there: number; kept: readonly string[] }>;

export type BackedUp = Readonly<{ stores: CopiedStores; secrets: CopiedSecrets | undefined; note: BackUpNote }>;
export type PutBack = Readonly<{
  stores: CopiedStores;
  secrets: CopiedSecrets | undefined;
  note: BackUpNote | undefined;
}>;

/**
 * Copies the log of the settings as it is now and the evidence that it names into a directory, beside a running server; what is there from
 * an earlier backup is compared, not written again. Every event is checked against its hash chain on both sides.
 */
export async function backUpStores(
  directory: string,
  { withSecrets }: Readonly<{ withSecrets: boolean }>,
  ends: BackUpEnds,
  show: Show,
): Promise<Refusal | BackedUp> {
  if (ends.isOwn(directory)) return refuse('bad-backup-directory', 'a backup needs another directory than DATA_DIR.');
  const own = ends.own();
  const at = ends.now();
  const stores = await copyStores(
    { log: { from: own.log, to: { directory } }, evidence: { from: own.evidence, to: { directory } } },
    ends,
    show,
  );
  if (isRefusal(stores)) return stores;
  const source = ends.openSecrets(undefined, 'source');
  const target = ends.openSecrets(directory, withSecrets ? 'target' : 'source');
  const secrets =
    withSecrets && source !== undefined && target !== undefined
      ? await copySecrets(source, target, { replaces: true })
      : undefined;
  const { events, evidence } = stores;
  const note = {
    at,
    version: ends.version,
    events: events.copied + events.there,
    evidence: (evidence?.copied ?? 0) + (evidence?.there ?? 0),
    secrets: target === undefined ? null : (await target.list()).length,
  };
  await ends.writeNote(directory, note);
  return { stores, secrets, note };
}

/**
 * Puts a backup into the stores of the settings, which are empty or hold the beginning of it, and marks the log as a restored one before any
 * server can act on it. Each event is checked against its hash chain, each file of evidence by its SHA-256. A secret that is there
 * stays: it may be newer than the backup. What is there in part, because this was broken off, is acted upon by nobody.
 */
export async function restoreStores(
  directory: string,
  context: CommandContext,
  ends: BackUpEnds,
  show: Show,
): Promise<Refusal | PutBack> {
  if (ends.isOwn(directory)) return refuse('bad-backup-directory', 'a backup is never in DATA_DIR itself.');
  const note = await ends.readNote(directory);
  const own = ends.own();
  let secrets: CopiedSecrets | undefined;
  const stores = await copyStores(
    { log: { from: { directory }, to: own.log }, evidence: { from: { directory }, to: own.evidence } },
    ends,
    show,
    {
      before: (from) => unknownIn(from, note, ends),
      beforeFirst: () => ends.beginPuttingBack('restore'),
      mayEndWith: isMark,
      after: async () => {
        const source = ends.openSecrets(directory, 'source');
        const target = source === undefined ? undefined : ends.openSecrets(undefined, 'target');
        if (source !== undefined && target !== undefined)
          secrets = await copySecrets(source, target, { replaces: false });
        await ends.markRestored(context);
        await ends.endPuttingBack('restore');
      },
    },
  );
  return isRefusal(stores) ? stores : { stores, secrets, note };
}

/** A restore that was broken off right after it had recorded that the log was put back has left that behind the backup's events. */
function isMark({ type }: RecordedEvent): boolean {
  return type === RestoreBegan.type;
}

/** What a newer version has written can't be acted upon by this one. */
async function unknownIn(
  from: EventStore,
  note: BackUpNote | undefined,
  { knows, version }: BackUpEnds,
): Promise<Refusal | undefined> {
  for await (const page of from.readAll(BEGINNING)) {
    for (const { type, position, metadata } of page) {
      if (knows(type, metadata.schema)) continue;
      const who = note === undefined ? 'a newer version made it' : `edgeward ${note.version} made it`;
      return refuse(
        'log-too-new',
        `the backup holds ${type} (schema ${metadata.schema}) at position ${position}, which edgeward ${version} does not know; ${who}: use that version, or a newer one.`,
      );
    }
  }
  return undefined;
}

async function copySecrets(
  from: Secrets,
  to: Secrets,
  { replaces }: Readonly<{ replaces: boolean }>,
): Promise<CopiedSecrets> {
  let [copied, there] = [0, 0];
  const kept: string[] = [];
  for (const { id } of await from.list()) {
    const value = await from.get(id);
    // It was removed meanwhile.
    if (value === undefined) continue;
    const present = await to.get(id);
    if (present === value) {
      there += 1;
    } else if (present === undefined || replaces) {
      await to.put(id, value);
      copied += 1;
    } else {
      kept.push(id);
    }
  }
  return { copied, there, kept };
}
