import { test } from 'uvu';
import { routerDriverContract } from '../contracts/router-driver.ts';
import { startFrr } from '../support/routers/frr.ts';
import { frrUnderTest, openFrr } from '../support/routers/frr-contract.ts';
import { frrOfTrixie, missingForTrixie } from '../support/routers/trixie.ts';

const missing = missingForTrixie();

if (missing === undefined) {
  routerDriverContract('router contract: frr 10', async () => {
    const router = await startFrr(await frrOfTrixie());
    return frrUnderTest(router, 5000, () => openFrr(router));
  });
} else {
  console.log(`skipped: frr 10, as this machine has no ${missing}`);
  test.skip('router contract: frr 10');
}

test.run();
