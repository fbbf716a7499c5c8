import { z } from 'zod';
import { defineRouterDriver, MAX_ENTRIES_OPTION, mustBe, type RouterContext } from '../driver-kit/router-options.ts';
import { createLocalTransport } from '../shell/local-transport.ts';
import type { CommandTransport } from '../shell/remote-command.ts';
import { absolutePath, COMMAND_PREFIX_OPTION, word } from '../shell/shell-options.ts';
import { refuseLoginProblems, SSH_OPTIONS, sshLimits, sshTarget } from '../ssh/ssh-options.ts';
import { createSshSession, createSshTransport } from '../ssh/ssh-session.ts';
import { createFrrDriver } from './frr-driver.ts';
import { createFrrShell } from './frr-shell.ts';

const SOCKETS = '/var/run/frr';
const CONFIGURATION = '/etc/frr';

/** How vtysh is found and called on the router. */
const VTYSH_OPTIONS = {
  vtysh: word('the path of vtysh, without blanks', /^[A-Za-z0-9_./][^\s\0]*$/)
    .default('vtysh')
    .meta({ description: 'path of vtysh on the router', reach: 'machine' }),
  pathspace: word('a name of letters, digits, "_" and "-"', /^[A-Za-z0-9_][A-Za-z0-9_-]*$/)
    .optional()
    .meta({ description: "FRR's pathspace (vtysh -N), where several FRRs run on one machine" }),
  vty_socket: absolutePath('an absolute path')
    .optional()
    .meta({
      description: `directory of the daemons' sockets (vtysh --vty_socket); ${SOCKETS} when absent`,
      reach: 'machine',
    }),
  command_prefix: COMMAND_PREFIX_OPTION,
  daemon: word('the name of a daemon such as bgpd', /^[a-z0-9]{2,20}$/)
    .default('bgpd')
    .meta({ description: 'the daemon that uses the lists: they are read back from it' }),
  max_entries: MAX_ENTRIES_OPTION,
  write_memory: z
    .enum(['true', 'false'], mustBe('true or false'))
    .default('true')
    .transform((text) => text === 'true')
    .meta({ description: 'save the configuration after a change, so that lists survive a restart of FRR' }),
};

/** Refines an object with the options above: one way to find the sockets. */
function refuseTwoSockets(
  { pathspace, vty_socket: directory }: { pathspace?: string | undefined; vty_socket?: string | undefined },
  context: z.RefinementCtx,
): void {
  if (pathspace === undefined || directory === undefined) return;
  context.addIssue({ code: 'custom', path: ['pathspace'], message: 'must be left out, as vty_socket is given' });
}

/**
 * Which sockets vtysh talks to, and the words that make it do so; and the directory of the configuration that this FRR starts with, empty
 * when it can't be known.
 */
function vtyshPlace(options: {
  vtysh: string;
  pathspace?: string | undefined;
  vty_socket?: string | undefined;
}): Readonly<{ words: readonly string[]; sockets: string; configuration: string }> {
  const { vtysh, pathspace, vty_socket: directory } = options;
  const words = [vtysh];
  if (pathspace !== undefined) words.push('-N', pathspace);
  if (directory !== undefined) words.push('--vty_socket', directory);
  const below = pathspace === undefined ? '' : `/${pathspace}`;
  if (directory !== undefined) return { words, sockets: directory, configuration: '' };
  return { words, sockets: SOCKETS + below, configuration: CONFIGURATION + below };
}

const TRANSPORT = {
  description:
    'local: vtysh on this machine; ssh: vtysh on the router, over SSH, from the POSIX login shell of its user',
};

const LOCAL = z
  .strictObject({ transport: z.literal('local').meta(TRANSPORT), ...VTYSH_OPTIONS })
  .superRefine(refuseTwoSockets);
const SSH = z
  .strictObject({ transport: z.literal('ssh').meta(TRANSPORT), ...SSH_OPTIONS, ...VTYSH_OPTIONS })
  .superRefine(refuseLoginProblems)
  .superRefine(refuseTwoSockets);
const OPTIONS = z.discriminatedUnion('transport', [LOCAL, SSH], { error: () => 'must be local or ssh' });

/** FRR's prefix-lists, through vtysh. */
export const FRR_DRIVER = defineRouterDriver({
  driver: 'frr',
  schema: OPTIONS,
  variants: [LOCAL, SSH],
  here: { option: 'transport', value: 'local' },
  open: (options, context) => {
    const transport = transportTo(options, context);
    const { words, sockets, configuration } = vtyshPlace(options);
    const { command_prefix: prefix = [], daemon, write_memory: writeMemory } = options;
    const shell = createFrrShell(transport, { prefix, vtysh: words, sockets, configuration, daemon }, context.clock);
    return createFrrDriver({ shell, clock: context.clock, writeMemory, close: () => transport.close() });
  },
});

function transportTo(options: z.output<typeof OPTIONS>, { clock, secrets }: RouterContext): CommandTransport {
  if (options.transport === 'local') return createLocalTransport();
  return createSshTransport(createSshSession(sshTarget(options, secrets), clock, sshLimits(options)));
}
