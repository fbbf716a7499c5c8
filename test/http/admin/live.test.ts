import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openLive } from '../../../src/http/admin/live.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openTestApplication } from '../../support/test-application.ts';

const response = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

test('a page that does not read what is said to it is let go; others stay', async () => {
  const clock = createManualClock();
  const { log, store, close } = await openTestApplication(clock);
  const live = openLive({ store, reached: () => Promise.resolve(true), clock, log });
  const stop = new AbortController();
  const running = live.run(stop.signal);
  const now = clock.now();
  const session = {
    sessionId: 's1',
    account: 'ada',
    openedAt: now.toString(),
    until: now.add({ hours: 12 }).toString(),
  };
  const [stalled, other] = [response(), response()];
  for (const one of [stalled, other]) live.open(one, { topics: ['work'], session });
  while (!stalled.writableNeedDrain) stalled.write('x'.repeat(16_384));
  await clock.advance({ seconds: 21 });
  assert.equal([stalled.destroyed, other.destroyed], [true, false]);
  stop.abort();
  await running;
  await close();
});

test.run();
