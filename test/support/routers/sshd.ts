import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { killed, startBoundProcess } from '../servers/bound-process.ts';
import { endAllIn } from '../servers/end-all-in.ts';
import { runProgram } from '../servers/run-program.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { waitUntil } from '../wait-until.ts';
import { freePort } from '../free-port.ts';

const SSHD = '/usr/sbin/sshd';

/** A real OpenSSH server on a loopback port, with keys and a configuration of its own. */
export type LabSshd = Readonly<{
  port: number;
  /** The options that a driver logs in with. */
  options: Readonly<Record<string, string>>;
  /** The fingerprint of its host key. */
  fingerprint: string;
  /** A private key that it lets nobody in with. */
  strangersKey: string;
  /** Lets in with these public keys from now on, and with no other. */
  letIn: (publicKeys: readonly string[]) => Promise<void>;
  /** The fingerprints of the keys that it has let in with, one for each login. */
  letInWith: () => Promise<readonly string[]>;
  /** The directory that commands keep temporary files in. */
  temporary: string;
  /** From now on what is started here hangs, and heeds no signal that can be ignored; until `goOn`. */
  hang: () => Promise<void>;
  goOn: () => Promise<void>;
  /** How many commands and subsystems were started. */
  started: () => Promise<number>;
  stop: () => Promise<void>;
}>;

/** What is missing here to run sshd, in words; undefined when nothing is. */
export function missingForSshd(): string | undefined {
  if (process.getuid?.() !== 0) return 'root';
  return existsSync(SSHD) ? undefined : 'sshd (package openssh-server)';
}

/** `more`: lines for its configuration, once its port is known. */
export async function startSshd(more: (port: number) => readonly string[] = () => []): Promise<LabSshd> {
  const folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  for (const key of ['host', 'client', 'stranger']) {
    await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  }
  await mkdir('/run/sshd', { recursive: true });
  await mkdir(at('tmp'));
  await writeFile(at('started'), '');
  await writeFile(at('door'), door(folder.path), { mode: 0o755 });
  const port = await freePort();
  await writeFile(at('sshd_config'), [...configuration(port, folder.path), ...more(port), ''].join('\n'));
  const server = startBoundProcess([SSHD, '-D', '-f', at('sshd_config'), '-E', at('log')]);
  await waitUntil('sshd listens', async () => {
    if (server.exitCode !== null) throw new Error(`sshd ended: ${await readFile(at('log'), 'utf8')}`);
    return (await readFile(at('log'), 'utf8').catch(() => '')).includes('Server listening');
  });
  const [, hostKey = ''] = (await readFile(at('host.pub'), 'utf8')).split(' ');
  const [, fingerprint = ''] = spawnSync('ssh-keygen', ['-lf', at('host.pub')], { encoding: 'utf8' }).stdout.split(' ');
  return {
    port,
    options: {
      transport: 'ssh',
      host: '127.0.0.1',
      port: String(port),
      user: 'root',
      key: at('client'),
      host_key: hostKey,
    },
    fingerprint,
    strangersKey: at('stranger'),
    letIn: (publicKeys) => writeFile(at('client.pub'), publicKeys.map((key) => `${key.trim()}\n`).join('')),
    letInWith: async () =>
      [...(await readFile(at('log'), 'utf8')).matchAll(/Accepted publickey .* (SHA256:\S+)$/gm)].map(
        ([, key = '']) => key,
      ),
    temporary: at('tmp'),
    hang: () => writeFile(at('hung'), ''),
    goOn: () => rm(at('hung')),
    started: async () => (await readFile(at('started'), 'utf8')).length,
    stop: async () => {
      await killed(server);
      await endAllIn(folder.path);
      await folder.remove();
    },
  };
}

/** What everything goes through that is started here. */
function door(folder: string): string {
  return `#!/bin/sh
printf . >>${folder}/started
[ ! -e ${folder}/hung ] || trap '' HUP INT PIPE TERM
while [ -e ${folder}/hung ]; do sleep 0.2; done
exec "\${SHELL:-/bin/sh}" -c "$SSH_ORIGINAL_COMMAND"
`;
}

function configuration(port: number, folder: string): readonly string[] {
  return [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${folder}/host`,
    'PidFile none',
    `AuthorizedKeysFile ${folder}/client.pub`,
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    'UsePAM no',
    'StrictModes no',
    'MaxStartups 100:30:200',
    'PrintMotd no',
    `ForceCommand ${folder}/door`,
    // A shell that thinks it is not the first one reads no start-up file of the user.
    `SetEnv SHLVL=5 TMPDIR=${folder}/tmp`,
  ];
}
