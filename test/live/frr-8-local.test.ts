import { test } from 'uvu';
import { routerDriverContract } from '../contracts/router-driver.ts';
import { FRR_OF_THIS_MACHINE, missingForFrr, startFrr } from '../support/routers/frr.ts';
import { frrUnderTest, openFrr } from '../support/routers/frr-contract.ts';

const missing = missingForFrr();

if (missing === undefined) {
  routerDriverContract('router contract: frr, vtysh on this machine', async () => {
    const router = await startFrr(FRR_OF_THIS_MACHINE);
    return frrUnderTest(router, 400, () => openFrr(router));
  });
} else {
  console.log(`skipped: frr through a local vtysh, as this machine has no ${missing}`);
  test.skip('router contract: frr, vtysh on this machine');
}

test.run();
