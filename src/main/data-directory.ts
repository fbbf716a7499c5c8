import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { syncDirectory, unlinkIfThere, writeDurably } from '../adapters/files/durable-files.ts';
import { openedOrRefused } from '../adapters/open-failure.ts';
import { BadConfig, type Config } from '../config.ts';
import { StoreRefused } from '../ports/store-refused.ts';

/** The file of the embedded log in a data directory. */
export function logFileIn(directory: string): string {
  return join(directory, 'events.db');
}

export function isEmbedded(url: string): boolean {
  return url.startsWith('sqlite:');
}

/** What is kept in a data directory besides the log; `secrets` may be brought there before anything else is. */
const BESIDE_THE_LOG = ['views.db', 'evidence', 'locks'];
const SECRETS = 'secrets';
const SERVED_BY = 'version';
/** What says that a log is being put into the directory, and what does that. */
const PUTTING_BACK = { restore: 'restoring', copy: 'copying' } as const;
type PutBackBy = keyof typeof PUTTING_BACK;
const EVIDENCE_OF_A_CUSTOMER = /^\d+$/;

type Settings = Pick<Config, 'dataDir' | 'eventStoreUrl'>;

/**
 * Makes the data directory where there is none, for those who may begin a history. `mayBegin`: nothing says that there ever was a log in it.
 * @throws BadConfig when it can't be made or written to, StoreRefused when its log is missing beside what was made from it
 */
export function makeDataDirectory({ dataDir, eventStoreUrl }: Settings): Readonly<{ mayBegin: boolean }> {
  writable(dataDir, () => makeDirectories(dataDir));
  refusePartly(dataDir);
  if (!isEmbedded(eventStoreUrl)) return { mayBegin: false };
  if (existsSync(logFileIn(dataDir))) return { mayBegin: tracesBeside(dataDir).length === 0 };
  refuseWithoutLog(dataDir);
  return { mayBegin: true };
}

/**
 * Looks whether the data directory is there, as all do that only work on one: it holds the log, or, with a log on servers, anything that
 * edgeward keeps in it. Nothing is made.
 * @throws BadConfig when it is not there or can't be written to, StoreRefused when its log is missing beside what was made from it
 */
export function requireDataDirectory(settings: Settings): void {
  requireReadableDirectory(settings);
  writable(settings.dataDir, () => undefined);
  refusePartly(settings.dataDir);
}

/** The same for those who only read, so that a copy that can't be written to will do. */
export function requireReadableDirectory({ dataDir, eventStoreUrl }: Settings): void {
  if (!existsSync(dataDir)) throw noDataDirectory(dataDir);
  if (!statSync(dataDir).isDirectory()) return writable(dataDir, () => undefined);
  if (existsSync(logFileIn(dataDir))) return;
  if (isEmbedded(eventStoreUrl)) refuseWithoutLog(dataDir);
  else if ([...BESIDE_THE_LOG, SECRETS].some((name) => existsSync(join(dataDir, name)))) return;
  throw noDataDirectory(dataDir);
}

function noDataDirectory(directory: string): BadConfig {
  return new BadConfig(
    `bad settings: DATA_DIR: there is no data directory at ${resolve(directory)}; name the one that is meant, or make it with: edgeward init`,
  );
}

/** Which version has served a data directory last: only such a one may have written what this one does not know. `undefined`: none has said so. */
export function lastServedBy(dataDir: string): string | undefined {
  const file = join(dataDir, SERVED_BY);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** Says so for the next version. @throws StoreRefused when it can't be written, as on a full disk */
export function keepServedBy(dataDir: string, version: string): void {
  const file = join(dataDir, SERVED_BY);
  const draft = `${file}.new`;
  openedOrRefused(draft, () => {
    writeFileSync(draft, `${version}\n`, { mode: 0o600 });
    renameSync(draft, file);
  });
}

/**
 * Says in the data directory that its log, or the one of its settings, is being put there, so that nobody acts upon a part of it. On disk when
 * this resolves.
 */
export async function beginPuttingBack(dataDir: string, by: PutBackBy): Promise<void> {
  writable(dataDir, () => makeDirectories(dataDir));
  const file = join(dataDir, PUTTING_BACK[by]);
  // It was broken off before.
  if (!existsSync(file)) await writeDurably(file, '');
  await syncDirectory(dataDir);
}

/** All of the log is there. A copy that says so of a restore that was broken off would leave it without saying that it was put back. */
export async function endPuttingBack(dataDir: string, by: PutBackBy): Promise<void> {
  const files = by === 'restore' ? Object.values(PUTTING_BACK) : [PUTTING_BACK[by]];
  const there = files.map((name) => join(dataDir, name)).filter((file) => existsSync(file));
  if (there.length === 0) return;
  for (const file of there) await unlinkIfThere(file);
  await syncDirectory(dataDir);
}

/** What the log lacks would be taken off the routers. @throws StoreRefused */
export function refusePartly(directory: string): void {
  const repeated = { restore: 'with the same backup', copy: 'from the same source' } as const;
  for (const by of ['restore', 'copy'] as const) {
    const file = resolve(directory, PUTTING_BACK[by]);
    if (!existsSync(file)) continue;
    const repeat = `repeat it ${repeated[by]} (edgeward stores ${by})`;
    throw new StoreRefused('unusable', `${file} says that a ${by} has not come to its end: ${repeat}`);
  }
}

/** A new log here would be the empty beginning of a history that has gone on. */
function refuseWithoutLog(directory: string): void {
  const companions = ['events.db-wal', 'events.db-shm'].filter((name) => existsSync(join(directory, name)));
  const traces = [...companions, ...tracesBeside(directory)];
  if (traces.length === 0) return;
  const file = resolve(logFileIn(directory));
  throw new StoreRefused(
    'unusable',
    `${file} is missing, and ${traces.join(', ')} beside it say that there was a log: ` +
      'put it back from its backup; to begin an empty history in its place, move these away first',
  );
}

/** What is only ever made when there is a log. */
function tracesBeside(directory: string): readonly string[] {
  const views = existsSync(join(directory, 'views.db'));
  const evidence = namesIn(join(directory, 'evidence')).some((name) => EVIDENCE_OF_A_CUSTOMER.test(name));
  const leases = namesIn(join(directory, 'locks')).some((name) => name.endsWith('.lease'));
  return [...(views ? ['views.db'] : []), ...(evidence ? ['evidence/'] : []), ...(leases ? ['locks/'] : [])];
}

function namesIn(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

function writable(directory: string, make: () => void): void {
  try {
    make();
    accessSync(`${directory}/.`, constants.W_OK);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new BadConfig(
      `bad settings: DATA_DIR must be a directory that can be written to: ${directory} is none (${why})`,
    );
  }
}

/** Step by step: Node's own way to make several never ends where a parent takes no directories, as under /proc. */
function makeDirectories(directory: string): void {
  const missing: string[] = [];
  for (let at = resolve(directory); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing) {
    try {
      mkdirSync(each, { mode: 0o700 });
    } catch (error) {
      // Another process was faster.
      if (!existsSync(each)) throw error;
    }
  }
}
