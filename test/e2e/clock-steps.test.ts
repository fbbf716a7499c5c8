// A server under a clock that somebody sets back and forward, while it runs and while it is stopped: every change is on the router
// when its customer has been quiet, by the time that really passed, and not before.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { missingForSteps, openSteppedClock } from '../support/servers/stepped-clock.ts';
import { randomFrom } from '../support/random.ts';
import { waitUntil } from '../support/wait-until.ts';

const SEED = Number(process.env['E2E_SEED'] ?? Date.now() % 1_000_000);
const ROUNDS = 4;
const QUIET_MILLISECONDS = 2_000;
/** A busy machine may take so long for what is not waiting. */
const WORK_MILLISECONDS = 60_000;
const HOUR_SECONDS = 3_600;

if (missingForSteps !== undefined) {
  console.log(`skipped: this machine has no ${missingForSteps}`);
} else {
  test(`the clock is set, again and again (seed ${SEED})`, async () => {
    const random = randomFrom(SEED);
    const edgeward = await openEdgeward({ QUIET_PERIOD: 'PT2S', SCHEDULER_INTERVAL: 'PT0.2S', LOG_LEVEL: 'info' });
    const clock = openSteppedClock(edgeward);
    await addRegion(edgeward, 'ams');
    const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'ams']]);
    const router = join(edgeward.folder, 'ams/Svc-ACME-BLACKHOLE');
    const holds = (block: string): boolean => existsSync(router) && readFileSync(router, 'utf8').includes(`${block}\n`);
    const steps = (): number => Math.round((random() * 4 - 2) * HOUR_SECONDS);
    let running = await clock.serve(acme.token);
    try {
      // The case that was found: an hour back, and then the changes after it.
      for (const [round, offset] of [0, -HOUR_SECONDS, ...Array.from({ length: ROUNDS }, steps)].entries()) {
        const ip = `203.0.113.${2 * round + 1}`;
        const began = performance.now();
        assert.is((await running.api.post('/ips/disable', { ip })).status, 200);
        clock.set(offset);
        const isStopped = round > 1 && random() < 0.4;
        if (isStopped) {
          await running.stop();
          clock.set(offset + steps());
          running = await clock.serve(acme.token);
        }
        await waitUntil(
          `${ip} is on the router (round ${round}, clock ${offset}, stopped: ${isStopped})`,
          () => holds(`${ip}/32`),
          (QUIET_MILLISECONDS + WORK_MILLISECONDS) / 1000,
        );
        const sinceAsked = performance.now() - began;
        if (!isStopped) assert.ok(sinceAsked >= QUIET_MILLISECONDS, `round ${round}: after ${sinceAsked} ms already`);
      }
    } finally {
      await running.stop();
      await edgeward.remove();
    }
  });
}

test.run();
