import { suite, test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../src/adapters/clock.ts';
import type { RouterDriver } from '../../src/ports/routers.ts';
import { pushPrefixList } from '../../src/processes/ip-control/pushing/push-prefix-list.ts';
import { pushTogether } from '../../src/processes/ip-control/pushing/push-together.ts';
import { WantedList } from '../../src/processes/ip-control/pushing/wanted-list.ts';
import { ipv4Hosts, ipv6Sites, never } from '../contracts/router-driver.ts';
import { type LabBird, missingForBird, openBird, startBird } from '../support/routers/bird.ts';

const missing = missingForBird();
const LIST = 'Svc-LARGE-BLACKHOLE';
const HALF = 25_000;
/** The default of DEPLOY_TIMEOUT. */
const DEPLOY_MILLISECONDS = 30_000;

if (missing === undefined) {
  const large = suite<{ birds: LabBird[]; drivers: RouterDriver[] }>('50,000 prefixes on bird');

  large.before(async (context) => {
    context.birds = await Promise.all([startBird(), startBird()]);
    context.drivers = context.birds.map((bird) => openBird(bird));
  });
  large.after(async ({ birds, drivers }) => {
    for (const driver of drivers ?? []) await driver.close();
    for (const bird of birds ?? []) await bird.stop();
  });

  large('are pushed and read back within the time of a deployment, and so is a difference', async ({ drivers }) => {
    const [driver] = drivers;
    assert.ok(driver);
    for (const prefixes of [
      [...ipv4Hosts(HALF), ...ipv6Sites(HALF)],
      [...ipv4Hosts(HALF, 100), ...ipv6Sites(HALF, 100)],
    ]) {
      const push = {
        router: 'rs1',
        driver,
        list: LIST,
        wanted: WantedList.ofPrefixes(prefixes),
        timeoutMilliseconds: DEPLOY_MILLISECONDS,
      };
      const { outcome } = await pushPrefixList(push, systemClock, never);
      console.log(`${prefixes.length} prefixes: pushed and read back in ${outcome.milliseconds} ms`);
      assert.is(outcome.result, 'confirmed', outcome.because);
    }
  });

  large('are taken by two routers together', async ({ drivers }) => {
    const routers = drivers.map((driver, at) => ({ router: `rs${at + 1}`, driver }));
    const prefixes = [...ipv4Hosts(HALF, 200), ...ipv6Sites(HALF, 200)];
    const push = { routers, list: LIST, prefixes, last: () => [], timeoutMilliseconds: DEPLOY_MILLISECONDS };
    const { outcomes } = await pushTogether(push, systemClock, never);
    console.log(`${prefixes.length} prefixes on two routers together: ${outcomes[0]?.milliseconds} ms`);
    assert.ok(outcomes.every(({ result, together }) => result === 'confirmed' && together === 'prepared'));
    for (const driver of drivers) assert.equal(await driver.read(LIST, never), prefixes);
  });

  large.run();
} else {
  console.log(`skipped: 50,000 prefixes on bird, as this machine has no ${missing}`);
  test.skip('50,000 prefixes on bird');
}

test.run();
