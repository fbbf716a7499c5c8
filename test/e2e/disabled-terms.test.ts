// What is disabled for a time, under a clock that somebody sets back and forward, on a server that is killed: each address is enabled when that
// time has really passed, and not before.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { missingForSteps, openSteppedClock } from '../support/servers/stepped-clock.ts';
import { randomFrom } from '../support/random.ts';
import { waitUntil } from '../support/wait-until.ts';

const SEED = Number(process.env['E2E_SEED'] ?? Date.now() % 1_000_000);
const ROUNDS = 4;
const TERM_MILLISECONDS = 3_000;
/** A busy machine may take so long for what is not waiting. */
const WORK_MILLISECONDS = 60_000;
const HOUR_SECONDS = 3_600;

if (missingForSteps !== undefined) {
  console.log(`skipped: this machine has no ${missingForSteps}`);
} else {
  test(`the clock is set and the server is killed, again and again (seed ${SEED})`, async () => {
    const random = randomFrom(SEED);
    const edgeward = await openEdgeward({ QUIET_PERIOD: 'PT1S', SCHEDULER_INTERVAL: 'PT0.2S', LOG_LEVEL: 'info' });
    const clock = openSteppedClock(edgeward);
    await addRegion(edgeward, 'ams');
    const acme = await addCustomer(edgeward, 'Acme', [['2001:db8::/48', 'ams']]);
    const [subnetId = 0] = acme.subnetIds;
    const steps = (): number => Math.round((random() * 4 - 2) * HOUR_SECONDS);
    let running = await clock.serve(acme.token);
    try {
      for (const [round, offset] of [
        0,
        -HOUR_SECONDS,
        HOUR_SECONDS,
        ...Array.from({ length: ROUNDS }, steps),
      ].entries()) {
        const cidr = `2001:db8:0:${(round + 1).toString(16)}::/64`;
        const isDisabled = async (): Promise<boolean> =>
          (await running.api.get(`/subnets/${subnetId}?view=ranges`)).text.includes(
            `"start":"2001:db8:0:${(round + 1).toString(16)}`,
          );
        const began = performance.now();
        const asked = await running.api.post('/ips/bulk', { action: 'disable', cidr, until: 'PT3S' });
        assert.is(asked.status, 200, asked.text);
        // Another's time is another.
        assert.is((await running.api.post('/ips/disable', { ip: '2001:db8:0:ffff::1', until: 'P1D' })).status, 200);
        clock.set(offset);
        const isKilled = round > 2 && random() < 0.5;
        if (isKilled) {
          await running.stop();
          // While it is down the clock is right: an instant that was written then is what it says.
          running = await clock.serve(acme.token);
        }
        await waitUntil(
          `${cidr} is enabled (round ${round}, clock ${offset}, killed: ${isKilled})`,
          async () => !(await isDisabled()),
          (TERM_MILLISECONDS + WORK_MILLISECONDS) / 1000,
        );
        const sinceAsked = performance.now() - began;
        if (!isKilled) assert.ok(sinceAsked >= TERM_MILLISECONDS, `round ${round}: after ${sinceAsked} ms already`);
      }
      assert.match(
        (await running.api.get(`/subnets/${subnetId}?view=ranges`)).text,
        '"start":"2001:db8:0:ffff::1","end":"2001:db8:0:ffff::1","status":"disabled"',
      );
    } finally {
      await running.stop();
      await edgeward.remove();
    }
  });
}

test.run();
