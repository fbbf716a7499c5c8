import { test } from 'uvu';
import { routerDriverContract } from '../contracts/router-driver.ts';
import { birdUnderTest, missingForBird, openBird, startBird } from '../support/routers/bird.ts';

const missing = missingForBird();

if (missing === undefined) {
  routerDriverContract('router contract: bird, birdc on this machine', async () => {
    const bird = await startBird();
    return birdUnderTest(bird, 50_000, () => openBird(bird));
  });
} else {
  console.log(`skipped: bird through a local birdc, as this machine has no ${missing}`);
  test.skip('router contract: bird, birdc on this machine');
}

test.run();
