import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endAllIn } from '../servers/end-all-in.ts';
import { createNamespace, isLeftOver, labName, missingForNamespaces, removeNamespace } from './netns.ts';
import { runProgram } from '../servers/run-program.ts';
import { waitUntil } from '../wait-until.ts';

/** A real FRR in a pathspace and a network namespace of its own. */
export type LabRouter = Readonly<{
  name: string;
  /** The options that make the driver find it, but for the transport. */
  options: Readonly<Record<string, string>>;
  /** Runs FRR's own vtysh. */
  vtysh: (...args: readonly string[]) => Promise<string>;
  configure: (...lines: readonly string[]) => Promise<void>;
  /** How many files the driver has let vtysh apply. */
  applied: () => Promise<number>;
  /** Makes the driver's vtysh do something else first: lines of shell, "$@" are its arguments; nothing makes it itself again. */
  disturb: (script: string) => Promise<void>;
  /** Whether a disturbance has made a file of that name in `$run`. */
  has: (file: string) => boolean;
  /** Ends one daemon without asking it. */
  kill: (daemon: string) => Promise<void>;
  /** Ends the daemons, also unasked, and starts them with what was saved. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
}>;

/** Which FRR: `root` is the directory that it is installed in (`/`, or a system below a directory). */
export type LabRouterKind = Readonly<{ root: string; daemons: readonly string[] }>;

export const FRR_OF_THIS_MACHINE: LabRouterKind = { root: '/', daemons: ['zebra', 'bgpd'] };

/** What is missing here to run FRR, in words; undefined when nothing is. */
export function missingForFrr(root = '/'): string | undefined {
  const namespaces = missingForNamespaces();
  if (namespaces !== undefined) return namespaces;
  return existsSync(join(root, 'usr/lib/frr/bgpd')) ? undefined : 'FRR (package frr)';
}

export async function startFrr({ root, daemons }: LabRouterKind, configuration = ''): Promise<LabRouter> {
  const name = labName();
  const place = { root, name, run: join(root, 'run/frr', name), etc: join(root, 'etc/frr', name) };
  removeLeftOvers(root);
  const stopAtExit = (): void => remove(place);
  process.once('exit', stopAtExit);

  const inRoot = (...words: readonly string[]): readonly string[] =>
    root === '/' ? words : ['chroot', root, ...words];
  const vtysh = (...args: readonly string[]): Promise<string> => runProgram(inRoot('vtysh', '-N', name, ...args));
  const start = async (): Promise<void> => {
    for (const daemon of daemons) await startDaemon(place, daemon);
    await vtysh('-b');
  };

  await createNamespace(name);
  await mkdir(place.run, { recursive: true });
  await mkdir(place.etc, { recursive: true });
  await writeFile(join(place.etc, 'frr.conf'), configuration);
  await writeFile(join(place.etc, 'vtysh.conf'), 'service integrated-vtysh-config\n');
  await writeFile(join(place.run, 'disturbance'), '');
  await writeFile(join(place.run, 'calls'), '');
  await chmod(join(place.run, 'calls'), 0o666);
  await writeFile(join(place.run, 'vtysh'), recordingVtysh(name));
  await chmod(join(place.run, 'vtysh'), 0o755);
  await runProgram(inRoot('chown', '-R', 'frr:frr', `/etc/frr/${name}`, `/run/frr/${name}`));
  await start();

  return {
    name,
    options: {
      pathspace: name,
      vtysh: `/run/frr/${name}/vtysh`,
      ...(root === '/' ? {} : { command_prefix: JSON.stringify(['chroot', root]) }),
    },
    vtysh,
    configure: async (...lines) => {
      await vtysh('-c', 'configure terminal', ...lines.flatMap((line) => ['-c', line]));
    },
    applied: async () => {
      const calls = await readFile(join(place.run, 'calls'), 'utf8');
      return calls.split('\n').filter((call) => / -f /.test(call) && !/ -C /.test(call)).length;
    },
    disturb: (script) => writeFile(join(place.run, 'disturbance'), script),
    has: (file) => existsSync(join(place.run, file)),
    kill: (daemon) => killAll(place, `${daemon}.pid`),
    restart: async () => {
      await killAll(place, '.pid');
      // A socket outlives its daemon, and would look as if the next one listened.
      for (const file of readdirSync(place.run)) if (file.endsWith('.vty')) rmSync(join(place.run, file));
      await start();
    },
    stop: async () => {
      process.off('exit', stopAtExit);
      await endAllIn(name);
      remove(place);
    },
  };
}

type Place = Readonly<{ root: string; name: string; run: string; etc: string }>;

async function startDaemon({ root, name, run }: Place, daemon: string): Promise<void> {
  const program = `/usr/lib/frr/${daemon}`;
  const args = ['-d', '-N', name, '-A', '127.0.0.1', '--log', `file:/run/frr/${name}/${daemon}.log`];
  // The namespace's own view of the file systems ends with the daemon, and what is mounted in it, too.
  const words =
    root === '/'
      ? [program, ...args]
      : [
          'sh',
          '-c',
          'mount --bind /proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" "$@"',
          root,
          program,
          ...args,
        ];
  // Some daemons keep the output that they were given.
  await runProgram(['sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh', 'ip', 'netns', 'exec', name, ...words]);
  await waitUntil(`${daemon} listens`, () => existsSync(join(run, `${daemon}.vty`)));
}

async function killAll({ run }: Place, pidFiles: string): Promise<void> {
  const pids = pidsOf(run, pidFiles);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await waitUntil('the daemons have ended', () => pids.every((pid) => !existsSync(`/proc/${pid}`)));
}

/** A vtysh that writes down how it is called, and can be disturbed. */
function recordingVtysh(name: string): string {
  return `#!/bin/sh
run=/run/frr/${name}
echo " $* " >>$run/calls
. $run/disturbance
exec vtysh "$@"
`;
}

function removeLeftOvers(root: string): void {
  const directory = join(root, 'run/frr');
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    if (isLeftOver(name)) remove({ root, name, run: join(directory, name), etc: join(root, 'etc/frr', name) });
  }
}

/** Without waiting for anything: it is the last thing that a process does, too. */
function remove({ name, run, etc }: Place): void {
  for (const pid of pidsOf(run)) spawnSync('kill', ['-9', String(pid)]);
  removeNamespace(name);
  rmSync(run, { recursive: true, force: true });
  rmSync(etc, { recursive: true, force: true });
}

function pidsOf(run: string, ending = '.pid'): readonly number[] {
  return (existsSync(run) ? readdirSync(run) : [])
    .filter((file) => file.endsWith(ending))
    .map((file) => Number(readFileSync(join(run, file), 'utf8')))
    .filter((pid) => pid > 1 && existsSync(`/proc/${pid}`));
}
