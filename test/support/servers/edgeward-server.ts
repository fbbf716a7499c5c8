import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { ROUTER_DRIVERS } from '../../../src/adapters/routers/open-router.ts';
import { CLOUD_DRIVERS } from '../../../src/adapters/clouds/open-cloud.ts';
import { createLog } from '../../../src/adapters/log.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { readConfig } from '../../../src/config.ts';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import { commandArchive } from '../../../src/main/command-archive.ts';
import { commandApplication } from '../../../src/main/application.ts';
import { backUpEnds } from '../../../src/main/back-up-ends.ts';
import { examineInstallation } from '../../../src/main/doctor.ts';
import { explainFailure } from '../../../src/main/explain-failure.ts';
import { type RunningServer, startServer } from '../../../src/main/server.ts';
import { codec, grantReading, initDataDirectory, openEventStore } from '../../../src/main/stores.ts';
import { BEGINNING, type EventStore } from '../../../src/ports/event-store.ts';
import { watchAnswers } from '../http/stated-answers.ts';
import { killed } from './bound-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { waitUntil } from '../wait-until.ts';
import { repositoryFile } from '../repository.ts';

const root = repositoryFile('./');
const MAIN = join(root, 'dist/main.js');
const BUILD_SECONDS_MAX = 120;
const FIRST_VIEWS_SECONDS = 30;

/** What a command did. */
export type CommandOutcome = Readonly<{ exitCode: number; out: string; err: string }>;

/** A program that was started and has not been waited for. */
export type EdgewardProcess = Readonly<{
  child: ChildProcess;
  out: () => string;
  err: () => string;
  /** The URL in the line with which a server says that it listens. */
  listening: () => Promise<string>;
  /** How it ended: its exit code, or the signal. */
  ended: Promise<number | NodeJS.Signals>;
}>;

/** A throw-away installation: a data directory, settings, and whatever runs on them. */
export type Edgeward = Readonly<{
  /** Holds the data directory, and has room for routers that are directories. */
  folder: string;
  dataDir: string;
  settings: Readonly<Record<string, string>>;
  /** Runs a command in this process and gives what a shell would see. */
  command: (...args: readonly string[]) => Promise<CommandOutcome>;
  /** Runs a command with `--json`, which must succeed, and gives what it printed. */
  json: (...args: readonly string[]) => Promise<unknown>;
  /** Starts the server in this process; gives its URL. `more` are further settings. */
  serve: (more?: Readonly<Record<string, string>>) => Promise<string>;
  /** Waits until the server of this process, if one runs, shows what commands have changed. */
  shown: () => Promise<void>;
  /** Stops the server of this process. */
  stop: () => Promise<void>;
  /** Starts the built program in a process of its own. */
  spawn: (args: readonly string[], more?: Readonly<Record<string, string>>) => Promise<EdgewardProcess>;
  /** Starts npm in the repository, once the program is built. */
  npm: (args: readonly string[]) => Promise<EdgewardProcess>;
  /** The lines that the server of this process has logged. */
  logged: () => readonly Readonly<Record<string, unknown>>[];
  /** The whole log of events as it is now. */
  events: () => Promise<readonly RecordedEvent[]>;
  /** The position of the newest event; that a token was used is told by itself at the turn of an hour, and is passed over. */
  end: () => Promise<bigint>;
  /** Stops everything and removes every file. */
  remove: () => Promise<void>;
}>;

/** Nothing is committed by itself and nothing is limited, unless a test says so. */
const SETTINGS = { HOST: '127.0.0.1', PORT: '0', QUIET_PERIOD: 'PT1H', WEBHOOK_ALLOW_PRIVATE: 'true' };

