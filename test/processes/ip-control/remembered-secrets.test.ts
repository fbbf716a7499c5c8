import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rememberedSecrets } from '../../../src/processes/ip-control/deliver-webhook.ts';

function given(stored: Map<string, string>) {
  let milliseconds = 0;
  let reads = 0;
  const secrets = rememberedSecrets(
    {
      get: async (id) => {
        reads += 1;
        if (id === 'damaged') throw new Error('others may read it');
        return stored.get(id);
      },
    },
    { monotonicMilliseconds: () => milliseconds },
  );
  return { get: secrets.get, reads: () => reads, pass: (passed: number) => (milliseconds += passed) };
}

test('a secret that was read a moment ago is not read again, by however many', async () => {
  const { get, reads, pass } = given(new Map([['a', '1']]));
  assert.equal(await Promise.all([get('a'), get('a')]), ['1', '1']);
  pass(999);
  assert.is(await get('a'), '1');
  assert.is(reads(), 1);
});

test('another value in its place is used after a second', async () => {
  const stored = new Map([['a', '1']]);
  const { get, pass } = given(stored);
  assert.is(await get('a'), '1');
  stored.set('a', '2');
  pass(1_000);
  assert.is(await get('a'), '2');
});

test('each has its own', async () => {
  const { get } = given(
    new Map([
      ['a', '1'],
      ['b', '2'],
    ]),
  );
  assert.equal(await Promise.all([get('a'), get('b'), get('a')]), ['1', '2', '1']);
});

test('one that is missing is looked for again at once', async () => {
  const stored = new Map<string, string>();
  const { get } = given(stored);
  assert.is(await get('a'), undefined);
  stored.set('a', '1');
  assert.is(await get('a'), '1');
});

test('a failure is told to everyone who asks, and not remembered', async () => {
  const { get, reads } = given(new Map());
  for (const time of [1, 2]) {
    await get('damaged').then(assert.unreachable, ({ message }) => assert.is(message, 'others may read it'));
    assert.is(reads(), time);
  }
});

test.run();
