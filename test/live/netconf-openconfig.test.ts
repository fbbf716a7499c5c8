import { test } from 'uvu';
import { routerConnectionContract } from '../contracts/router-connection.ts';
import { routerDriverContract } from '../contracts/router-driver.ts';
import { missingForNetconfd, openNetconf, startNetconfd } from '../support/routers/netconfd.ts';
import { isSettled, netconfUnderTest } from '../support/routers/netconfd-contract.ts';
import { startSshd } from '../support/routers/sshd.ts';

const missing = missingForNetconfd();

if (missing === undefined) {
  routerDriverContract('router contract: openconfig', async () =>
    netconfUnderTest('openconfig', await startNetconfd(), 1000),
  );

  routerConnectionContract('router connection contract: openconfig', async () => {
    const netconfd = await startNetconfd();
    const other = await startSshd();
    const { sshd } = netconfd;
    return {
      port: sshd.port,
      sshd,
      openThrough: (port) => openNetconf('openconfig', netconfd, { port: String(port) }),
      withBadLogin: () => openNetconf('openconfig', netconfd, { key: sshd.strangersKey }),
      withWrongHostKey: () => openNetconf('openconfig', netconfd, { host_key: other.fingerprint }),
      isClean: () => isSettled(netconfd),
      stop: async () => {
        await other.stop();
        await netconfd.stop();
      },
    };
  });
} else {
  console.log(`skipped: openconfig, as this machine has no ${missing}`);
  test.skip('router contract: openconfig');
}

test.run();
