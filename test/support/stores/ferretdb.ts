import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { waitUntil } from '../wait-until.ts';
import { freePort } from '../free-port.ts';

/** A server that speaks MongoDB's protocol: the one at TEST_MONGODB_URL, or FerretDB over files of its own. */
export type MongoServer = Readonly<{
  /** The URL of a new, empty database. */
  freshUrl: () => string;
  /** Whether a conditional update of one document is one step, as MongoDB promises. FerretDB looks first and writes then. */
  updatesInOneStep: boolean;
  /** Whether the server can be stopped and started: not when it is somebody else's. */
  own: boolean;
  /** Ends it at once, as a power cut would; its files stay. */
  kill: () => Promise<void>;
  start: () => Promise<void>;
  /** Drops a database that was handed out. */
  drop: (url: string) => Promise<void>;
}>;

/** Where `.ci/run` puts what tests need besides packages. */
const LAB = process.env.EDGEWARD_LAB ?? join(tmpdir(), 'edgeward-lab');
const FERRETDB = join(LAB, 'bin', 'ferretdb');

/** Undefined when there is none: then say that the tests are skipped. */
export async function startMongoServer(): Promise<MongoServer | undefined> {
  const given = process.env.TEST_MONGODB_URL;
  if (given !== undefined && given !== '') return givenServer(given);
  if (existsSync(FERRETDB)) return startFerretDb();
  console.log(`skipped: neither TEST_MONGODB_URL is set nor is there a FerretDB at ${FERRETDB} (see .ci/run)`);
  return undefined;
}

function givenServer(url: string): MongoServer {
  return { freshUrl: () => urlOfNew(url), updatesInOneStep: true, own: false, kill: doNothing, start: doNothing, drop };
}

async function doNothing(): Promise<void> {
  // It is somebody else's.
}

/** Runs until this process ends. */
async function startFerretDb(): Promise<MongoServer> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeward-ferretdb-'));
  const port = await freePort();
  let running = await run();
  process.once('exit', () => {
    running.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    freshUrl: () => urlOfNew(`mongodb://127.0.0.1:${port}`),
    updatesInOneStep: false,
    own: true,
    kill: async () => {
      running.ref();
      running.kill('SIGKILL');
      await once(running, 'exit');
    },
    start: async () => {
      running = await run();
    },
    drop,
  };

  async function run(): Promise<ChildProcess> {
    const child = spawn(FERRETDB, [`127.0.0.1:${port}`, folder], { stdio: 'ignore', cwd: folder });
    child.unref();
    await waitUntil('FerretDB listens', () => {
      if (child.exitCode !== null) throw new Error(`${FERRETDB} ended with ${child.exitCode}`);
      return isListening(port);
    });
    return child;
  }
}

async function drop(url: string): Promise<void> {
  const client = new MongoClient(url);
  await client.db().dropDatabase();
  await client.close();
}

/** The same server, and a database of its own. A query of the URL, if it has one, stays. */
function urlOfNew(url: string): string {
  const [, hosts = url, query = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?(\?.*)?$/.exec(url) ?? [];
  return `${hosts}/edgeward-test-${randomUUID().slice(0, 8)}${query}`;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
