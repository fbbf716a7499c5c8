import type { Command } from 'commander';
import type { BackUpEnds } from '../../application/operations/back-up.ts';
import {
  type CopiedStores,
  type CopyPlaces,
  type CopySteps,
  copyStores,
  type StorePlace,
} from '../../application/operations/copy-stores.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, CommandFailure, EXIT, usage } from '../output.ts';
import { openProgress } from '../progress.ts';
import { addBackUpCommands } from './back-up.ts';

type Options = Readonly<{
  from: string;
  to: string;
  fromPrefix?: string;
  toPrefix?: string;
  evidenceFrom?: string;
  evidenceTo?: string;
  json?: boolean;
}>;

const EMBEDDED = 'sqlite:';
const LOG_SERVER = /^(esdb|kurrentdb)(\+discover)?:\/\/./;
const EVIDENCE_SERVER = /^mongodb(\+srv)?:\/\/./;

/** Gives a login the right to read `$all` of the server that an administrator's connection string names. */
export type GrantReading = (
  url: string,
  login: string,
) => Promise<Readonly<{ changed: boolean; readers: readonly string[] }>>;

type StoreTools = CommandTools & Readonly<{ storeEnds: BackUpEnds; grantReading: GrantReading }>;

/** `stores backup`, `stores restore`, `stores copy`, `stores grant`. */
export function addStoreCommands(program: Command, tools: StoreTools): void {
  const stores = program.command('stores').description('where events and evidence are kept');
  addBackUpCommands(stores, tools);
  leaf(stores, 'copy', 'copy the event log in its order, checked by its hash chains; goes on where it stopped')
    .requiredOption('--from <url>', 'sqlite: (in DATA_DIR), sqlite:<data directory>, esdb://… or kurrentdb://…')
    .requiredOption('--to <url>', 'the same; a log that is empty or holds the beginning of the source')
    .option(
      '--from-prefix <prefix>',
      'before the names of streams on the server --from; default: EVENT_STORE_STREAM_PREFIX',
    )
    .option('--to-prefix <prefix>', 'the same on the server --to')
    .option('--evidence-from <url>', 'sqlite:, sqlite:<data directory> or mongodb://…; default: --from, if embedded')
    .option('--evidence-to <url>', 'the same; default: --to, if embedded')
    .action(async (options: Options) => {
      const places = { log: placesOfLog(options), evidence: placesOfEvidence(options) };
      const progress = openProgress('copy', options.json !== true);
      const copied = accepted(
        await copyStores(places, tools.storeEnds, progress.show, stepsOf(places.log, tools.storeEnds)).finally(
          progress.stop,
        ),
      );
      outputOf(options, tools).object({ ...copied.events, evidence: copied.evidence ?? null }, linesOf(copied));
      const problems = copied.evidence?.problems.length ?? 0;
      if (problems > 0)
        throw new CommandFailure(EXIT.failed, 'evidence-incomplete', `${problems} files of evidence were not copied.`);
    });
  leaf(
    stores,
    'grant <login>',
    'let a login of EventStoreDB read $all, which edgeward needs and members of $ops may not',
  )
    .requiredOption('--as <url>', 'connection string of an administrator of that server: esdb://admin:…@host:2113')
    .action(async (login: string, options: Readonly<{ as: string; json?: boolean }>) => {
      if (!LOG_SERVER.test(options.as)) throw usage('--as must be esdb://… or kurrentdb://….');
      if (!/^\S{1,200}$/.test(login)) throw usage('login must be the name of a login or group, without spaces.');
      const { changed, readers } = await tools.grantReading(options.as, login);
      outputOf(options, tools).object({ login, changed, readers }, [
        changed ? `${login} may read $all now.` : `${login} may read $all already; nothing was changed.`,
        `who may, besides administrators: ${readers.join(', ')}`,
      ]);
    });
}

/** What is there in part, because the copy was broken off, is acted upon by nobody. */
function stepsOf({ to }: CopyPlaces, { beginPuttingBack, endPuttingBack }: BackUpEnds): CopySteps {
  if ('url' in to) return {};
  const { directory } = to;
  return {
    beforeFirst: () => beginPuttingBack('copy', directory),
    after: () => endPuttingBack('copy', directory),
  };
}

function placesOfLog({ from, to, fromPrefix, toPrefix }: Options): CopyPlaces {
  const places = {
    from: underPrefix(placeOf('--from', from, LOG_SERVER), fromPrefix),
    to: underPrefix(placeOf('--to', to, LOG_SERVER), toPrefix),
  };
  if (isSame(places)) throw usage('--from and --to are the same log.');
  return places;
}

function underPrefix(place: StorePlace, streamPrefix: string | undefined): StorePlace {
  return 'url' in place && streamPrefix !== undefined ? { ...place, streamPrefix } : place;
}

/** Evidence stays where it is unless both ends are known, and are two. */
function placesOfEvidence({ from, to, evidenceFrom, evidenceTo }: Options): CopyPlaces | undefined {
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

function isSame({ from, to }: CopyPlaces): boolean {
  return JSON.stringify(from) === JSON.stringify(to);
}

function linesOf({ events, evidence }: CopiedStores): readonly string[] {
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
