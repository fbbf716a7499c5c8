// A server under a clock that somebody sets back and forward, while it runs and while it is stopped: every change is on the router
// when its customer has been quiet, by the time that really passed, and not before.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../support/http/api-client.ts';
import { killed } from '../support/servers/bound-process.ts';
import { addCustomer, addRegion, type EdgewardProcess, openEdgeward } from '../support/servers/edgeward-server.ts';
import { randomFrom } from '../support/random.ts';
import { waitUntil } from '../support/wait-until.ts';

const SEED = Number(process.env['E2E_SEED'] ?? Date.now() % 1_000_000);
const ROUNDS = 4;
const QUIET_MILLISECONDS = 2_000;
/** A busy machine may take so long for what is not waiting. */
const WORK_MILLISECONDS = 10_000;
const HOUR_SECONDS = 3_600;
/** Lies about the wall clock of a process, by as many seconds as a file says. */
const FAKETIME = ['x86_64', 'aarch64']
  .map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`)
  .find(existsSync);

if (FAKETIME === undefined) {
  console.log('skipped: libfaketime is not installed (Debian: apt-get install faketime)');
} else {
  const library = FAKETIME;

  test(`the clock is set, again and again (seed ${SEED})`, async () => {
    const random = randomFrom(SEED);
    const edgeward = await openEdgeward({ QUIET_PERIOD: 'PT2S', SCHEDULER_INTERVAL: 'PT0.2S', LOG_LEVEL: 'info' });
    const clock = join(edgeward.folder, 'clock');
    const setClock = (seconds: number): void => writeFileSync(clock, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    const start = async (): Promise<Readonly<{ process: EdgewardProcess; api: ReturnType<typeof openApiClient> }>> => {
      const process = await edgeward.spawn(['serve'], {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      });
      return { process, api: openApiClient(await process.listening(), acme.token) };
    };
    const stop = async ({ process, api }: Awaited<ReturnType<typeof start>>): Promise<void> => {
      await api.close();
      await killed(process.child);
    };
    await addRegion(edgeward, 'ams');
    const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'ams']]);
    const router = join(edgeward.folder, 'ams/Svc-ACME-BLACKHOLE');
    const holds = (block: string): boolean => existsSync(router) && readFileSync(router, 'utf8').includes(`${block}\n`);
    const steps = (): number => Math.round((random() * 4 - 2) * HOUR_SECONDS);
    setClock(0);
    let running = await start();
    try {
      // The case that was found: an hour back, and then the changes after it.
      for (const [round, offset] of [0, -HOUR_SECONDS, ...Array.from({ length: ROUNDS }, steps)].entries()) {
        const ip = `203.0.113.${2 * round + 1}`;
        const began = performance.now();
        assert.is((await running.api.post('/ips/disable', { ip })).status, 200);
        setClock(offset);
        const isStopped = round > 1 && random() < 0.4;
        let from = performance.now();
        if (isStopped) {
          await stop(running);
          setClock(offset + steps());
          running = await start();
          from = performance.now();
        }
        await waitUntil(
          `${ip} is on the router (round ${round}, clock ${offset}, stopped: ${isStopped})`,
          () => holds(`${ip}/32`),
          (QUIET_MILLISECONDS + WORK_MILLISECONDS) / 1000,
        );
        const [waited, sinceAsked] = [performance.now() - from, performance.now() - began];
        assert.ok(waited <= QUIET_MILLISECONDS + WORK_MILLISECONDS, `round ${round}: after ${waited} ms`);
        if (!isStopped) assert.ok(sinceAsked >= QUIET_MILLISECONDS, `round ${round}: after ${sinceAsked} ms already`);
      }
    } finally {
      await stop(running);
      await edgeward.remove();
    }
  });
}

test.run();
