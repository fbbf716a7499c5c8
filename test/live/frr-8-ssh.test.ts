import { test } from 'uvu';
import { routerDriverContract } from '../contracts/router-driver.ts';
import { FRR_OF_THIS_MACHINE, missingForFrr, startFrr } from '../support/routers/frr.ts';
import { frrUnderTest, openFrr } from '../support/routers/frr-contract.ts';
import { missingForSshd, startSshd } from '../support/routers/sshd.ts';

const missing = missingForFrr() ?? missingForSshd();

if (missing === undefined) {
  routerDriverContract('router contract: frr over SSH', async () => {
    const router = await startFrr(FRR_OF_THIS_MACHINE);
    const sshd = await startSshd();
    const underTest = frrUnderTest(router, 150, () => openFrr(router, sshd.options));
    return {
      ...underTest,
      stop: async () => {
        await sshd.stop();
        await underTest.stop();
      },
    };
  });
} else {
  console.log(`skipped: frr over SSH, as this machine has no ${missing}`);
  test.skip('router contract: frr over SSH');
}

test.run();
