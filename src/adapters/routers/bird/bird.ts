import { z } from 'zod';
import { defineRouterDriver, MAX_ENTRIES_OPTION, mustBe, type RouterContext } from '../driver-kit/router-options.ts';
import { createLocalTransport } from '../shell/local-transport.ts';
import type { CommandTransport } from '../shell/remote-command.ts';
import { absolutePath, COMMAND_PREFIX_OPTION, word } from '../shell/shell-options.ts';
import { refuseLoginProblems, SSH_OPTIONS, sshLimits, sshTarget } from '../ssh/ssh-options.ts';
import { createSshSession, createSshTransport } from '../ssh/ssh-session.ts';
import { createBirdDriver } from './bird-driver.ts';
import { createBirdShell } from './bird-shell.ts';

const SECONDS = 'a number of seconds from 5 to 600';

/** How BIRD is found on the router. */
const BIRDC_OPTIONS = {
  max_entries: MAX_ENTRIES_OPTION,
  directory: absolutePath('an absolute path').default('/etc/bird/edgeward').meta({
    description: 'directory of the lists (/etc/bird/edgeward); bird.conf must have include "<directory>/*.conf";',
    reach: 'machine',
  }),
  socket: absolutePath('an absolute path')
    .default('/run/bird/bird.ctl')
    .meta({ description: "BIRD's control socket (/run/bird/bird.ctl)", reach: 'machine' }),
  birdc: word('the path of birdc, without blanks', /^[A-Za-z0-9_./][^\s\0]*$/)
    .default('birdc')
    .meta({ description: 'path of birdc on the router', reach: 'machine' }),
  command_prefix: COMMAND_PREFIX_OPTION,
  confirm_seconds: word(SECONDS, /^[1-9]\d{0,2}$/)
    .transform(Number)
    .refine((seconds) => seconds >= 5 && seconds <= 600, mustBe(SECONDS))
    .default(60)
    .meta({ description: 'BIRD goes back by itself when a change is not confirmed within so many seconds (60)' }),
};

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
  here: { option: 'transport', value: 'local' },
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
