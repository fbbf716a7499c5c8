import { z } from 'zod';
import { createLocalTransport } from '../shell/local-transport.ts';
import type { CommandTransport } from '../shell/remote-command.ts';
import { defineRouterDriver, type RouterContext } from '../driver-kit/router-options.ts';
import { refuseLoginProblems, SSH_OPTIONS, sshLimits, sshTarget } from '../ssh/ssh-options.ts';
import { createSshSession } from '../ssh/ssh-session.ts';
import { createSshTransport } from '../ssh/ssh-transport.ts';
import { createFrrDriver } from './frr-driver.ts';
import { refuseTwoSockets, VTYSH_OPTIONS, vtyshPlace } from './frr-options.ts';
import { createFrrShell } from './frr-shell.ts';

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
