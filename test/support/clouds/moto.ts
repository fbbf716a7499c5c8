import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryFile } from '../repository.ts';
import { freePort } from '../free-port.ts';
import { waitUntil } from '../wait-until.ts';

const venv = join(process.env['EDGEWARD_LAB'] ?? join(tmpdir(), 'edgeward-lab'), 'moto');

/** Python with moto, botocore and hcloud, as `.ci/run` makes it; undefined where it is not there. */
export const MOTO_PYTHON: string | undefined = existsSync(join(venv, 'bin', 'moto_server'))
  ? join(venv, 'bin', 'python')
  : undefined;

/** moto's EC2: it executes what it is asked, and checks little. */
export type Moto = Readonly<{ url: string; reset: () => Promise<void>; stop: () => Promise<void> }>;

/** Starts moto's server on a free port. */
export async function startMoto(): Promise<Moto> {
  const port = await freePort();
  const child = spawn(join(venv, 'bin', 'moto_server'), ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  try {
    await waitUntil('moto answers', () => reset(url), 120);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, reset: async () => void (await reset(url)), stop };
}

/** What a parameter of a form takes. */
export type Ec2Parameter = Readonly<{ kind: string; values?: readonly string[] }>;

/** The parameters of EC2's actions, list positions written `#`, as botocore's model has them. */
export function ec2Parameters(...actions: readonly string[]): ReadonlyMap<string, ReadonlyMap<string, Ec2Parameter>> {
  const script = repositoryFile('test/support/clouds/ec2-parameters.py');
  const { stdout, status, stderr } = spawnSync(MOTO_PYTHON ?? 'python3', [script, ...actions], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: 120_000,
  });
  if (status !== 0) throw new Error(`botocore's model could not be read: ${stderr}`);
  // Our own script has just written it.
  const read = JSON.parse(stdout) as Record<string, Record<string, Ec2Parameter>>;
  return new Map(Object.entries(read).map(([action, found]) => [action, new Map(Object.entries(found))]));
}

async function reset(url: string): Promise<true | undefined> {
  try {
    return (await fetch(`${url}/moto-api/reset`, { method: 'POST' })).ok || undefined;
  } catch {
    return undefined;
  }
}
