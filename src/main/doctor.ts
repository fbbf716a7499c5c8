import { readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../adapters/sqlite/sqlite-library.ts';
import { examine, type Finding } from '../application/operations/doctor.ts';
import type { Config } from '../config.ts';
import type { Log } from '../ports/log.ts';
import { applicationOf } from './application.ts';
import { explainFailure } from './explain-failure.ts';
import { openStores, type Stores } from './stores.ts';
import { VERSION } from './version.ts';

const FREE_BYTES_MIN = 256 * 1024 * 1024;
const OTHERS = 0o077;

/** Looks at all of an installation, from the program to the webhooks, as far as what is wrong lets it. Changes nothing. */
export function examineInstallation(readConfig: () => Config, log: Log): () => Promise<readonly Finding[]> {
  return async () => {
    const found = [attempt('program', 'install edgeward again with this version of Node', programFinding)];
    const config = attemptValue(readConfig);
    if ('problem' in config) {
      return [
        ...found,
        { check: 'settings', ok: false, about: config.problem, advice: 'README.md lists the settings' },
      ];
    }
    found.push({ check: 'settings', ok: true, about: 'all can be read' });
    const files = attemptValue(() => fileFindings(config.value.dataDir));
    if ('problem' in files) {
      return [
        ...found,
        {
          check: 'files',
          ok: false,
          about: files.problem,
          advice: 'DATA_DIR names the data directory; edgeward init makes it',
        },
      ];
    }
    return [...found, ...files.value, ...(await storeFindings(config.value, log))];
  };
}

function programFinding(): Finding {
  openSqlite(':memory:').close();
  return {
    check: 'program',
    ok: true,
    about: `edgeward ${VERSION}, Node ${process.versions.node}, its SQLite library loads`,
  };
}

/** Modes and owners of what the data directory holds, and the room on its disk. */
function fileFindings(dataDir: string): readonly Finding[] {
  const found: Finding[] = [];
  const bad = (about: string, advice: string): void => void found.push({ check: 'files', ok: false, about, advice });
  const secrets = join(dataDir, 'secrets');
  const files = [dataDir, secrets, ...namesIn(secrets).map((name) => join(secrets, name))].concat(
    ['events.db', 'views.db'].map((name) => join(dataDir, name)),
  );
  const user = process.getuid?.();
  const { uid: owner } = statSync(dataDir);
  if (user !== undefined && user !== owner) {
    bad(
      `${dataDir} belongs to uid ${owner}, and this is uid ${user}`,
      'run commands as the user of the service: what they make would be out of its reach',
    );
  }
  for (const file of files) {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    if (stats.uid !== owner) bad(`${file} belongs to uid ${stats.uid}, not to uid ${owner}`, `chown ${owner} ${file}`);
    const mode = (stats.mode & 0o777).toString(8);
    if ((stats.mode & OTHERS) !== 0 && process.platform !== 'win32')
      bad(`${file} has mode ${mode}: others may use it`, `chmod go= ${file}`);
  }
  const { bavail, bsize } = statfsSync(dataDir);
  const free = Math.floor((bavail * bsize) / 1024 / 1024);
  if (bavail * bsize < FREE_BYTES_MIN)
    bad(`${free} MiB are free where ${dataDir} is`, 'make room: a full disk stops every change');
  return found.length > 0
    ? found
    : [{ check: 'files', ok: true, about: `${dataDir} is its owner's alone; ${free} MiB are free` }];
}

function namesIn(directory: string): readonly string[] {
  return statSync(directory, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(directory);
}

async function storeFindings(config: Config, log: Log): Promise<readonly Finding[]> {
  let stores: Stores;
  try {
    stores = await openStores(config, log, { label: 'doctor', serves: false });
  } catch (error) {
    return [
      { check: 'stores', ok: false, about: explainFailure(error).message, advice: 'the message names the way out' },
    ];
  }
  try {
    const end = await stores.store.end();
    const opened: Finding = {
      check: 'stores',
      ok: true,
      about: `the log and the read models can be read; ${end} events`,
    };
    return [opened, await serverFinding(stores), ...(await examine(applicationOf(config, log, stores)))];
  } catch (error) {
    return [
      { check: 'stores', ok: false, about: explainFailure(error).message, advice: 'the message names the way out' },
    ];
  } finally {
    await stores.close();
  }
}

async function serverFinding({ leases, areShared }: Stores): Promise<Finding> {
  if (areShared) return { check: 'server', ok: true, about: 'stores are shared: ask /readyz of each server' };
  const lease = await leases.tryAcquire('server');
  if ('heldBy' in lease) return { check: 'server', ok: true, about: `runs: ${lease.heldBy}` };
  await lease.release();
  return {
    check: 'server',
    ok: false,
    about: 'none runs on this data directory',
    advice: 'edgeward serve, or systemctl start edgeward',
  };
}

function attempt(check: string, advice: string, look: () => Finding): Finding {
  const found = attemptValue(look);
  return 'problem' in found ? { check, ok: false, about: found.problem, advice } : found.value;
}

function attemptValue<T>(work: () => T): Readonly<{ value: T }> | Readonly<{ problem: string }> {
  try {
    return { value: work() };
  } catch (error) {
    return { problem: explainFailure(error).message };
  }
}
