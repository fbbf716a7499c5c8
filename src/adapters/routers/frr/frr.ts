import { z } from 'zod';
import { createLocalTransport } from '../local-transport.ts';
import { defineRouterDriver, mustBe } from '../router-options.ts';
import { createFrrDriver } from './frr-driver.ts';
import { VTYSH_OPTIONS, vtyshPlace } from './frr-options.ts';
import { createFrrShell } from './frr-shell.ts';

const OPTIONS = z.strictObject({
  transport: z.enum(['local'], mustBe('local')).meta({ description: 'local: vtysh on this machine' }),
  ...VTYSH_OPTIONS,
});

/** FRR's prefix-lists, through vtysh. */
export const FRR_DRIVER = defineRouterDriver('frr', OPTIONS, (options, context) => {
  const transport = createLocalTransport();
  const { words, sockets } = vtyshPlace(options);
  const shell = createFrrShell(transport, {
    prefix: options.command_prefix ?? [],
    vtysh: words,
    sockets,
    daemon: options.daemon,
  });
  return createFrrDriver({
    shell,
    clock: context.clock,
    writeMemory: options.write_memory,
    close: () => transport.close(),
  });
});
