import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createOpenRouter } from '../../../src/adapters/routers/open-router.ts';
import type { RouterDriver } from '../../../src/ports/routers.ts';
import type { RouterUnderTest } from '../../contracts/router-driver.ts';
import { killed, startBoundProcess } from '../servers/bound-process.ts';
import { endAllIn } from '../servers/end-all-in.ts';
import { routerContext } from './router-context.ts';
import { runProgram } from '../servers/run-program.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { waitUntil } from '../wait-until.ts';

/** A real BIRD that knows no interfaces, with two tables: routes go from `source` to `chosen` where the lists let them. */
export type LabBird = Readonly<{
  /** The options that make the driver find it, but for the transport. */
  options: Readonly<Record<string, string>>;
  /** BIRD's own birdc. */
  birdc: (...words: readonly string[]) => Promise<string>;
  /** The path of a list's file. */
  fileOf: (list: string) => string;
  /** Files that a change has left in the directory of the lists. */
  remains: () => Promise<readonly string[]>;
  /** Writes the rest of the configuration, below the lists. */
  configure: (text: string) => Promise<void>;
  /** How many changes the driver has let BIRD load. */
  loaded: () => Promise<number>;
  /** Makes the driver's birdc do something else first: lines of shell, "$@" are its arguments; nothing makes it itself again. */
  disturb: (script: string) => Promise<void>;
  /** Whether a disturbance has made a file of that name in `$run`. */
  has: (file: string) => boolean;
  /** Ends BIRD without asking it. */
  kill: () => Promise<void>;
  start: () => Promise<void>;
  stop: () => Promise<void>;
}>;

/** What is missing here to run BIRD, in words; undefined when nothing is. */
export function missingForBird(): string | undefined {
  const there = ['bird', 'birdc', 'flock'].filter((program) =>
    [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].some((path) => existsSync(join(path, program))),
  );
  return there.length === 3 ? undefined : 'BIRD (packages bird2 and util-linux)';
}

export async function startBird(): Promise<LabBird> {
  const folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  const birdc = (...words: readonly string[]): Promise<string> => runProgram(['birdc', '-s', at('bird.ctl'), ...words]);
  let server: ReturnType<typeof startBoundProcess> | undefined;

  await mkdir(at('lists'));
  await writeFile(at('bird.conf'), configuration(folder.path));
  await writeFile(at('rest.conf'), '');
  await writeFile(at('calls'), '');
  await writeFile(at('disturbance'), '');
  await writeFile(at('birdc'), recordingBirdc(folder.path));
  await chmod(at('birdc'), 0o755);

  const start = async (): Promise<void> => {
    server = startBoundProcess(['bird', '-f', '-c', at('bird.conf'), '-s', at('bird.ctl'), '-P', at('bird.pid')]);
    const started = server;
    await waitUntil('BIRD answers', async () => {
      if (started.exitCode !== null) throw new Error('BIRD has ended');
      return birdc('show status').then(
        () => true,
        () => false,
      );
    });
  };
  const kill = async (): Promise<void> => {
    const running = server;
    if (running === undefined) return;
    server = undefined;
    await killed(running);
  };
  await start();

  return {
    options: { directory: at('lists'), socket: at('bird.ctl'), birdc: at('birdc') },
    birdc,
    fileOf: (list) => join(at('lists'), `${list}.conf`),
    remains: async () => (await readdir(at('lists'))).filter((name) => name.startsWith('.')),
    configure: async (text) => {
      await writeFile(at('rest.conf'), text);
      await birdc('configure');
    },
    loaded: async () =>
      (await readFile(at('calls'), 'utf8')).split('\n').filter((call) => / configure timeout /.test(call)).length,
    disturb: (script) => writeFile(at('disturbance'), script),
    has: (file) => existsSync(at(file)),
    kill,
    start,
    stop: async () => {
      await kill();
      await endAllIn(folder.path);
      await folder.remove();
    },
  };
}

/** A driver for a BIRD of the lab, with more options as given. */
export function openBird(
  bird: LabBird,
  options: Readonly<Record<string, string>> = { transport: 'local' },
): RouterDriver {
  const open = createOpenRouter(routerContext());
  return open({ name: 'route-server', driver: 'bird', options: { ...bird.options, ...options } });
}

/** A BIRD of the lab for the contract of all drivers. */
export function birdUnderTest(bird: LabBird, capacity: number, open: () => RouterDriver): RouterUnderTest {
  return {
    open,
    capacity,
    runs: 5,
    plantForeign: async (list) => {
      const file = bird.fileOf(list);
      const ours = existsSync(file) ? await readFile(file, 'utf8') : `define '${list}:4' = [\n192.0.2.0/24\n];\n`;
      await writeFile(file, ours.replace(/:4' = \[/, `:4' = [ 10.0.0.0/8+, 192.0.2.0/24{25,28}, 198.51.100.0/24,`));
      await bird.birdc('configure');
    },
    changes: bird.loaded,
    stop: bird.stop,
  };
}

function configuration(folder: string): string {
  return `
log "${folder}/log" all;
router id 192.0.2.1;
include "${folder}/lists/*.conf";
ipv4 table source4; ipv4 table chosen4;
ipv6 table source6; ipv6 table chosen6;
protocol static { ipv4 { table source4; }; route 192.0.2.0/24 blackhole; route 198.51.100.0/24 blackhole; route 203.0.113.7/32 blackhole; }
protocol static { ipv6 { table source6; }; route 2001:db8:1::/48 blackhole; route 2001:db8:2::/48 blackhole; }
include "${folder}/rest.conf";
`;
}

/** A birdc that writes down how it is called, and can be disturbed. */
function recordingBirdc(folder: string): string {
  return `#!/bin/sh
run=${folder}
echo " $* " >>$run/calls
. $run/disturbance
exec birdc "$@"
`;
}
