import { EventEmitter, on, once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import { openLive } from '../../../src/http/admin/live.ts';
import type { Topic } from '../../../src/http/admin/topics.ts';
import { disabled, released } from '../../commands/ip-control/customer-examples.ts';
import { approved, rejected, removed, submitted } from '../../commands/ip-control/source-whitelist-examples.ts';
import { recordedInOrder } from '../../specification.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openTestApplication } from '../../support/test-application.ts';

const response = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

test('a page that does not read what is said to it is let go; others stay', async () => {
  const clock = createManualClock();
  const { log, store, close } = await openTestApplication(clock);
  const live = openLive({ store, reached: () => Promise.resolve(true), position: () => store.end(), clock, log });
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

/** What so many pages that follow these topics hear after an event of a customer, each with the milliseconds until then. */
async function heardAfter(event: CustomerEvent, topics: readonly Topic[], pages: number) {
  const clock = createManualClock();
  const { log, store: empty, close } = await openTestApplication(clock);
  const page = recordedInOrder([event], clock.now().toString(), 0, 'customer-1');
  const store = {
    end: () => empty.end(),
    readAll: (after: bigint) => empty.readAll(after),
    async *follow(_after: bigint, signal: AbortSignal) {
      yield page;
      await once(signal, 'abort');
    },
  };
  const live = openLive({ store, reached: () => Promise.resolve(true), position: () => store.end(), clock, log });
  const stop = new AbortController();
  const heard: Readonly<{ topic: string; at: number }>[] = [];
  for (let at = 0; at < pages; at += 1) {
    const looked = response();
    const hear = (text: string): void => {
      const topic = /^event: changed\ndata: (.*)\n\n$/.exec(text)?.[1];
      if (topic !== undefined) heard.push({ topic, at: clock.monotonicMilliseconds() });
    };
    Object.defineProperty(looked, 'write', { value: hear });
    const session = {
      sessionId: `s${at}`,
      account: 'ada',
      openedAt: clock.now().toString(),
      until: '2100-01-01T00:00:00Z',
    };
    live.open(looked, { topics, session });
  }
  const running = live.run(stop.signal);
  for (let turns = 0; turns < 10; turns += 1) await clock.advance({ seconds: 1 });
  stop.abort();
  await running;
  await close();
  return heard;
}

async function rungBy(event: CustomerEvent, topics: readonly Topic[]): Promise<readonly string[]> {
  return (await heardAfter(event, topics, 1)).map(({ topic }) => topic);
}

test('pages that are open at once are rung one after the other, and customers are answered between them', async () => {
  const heard = await heardAfter(disabled(['192.0.2.7']), ['work'], 50);
  assert.is(heard.length, 50, 'each is rung');
  assert.is(new Set(heard.map(({ at }) => at)).size, 50, 'and alone');
});

test('whatever changes what waits for routers rings those who look at the work', async () => {
  for (const event of [
    disabled(['192.0.2.7']),
    released(1, '192.0.2.0/24', ['192.0.2.7']),
    submitted('192.31.196.7', {}, true),
    approved(),
    removed(),
  ])
    assert.equal(await rungBy(event, ['work']), ['work'], event.type);
});

test('a rejected whitelist request waits for nothing more', async () => {
  assert.equal(await rungBy(rejected(), ['work', 'review']), ['review']);
});

/** One page over a log whose events are written, and can be read, when a test says so. */
async function openOnePage() {
  const clock = createManualClock();
  const { log, close } = await openTestApplication(clock);
  const events = recordedInOrder(
    [disabled(['192.0.2.7']), submitted('192.31.196.7', {}, true)],
    clock.now().toString(),
  );
  const [first, second] = events;
  assert.ok(first !== undefined && second !== undefined);
  const written = new EventEmitter();
  const store = {
    end: () => Promise.resolve(-1n),
    async *readAll() {
      // Nothing was written before.
    },
    async *follow(_after: bigint, signal: AbortSignal) {
      for await (const [page] of on(written, 'page', { signal })) yield page;
    },
  };
  let readable = -1n;
  const reached = (position: bigint): Promise<boolean> => Promise.resolve(position <= readable);
  const live = openLive({ store, reached, position: () => Promise.resolve(readable), clock, log });
  const stop = new AbortController();
  const running = live.run(stop.signal);
  const heard: string[] = [];
  const looked = response();
  const hear = (text: string): void => {
    const [, event, topic = ''] = /^event: (\w+)\ndata: ?(.*)\n\n$/.exec(text) ?? [];
    if (event !== undefined) heard.push(`${event} ${topic}`.trim());
  };
  Object.defineProperty(looked, 'write', { value: hear });
  const session = { sessionId: 's', account: 'ada', openedAt: clock.now().toString(), until: '2100-01-01T00:00:00Z' };
  await clock.advance({ seconds: 2 });
  return {
    first,
    second,
    heard,
    live,
    open: (topics: readonly Topic[], since?: bigint) => live.open(looked, { topics, session, since }),
    write: async (event: RecordedEvent) => {
      written.emit('page', [event]);
      await clock.advance({ milliseconds: 0 });
    },
    setReadable: (position: bigint) => void (readable = position),
    pass: () => clock.advance({ seconds: 5 }),
    close: async () => {
      stop.abort();
      await running;
      await close();
    },
  };
}

test('what has happened is rung once it can be read, however long that takes; a stream is open then, too', async () => {
  const { first, heard, open, write, setReadable, pass, close } = await openOnePage();
  open(['work'], -1n);
  await pass();
  assert.equal(heard, ['open']);
  await write(first);
  await pass();
  assert.equal(heard, ['open']);
  setReadable(first.position);
  await pass();
  await pass();
  assert.equal(heard, ['open', 'changed work']);
  await close();
});

test('a stream without a position is open when what this server has read can be read by the page', async () => {
  const { first, heard, open, write, setReadable, pass, close } = await openOnePage();
  await write(first);
  open(['work']);
  await pass();
  assert.equal(heard, []);
  setReadable(first.position);
  await pass();
  assert.equal(heard, ['open'], 'the page fetches its parts now');
  await close();
});

test('what another server has shown is not rung when this one reads it', async () => {
  const { first, second, heard, open, write, setReadable, pass, close } = await openOnePage();
  open(['work', 'review'], first.position);
  setReadable(second.position);
  await write(first);
  await pass();
  assert.equal(heard, ['open']);
  await write(second);
  await pass();
  assert.equal(heard, ['open', 'changed work', 'changed review']);
  await close();
});

test('a page is made from no later position than its follower has read, which holds its newest events', async () => {
  const { first, live, write, setReadable, close } = await openOnePage();
  setReadable(first.position);
  assert.is(await live.position(), -1n);
  await write(first);
  assert.is(await live.position(), first.position);
  setReadable(-1n);
  assert.is(await live.position(), -1n);
  await close();
});

test.run();
