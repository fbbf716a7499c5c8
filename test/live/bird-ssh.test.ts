import { test } from 'uvu';
import { routerConnectionContract } from '../contracts/router-connection.ts';
import { routerDriverContract } from '../contracts/router-driver.ts';
import { birdUnderTest, missingForBird, openBird, startBird } from '../support/routers/bird.ts';
import { missingForSshd, startSshd } from '../support/routers/sshd.ts';
import { waitUntil } from '../support/wait-until.ts';

const missing = missingForBird() ?? missingForSshd();

if (missing === undefined) {
  routerDriverContract('router contract: bird over SSH', async () => {
    const bird = await startBird();
    const sshd = await startSshd();
    const underTest = birdUnderTest(bird, 50_000, () => openBird(bird, sshd.options));
    return {
      ...underTest,
      stop: async () => {
        await sshd.stop();
        await underTest.stop();
      },
    };
  });

  routerConnectionContract('router connection contract: bird over SSH', async () => {
    const bird = await startBird();
    const sshd = await startSshd();
    const other = await startSshd();
    return {
      port: sshd.port,
      sshd,
      openThrough: (port) => openBird(bird, { ...sshd.options, port: String(port) }),
      withBadLogin: () => openBird(bird, { ...sshd.options, key: sshd.strangersKey }),
      withWrongHostKey: () => openBird(bird, { ...sshd.options, host_key: other.fingerprint }),
      isClean: async () => {
        await waitUntil('nothing is left of the change', async () => (await bird.remains()).length === 0);
        return true;
      },
      stop: async () => {
        await other.stop();
        await sshd.stop();
        await bird.stop();
      },
    };
  });
} else {
  console.log(`skipped: bird over SSH, as this machine has no ${missing}`);
  test.skip('router contract: bird over SSH');
}

test.run();
