import { readdir } from 'node:fs/promises';
import { test } from 'uvu';
import { routerConnectionContract } from '../contracts/router-connection.ts';
import { FRR_OF_THIS_MACHINE, missingForFrr, startFrr } from '../support/routers/frr.ts';
import { openFrr } from '../support/routers/frr-contract.ts';
import { missingForSshd, startSshd } from '../support/routers/sshd.ts';
import { waitUntil } from '../support/wait-until.ts';

const missing = missingForFrr() ?? missingForSshd();

if (missing === undefined) {
  routerConnectionContract('router connection contract: frr over SSH', async () => {
    const router = await startFrr(FRR_OF_THIS_MACHINE);
    const sshd = await startSshd();
    const other = await startSshd();
    return {
      port: sshd.port,
      sshd,
      openThrough: (port) => openFrr(router, { ...sshd.options, port: String(port) }),
      withBadLogin: () => openFrr(router, { ...sshd.options, key: sshd.strangersKey }),
      withWrongHostKey: () => openFrr(router, { ...sshd.options, host_key: other.fingerprint }),
      isClean: async () => {
        await waitUntil('temporary files are gone', async () => (await readdir(sshd.temporary)).length === 0);
        return true;
      },
      stop: async () => {
        await other.stop();
        await sshd.stop();
        await router.stop();
      },
    };
  });
} else {
  console.log(`skipped: connections of frr over SSH, as this machine has no ${missing}`);
  test.skip('router connection contract: frr over SSH');
}

test.run();
