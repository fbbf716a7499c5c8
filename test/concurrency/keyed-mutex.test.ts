import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createKeyedMutex, listTurn, regionTurn } from '../../src/concurrency/keyed-mutex.ts';

const never = new AbortController().signal;

/** A work that goes on when it is told to. */
function held() {
  const gate = new AbortController();
  const open = new Promise<void>((resolve) => gate.signal.addEventListener('abort', () => resolve()));
  return { work: () => open, goOn: () => gate.abort() };
}

test('works on one list come one after another, in order; others do not wait', async () => {
  const turns = createKeyedMutex();
  const order: string[] = [];
  const first = held();
  const list = listTurn(1, 'Svc-A', 'core1');
  const works = [
    turns.take(list, never, async () => {
      await first.work();
      order.push('first');
    }),
    turns.take(list, never, async () => void order.push('second')),
    turns.take(listTurn(2, 'Svc-A', 'core1'), never, async () => void order.push('elsewhere')),
    turns.take(regionTurn(1), never, async () => void order.push('the region')),
  ];
  await Promise.all(works.slice(2));
  first.goOn();
  await Promise.all(works);
  assert.equal(order, ['elsewhere', 'the region', 'first', 'second']);
});

test('a work that fails makes room for the next', async () => {
  const turns = createKeyedMutex();
  const failing = turns.take('a', never, () => Promise.reject(new Error('no')));
  const next = turns.take('a', never, async () => 'yes');
  assert.is(await failing.catch((error: unknown) => Object(error).message), 'no');
  assert.is(await next, 'yes');
});

test('whoever gives up while it waits does not begin, and lets nobody by', async () => {
  const turns = createKeyedMutex();
  const order: string[] = [];
  const first = held();
  const stop = new AbortController();
  const running = turns.take('a', never, async () => {
    await first.work();
    order.push('first');
  });
  const waiting = turns.take('a', stop.signal, async () => void order.push('given up'));
  const last = turns.take('a', never, async () => void order.push('last'));
  stop.abort('enough');
  assert.is(await waiting.catch((reason: unknown) => reason), 'enough');
  assert.equal(order, []);
  first.goOn();
  await Promise.all([running, last]);
  assert.equal(order, ['first', 'last']);
});

test.run();
