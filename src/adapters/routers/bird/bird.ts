import { z } from 'zod';
import { createLocalTransport } from '../shell/local-transport.ts';
import type { CommandTransport } from '../shell/remote-command.ts';
import { defineRouterDriver, type RouterContext } from '../driver-kit/router-options.ts';
import { refuseLoginProblems, SSH_OPTIONS, sshLimits, sshTarget } from '../ssh/ssh-options.ts';
import { createSshSession } from '../ssh/ssh-session.ts';
import { createSshTransport } from '../ssh/ssh-transport.ts';
import { createBirdDriver } from './bird-driver.ts';
import { BIRDC_OPTIONS } from './bird-options.ts';
import { createBirdShell } from './bird-shell.ts';

const TRANSPORT = {
  description:
    'local: birdc on this machine; ssh: birdc on the router, over SSH, from the POSIX login shell of its user',
};

const LOCAL = z.strictObject({ transport: z.literal('local').meta(TRANSPORT), ...BIRDC_OPTIONS });
const SSH = z
  .strictObject({ transport: z.literal('ssh').meta(TRANSPORT), ...SSH_OPTIONS, ...BIRDC_OPTIONS })
  .superRefine(refuseLoginProblems);
const OPTIONS = z.discriminatedUnion('transport', [LOCAL, SSH], { error: () => 'must be local or ssh' });

/** BIRD's prefix sets, in a file for each list that its configuration includes. */
export const BIRD_DRIVER = defineRouterDriver({
  driver: 'bird',
  schema: OPTIONS,
  variants: [LOCAL, SSH],
  open: (options, context) => {
    const transport = transportTo(options, context);
    const { command_prefix: prefix = [], birdc, socket, directory, confirm_seconds: confirmSeconds } = options;
    const shell = createBirdShell(transport, { prefix, birdc, socket, directory, confirmSeconds }, context.clock);
    return createBirdDriver({ shell, directory, ids: context.ids, close: () => transport.close() });
  },
});

function transportTo(options: z.output<typeof OPTIONS>, { clock, secrets }: RouterContext): CommandTransport {
  if (options.transport === 'local') return createLocalTransport();
  return createSshTransport(createSshSession(sshTarget(options, secrets), clock, sshLimits(options)));
}
