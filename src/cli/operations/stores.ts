import type { Command } from 'commander';
import type { EventStore } from '../../ports/event-store.ts';
import type { EvidenceStore } from '../../ports/evidence.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { type CopiedEvidence, copyEvidence } from './copy-evidence.ts';
import { type CopiedEvents, copyEvents } from './copy-events.ts';
import { CommandFailure, EXIT, usage } from '../output.ts';
import { openProgress } from '../progress.ts';

/** Where something is kept: in a data directory (`undefined`: the one of the settings), or on a server. */
export type StorePlace = Readonly<{ directory: string | undefined }> | Readonly<{ url: string }>;

export type Opened<T> = Readonly<{ store: T; close: () => Promise<void> }>;

/** Opens what a copy works on. A source must be there; on what is a target no server may act meanwhile. */
export type CopyEnds = Readonly<{
  /** The log, each event as it is stored. */
  openLog: (place: StorePlace, role: 'source' | 'target') => Promise<Opened<EventStore>>;
  openEvidence: (place: StorePlace, role: 'source' | 'target') => Promise<Opened<EvidenceStore>>;
}>;

type Options = Readonly<{ from: string; to: string; evidenceFrom?: string; evidenceTo?: string; json?: boolean }>;
type Ends = Readonly<{ from: StorePlace; to: StorePlace }>;
type Copied = Readonly<{ events: CopiedEvents; evidence: CopiedEvidence | undefined }>;

const EMBEDDED = 'sqlite:';
const LOG_SERVER = /^(esdb|kurrentdb)(\+discover)?:\/\/./;
const EVIDENCE_SERVER = /^mongodb(\+srv)?:\/\/./;

/** `stores copy`. */
export function addStoreCommands(program: Command, tools: CommandTools & Readonly<{ copyEnds: CopyEnds }>): void {
  const stores = program.command('stores').description('where events and evidence are kept');
  leaf(stores, 'copy', 'copy the event log in its order, checked by its hash chains; goes on where it stopped')
    .requiredOption('--from <url>', 'sqlite: (in DATA_DIR), sqlite:<data directory>, esdb://… or kurrentdb://…')
    .requiredOption('--to <url>', 'the same; a log that is empty or holds the beginning of the source')
    .option('--evidence-from <url>', 'sqlite:, sqlite:<data directory> or mongodb://…; default: --from, if embedded')
    .option('--evidence-to <url>', 'the same; default: --to, if embedded')
    .action(async (options: Options) => {
      const copied = await copyStores(options, tools.copyEnds);
      outputOf(options, tools).object({ ...copied.events, evidence: copied.evidence ?? null }, linesOf(copied));
      const problems = copied.evidence?.problems.length ?? 0;
      if (problems > 0)
        throw new CommandFailure(EXIT.failed, 'evidence-incomplete', `${problems} files of evidence were not copied.`);
    });
}

async function copyStores(options: Options, ends: CopyEnds): Promise<Copied> {
  const places = { from: placeOf('--from', options.from, LOG_SERVER), to: placeOf('--to', options.to, LOG_SERVER) };
  if (isSame(places)) throw usage('--from and --to are the same log.');
  const evidencePlaces = placesOfEvidence(options);
  const progress = openProgress('copy', options.json !== true);
  return withBoth(places, ends.openLog, async (logs) => {
    const copy = (): Promise<CopiedEvents> => copyEvents(logs, progress.show).finally(progress.stop);
    if (evidencePlaces === undefined) return { events: await copy(), evidence: undefined };
    // Both are open for all of the time, so that no server comes in between.
    return withBoth(evidencePlaces, ends.openEvidence, async (evidences) => {
      const events = await copy();
      return { events, evidence: await copyEvidence(logs.to, evidences) };
    });
  });
}

async function withBoth<T, R>(
  { from, to }: Ends,
  open: (place: StorePlace, role: 'source' | 'target') => Promise<Opened<T>>,
  work: (both: Readonly<{ from: T; to: T }>) => Promise<R>,
): Promise<R> {
  const source = await open(from, 'source');
  try {
    const target = await open(to, 'target');
    try {
      return await work({ from: source.store, to: target.store });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Evidence stays where it is unless both ends are known, and are two. */
function placesOfEvidence({ from, to, evidenceFrom, evidenceTo }: Options): Ends | undefined {
  const source = evidenceFrom ?? (from.startsWith(EMBEDDED) ? from : undefined);
  const target = evidenceTo ?? (to.startsWith(EMBEDDED) ? to : undefined);
  if (evidenceTo !== undefined && source === undefined) throw usage('--evidence-to needs --evidence-from as well.');
  if (evidenceFrom !== undefined && target === undefined) throw usage('--evidence-from needs --evidence-to as well.');
  if (source === undefined || target === undefined) return undefined;
  const places = {
    from: placeOf('--evidence-from', source, EVIDENCE_SERVER),
    to: placeOf('--evidence-to', target, EVIDENCE_SERVER),
  };
  return isSame(places) ? undefined : places;
}

function placeOf(option: string, url: string, server: RegExp): StorePlace {
  if (url.startsWith(EMBEDDED)) return { directory: url.slice(EMBEDDED.length) || undefined };
  if (server.test(url)) return { url };
  const servers = server === LOG_SERVER ? 'esdb://… or kurrentdb://…' : 'mongodb://…';
  throw usage(`${option} must be sqlite:, sqlite:<data directory>, ${servers}.`);
}

function isSame({ from, to }: Ends): boolean {
  return JSON.stringify(from) === JSON.stringify(to);
}

function linesOf({ events, evidence }: Copied): readonly string[] {
  const { copied, there, streams } = events;
  return [
    `${copied} events copied, ${there} were there; ${streams} streams, every event checked on both sides.`,
    evidence === undefined
      ? 'evidence: stays where it is (--evidence-to copies it).'
      : `evidence: ${evidence.copied} files copied, ${evidence.there} were there.`,
    ...(evidence?.problems ?? []),
    'next, with the settings of the new stores: edgeward projections rebuild --all; then start the server.',
  ];
}
