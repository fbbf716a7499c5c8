import type { ChildProcess } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/adapters/clock.ts';
import { parseHostKeyPin } from '../../../src/adapters/routers/ssh/host-key.ts';
import { openNetconfSession, type NetconfSession } from '../../../src/adapters/routers/netconf/netconf-session.ts';
import { createOpenRouter } from '../../../src/adapters/routers/open-router.ts';
import { createSshSession, type SshSession } from '../../../src/adapters/routers/ssh/ssh-session.ts';
import type { RouterDriver } from '../../../src/ports/routers.ts';
import { never } from '../../contracts/router-driver.ts';
import { killed, startBoundProcess } from '../servers/bound-process.ts';
import { routerContext } from './router-context.ts';
import { type LabSshd, missingForSshd, startSshd } from './sshd.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { waitUntil } from '../wait-until.ts';
import { repositoryFile } from '../repository.ts';

const NETCONFD = '/usr/sbin/netconfd';
const SUBSYSTEM = '/usr/sbin/netconf-subsystem';
const MODELS = ['junos-shaped-policy', 'openconfig-shaped-routing-policy'];
const MODULES = repositoryFile('test/support/routers/yang');

/** A real NETCONF server behind a real sshd, with models that have the shape of our dialects. */
export type LabNetconfd = Readonly<{
  sshd: LabSshd;
  /** The options that make a driver find it and log in. */
  options: Readonly<Record<string, string>>;
  /** A NETCONF session that is none of the driver's. */
  session: () => Promise<NetconfSession>;
  /** How many changes clients have made to what runs. */
  changes: () => Promise<number>;
  /** Ends the server without asking it. */
  kill: () => Promise<void>;
  /** Starts the server with what it has saved. */
  start: () => Promise<void>;
  stop: () => Promise<void>;
}>;

/** What is missing here to run netconfd, in words; undefined when nothing is. */
export function missingForNetconfd(): string | undefined {
  return missingForSshd() ?? (existsSync(NETCONFD) ? undefined : 'netconfd (package netconfd)');
}

/** A server that differs from the usual one, which has both models, lets everybody do everything, and starts with what ran. */
export type NetconfdOptions = Readonly<{
  modules?: readonly string[];
  accessControl?: 'off' | 'enforcing';
  superuser?: string;
  /** The configuration that it starts with is another than the one that runs. */
  startup?: boolean;
}>;

export async function startNetconfd(options: NetconfdOptions = {}): Promise<LabNetconfd> {
  const folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  await mkdir(at('home'));
  const sshd = await startSshd((port) => [
    `Subsystem netconf ${SUBSYSTEM} --ncxserver-sockname=${port}@${at('socket')}`,
  ]);
  const sessions: SshSession[] = [];
  let server: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    rmSync(at('socket'), { force: true });
    // It keeps its configuration in its user's home, whatever it is told; so it gets a home of its own.
    const home = userInfo().homedir;
    const words = [NETCONFD, ...wordsFor(options), `--modpath=${MODULES}:/usr/share/yuma/modules`];
    const place = [`--ncxserver-sockname=${at('socket')}`, `--port=${sshd.port}`, `--log=${at('log')}`, '--log-append'];
    const script = 'mount --bind "$0" "$1" && cd "$0" && shift && exec "$@"';
    const started = startBoundProcess(['unshare', '--mount', 'sh', '-c', script, at('home'), home, ...words, ...place]);
    server = started;
    const isUp = await waitUntil('netconfd listens or ends', () =>
      existsSync(at('socket')) ? 'listens' : started.exitCode !== null && 'ended',
    );
    if (isUp === 'listens') return;
    // One that was killed while it saved can't read what it has saved, or its count of changes: its owner would start it without.
    if (!existsSync(at('home/.yuma'))) throw new Error('netconfd has ended');
    rmSync(at('home/.yuma'), { recursive: true });
    await start();
  };
  const kill = async (): Promise<void> => {
    const running = server;
    if (running === undefined) return;
    server = undefined;
    await killed(running);
  };
  await start();

  const { transport: _, ...login } = sshd.options;
  return {
    sshd,
    options: login,
    session: async () => {
      const ssh = sshSessionTo(sshd);
      sessions.push(ssh);
      const channel = await ssh.subsystem('netconf', never);
      return openNetconfSession(channel, { clock: systemClock, answerMilliseconds: 120_000 }, never);
    },
    changes: async () => {
      const log = await readFile(at('log'), 'utf8');
      const changes = log.matchAll(
        /edit-transaction (\d+): operation \w+ on session [1-9]\d* by .*\n.*target 'running'/g,
      );
      return new Set([...changes].map(([, transaction]) => transaction)).size;
    },
    kill,
    start,
    stop: async () => {
      for (const ssh of sessions) await ssh.close();
      await kill();
      await sshd.stop();
      await folder.remove();
    },
  };
}

/** A driver for a server of the lab, with more options and secrets as given. */
export function openNetconf(
  driver: 'junos' | 'openconfig',
  { options }: LabNetconfd,
  more: Readonly<Record<string, string>> = {},
): RouterDriver {
  return createOpenRouter(routerContext())({ name: 'core1', driver, options: { ...options, ...more } });
}

function wordsFor({
  modules = MODELS,
  accessControl = 'off',
  superuser,
  startup = false,
}: NetconfdOptions): readonly string[] {
  return [
    ...modules.map((module) => `--module=${module}`),
    '--target=candidate',
    '--with-validate=true',
    `--with-startup=${startup}`,
    `--access-control=${accessControl}`,
    `--superuser=${superuser ?? userInfo().username}`,
    '--max-sessions=64',
    '--log-level=info',
  ];
}

function sshSessionTo({ options, port }: LabSshd): SshSession {
  const { host = '', user = '', key = '', host_key: pinned = '' } = options;
  const hostKey = parseHostKeyPin(pinned);
  if (hostKey === undefined) throw new Error('the test server has a host key');
  const login = async (): Promise<{ privateKey: string }> => ({ privateKey: await readFile(key, 'utf8') });
  return createSshSession({ host, port, user, hostKey, login }, systemClock);
}
