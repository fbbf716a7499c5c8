import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BoundedMap } from '../../src/kernel/bounded-map.ts';

test('it never holds more than its limit, and drops the oldest first', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('c', 3);
  assert.is(map.size, 2);
  assert.is(map.get('a'), undefined);
  assert.is(map.get('b'), 2);
  assert.is(map.get('c'), 3);
});

test('what is read or written again is kept longer', () => {
  const map = new BoundedMap<string, number>(3);
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ] as const)
    map.set(key, value);
  map.get('a');
  map.set('b', 20);
  map.set('d', 4);
  assert.equal(
    [...map.entries()],
    [
      ['a', 1],
      ['b', 20],
      ['d', 4],
    ],
  );
});

test('what was deleted is gone and makes room', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.delete('a');
  map.delete('never there');
  map.set('c', 3);
  assert.equal(
    [...map.entries()],
    [
      ['b', 2],
      ['c', 3],
    ],
  );
});

test('a map of one entry holds the newest', () => {
  const map = new BoundedMap<string, number>(1);
  map.set('a', 1);
  map.set('b', 2);
  assert.equal([...map.entries()], [['b', 2]]);
});

test('it answers as a plain map that forgets; the key that was used last is never forgotten', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j');
  const step = fc.oneof(
    fc.record({ do: fc.constant('set' as const), key, value: fc.nat() }),
    fc.record({ do: fc.constant('get' as const), key }),
    fc.record({ do: fc.constant('delete' as const), key }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 80, size: 'max' }), (limit, steps) => {
      const map = new BoundedMap<string, number>(limit);
      const all = new Map<string, number>();
      let usesInOrder: string[] = [];
      for (const next of steps) {
        if (next.do === 'set') {
          map.set(next.key, next.value);
          all.set(next.key, next.value);
        }
        if (next.do === 'get') {
          const found = map.get(next.key);
          if (found !== undefined) assert.is(found, all.get(next.key));
        }
        if (next.do === 'delete') {
          map.delete(next.key);
          all.delete(next.key);
          assert.is(map.get(next.key), undefined);
        }
        usesInOrder = [...usesInOrder.filter((used) => used !== next.key), next.key];
        assert.ok(map.size <= limit);
        for (const [held, value] of map.entries()) assert.is(value, all.get(held));
        const last = usesInOrder.filter((used) => all.has(used)).at(-1);
        if (next.do === 'set' && last !== undefined) assert.is([...map.entries()].at(-1)?.[0], last);
      }
    }),
  );
});

test('once it is half full it drops exactly the least recently used', () => {
  const key = fc.nat(30);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), key), { maxLength: 100, size: 'max' }), (steps) => {
      const limit = 8;
      const map = new BoundedMap<number, number>(limit);
      let order = Array.from({ length: limit }, (_, at) => 100 + at);
      for (const at of order) map.set(at, at);
      for (const [isWrite, at] of steps) {
        if (isWrite) map.set(at, at);
        else map.get(at);
        if (!isWrite && !order.includes(at)) continue;
        order = [...order.filter((other) => other !== at), at].slice(-limit);
        assert.equal(
          [...map.entries()].map(([held]) => held),
          order,
        );
      }
    }),
  );
});

test.run();