/** Makes an installation, its data directory too unless the settings name one; nothing runs yet. */
export async function openEdgeward(settings: Readonly<Record<string, string>> = {}): Promise<Edgeward> {
  watchAnswers();
  const { path: folder, remove: removeFolder } = await temporaryFolder();
  const dataDir = join(folder, 'data');
  const own = { ...SETTINGS, DATA_DIR: dataDir, ...settings };
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: (line) => void lines.push(line) });
  const children = new Set<ChildProcess>();
  // For a test that ends before it could clean up.
  const cleanUpAtExit = (): void => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', cleanUpAtExit);
  if (settings['DATA_DIR'] === undefined)
    await initDataDirectory(readConfig({ ...settingsOfStores(settings), DATA_DIR: dataDir }), log);
  let server: RunningServer | undefined;
  let opened: Promise<EventStore> | undefined;
  const known = { read: -1n, newest: -1n };
  const observer = (): Promise<EventStore> => (opened ??= openEventStore(readConfig(own), codec, log));
  const stop = async (): Promise<void> => {
    await server?.stop();
    server = undefined;
  };
  const start = async (program: string, args: readonly string[], env: object): Promise<EdgewardProcess> => {
    await ensureBuilt();
    const { PATH, HOME } = process.env;
    const child = spawn(program, args, { cwd: root, env: { PATH, HOME, ...env } });
    children.add(child);
    return watched(child);
  };
  const command = (...args: readonly string[]): Promise<CommandOutcome> => runCommand(args, own);
  return {
    folder,
    dataDir,
    settings: own,
    command,
    json: async (...args) => {
      const { exitCode, out, err } = await command(...args, '--json');
      if (exitCode !== 0) throw new Error(`edgeward ${args.join(' ')} ended with ${exitCode}: ${err}`);
      return JSON.parse(out);
    },
    serve: async (more = {}) => {
      server = await startServer(readConfig({ ...own, ...more }), log);
      if ('READ_MODEL_URL' in own || 'READ_MODEL_URL' in more) await readyAtFirst(server.url);
      return server.url;
    },
    stop,
    spawn: (args, more = {}) => start(process.execPath, [MAIN, ...args], { ...own, ...more }),
    npm: (args) => start('npm', args, {}),
    logged: () => lines.map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line))),
    shown: async () => void (await server?.shows(await (await observer()).end())),
    events: async () => allEvents(await observer()),
    end: async () => newestChange(await observer(), known),
    remove: async () => {
      await Promise.all([...children].map(killed));
      await stop();
      await (await opened)?.close();
      process.off('exit', cleanUpAtExit);
      await removeFolder();
    },
  };
}

/**
 * A server listens before its views are there, if they take longer than a client is kept waiting, as the first ones do in a slow store. What
 * never shows is left to the test.
 */
async function readyAtFirst(url: string): Promise<void> {
  const over = Date.now() + FIRST_VIEWS_SECONDS * 1000;
  while (Date.now() < over && !(await fetch(`${url}/readyz`)).ok) await pause(100);
}

/** A test may have other settings be wrong. */
function settingsOfStores({
  EVENT_STORE_URL = '',
}: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { EVENT_STORE_URL };
}

async function runCommand(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CommandOutcome> {
  let [out, err] = ['', ''];
  const write = (text: string): void => void (out += text);
  const writeError = (text: string): void => void (err += text);
  const log = createLog({ level: 'warn', destination: writeError });
  const exitCode = await runProgram(args, {
    version: '0.0.0-test',
    write,
    writeError,
    withApplication: commandApplication(() => readConfig(settings), log),
    withArchive: commandArchive(() => readConfig(settings), log),
    cloudDrivers: CLOUD_DRIVERS,
    routerDrivers: ROUTER_DRIVERS,
    storeEnds: backUpEnds(() => readConfig(settings), log),
    grantReading,
    doctor: examineInstallation(() => readConfig(settings), log),
    init: () => initDataDirectory(readConfig(settings), log),
    serve: () => Promise.reject(new Error('servers are started with serve()')),
    demo: () => Promise.reject(new Error('the demo runs in a process of its own')),
    explain: explainFailure,
  });
  return { exitCode, out, err };
}

/** Several may start at once, on a machine that does much else. */
const START_SECONDS = 120;

function watched(child: ChildProcess): EdgewardProcess {
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? -1));
  });
  return {
    child,
    out: () => out,
    err: () => err,
    ended,
    listening: () =>
      waitUntil(
        'the server listens',
        () => {
          if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}: ${out}${err}`);
          return /"url":"([^"]+)".*is listening/.exec(out)?.[1];
        },
        START_SECONDS,
      ),
  };
}

/** Reads on from where it was before, and remembers that in `known`. */
async function newestChange(store: EventStore, known: { read: bigint; newest: bigint }): Promise<bigint> {
  for await (const page of store.readAll(known.read)) {
    for (const { type, position } of page) {
      known.read = position;
      if (type !== 'ApiTokenUsed') known.newest = position;
    }
  }
  return known.newest;
}

async function allEvents(store: EventStore): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of store.readAll(BEGINNING)) events.push(...page);
  return events;
}

/** Builds the program when it is missing or older than its sources; of test files that run at once, one does. */
async function ensureBuilt(): Promise<void> {
  const lock = join(root, 'node_modules/.edgeward-test-build');
  for (let seconds = 0; !isBuilt(); seconds += 1) {
    if (seconds > BUILD_SECONDS_MAX) throw new Error(`no build within ${BUILD_SECONDS_MAX} s; is ${lock} left over?`);
    if (tookLock(lock)) {
      try {
        if (!isBuilt()) await build();
      } finally {
        rmSync(lock, { force: true });
      }
      return;
    }
    await pause(1000);
  }
}

function isBuilt(): boolean {
  if (!existsSync(MAIN)) return false;
  const built = statSync(MAIN).mtimeMs;
  return readdirSync(join(root, 'src'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .every((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs <= built);
}

/** The lock names the process that holds it: one that was killed during its build keeps nobody out. */
function tookLock(lock: string): boolean {
  try {
    symlinkSync(String(process.pid), lock);
    return true;
  } catch {
    if (!isHeld(lock)) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

function isHeld(lock: string): boolean {
  try {
    process.kill(Number(readlinkSync(lock)), 0);
    return true;
  } catch (error) {
    // Gone meanwhile is not held; of another user's process the signal is refused, and it lives.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function build(): Promise<void> {
  const built = watched(spawn(process.execPath, [join(root, 'scripts/build.mjs')], { cwd: root }));
  const code = await built.ended;
  if (code !== 0) throw new Error(`the build ended with ${code}:\n${built.out()}${built.err()}`);
}

const identified = z.object({ id: z.number() });

/** A region, by default with one router that is a directory: `<folder>/<region>`. Gives its number. */
export async function addRegion(edgeward: Edgeward, name: string, routers = 1): Promise<number> {
  const { id } = identified.parse(await edgeward.json('region', 'create', name));
  for (let at = 0; at < routers; at += 1) {
    const path = join(edgeward.folder, at === 0 ? name : `${name}-${at + 1}`);
    mkdirSync(path, { recursive: true });
    await edgeward.json('router', 'add', name, `${name}-edge${at + 1}`, '--driver', 'file', '--option', `path=${path}`);
  }
  return id;
}

/** A customer that acts through one token. */
export type TestCustomer = Readonly<{
  id: number;
  name: string;
  token: string;
  tokenId: string;
  subnetIds: readonly number[];
}>;

/** A customer that nothing is limited for unless `options` say so, with a token and with subnets (`[cidr, region]`). */
export async function addCustomer(
  edgeward: Edgeward,
  name: string,
  subnets: readonly (readonly [cidr: string, region: string])[] = [],
  options: readonly string[] = [],
): Promise<TestCustomer> {
  const { id } = identified.parse(
    await edgeward.json('customer', 'create', name, '--rate-limit', '1000000', ...options),
  );
  const subnetIds: number[] = [];
  for (const [cidr, region] of subnets) {
    const added = await edgeward.json(
      'subnet',
      'add',
      name,
      cidr,
      '--region',
      region,
      '--asn',
      '64500',
      '--metro',
      'ams',
    );
    subnetIds.push(identified.parse(added).id);
  }
  const { id: tokenId, token } = z
    .object({ id: z.string(), token: z.string() })
    .parse(await edgeward.json('token', 'create', name));
  await edgeward.shown();
  return { id, name, token, tokenId, subnetIds };
}
