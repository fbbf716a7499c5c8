import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PersistentMap } from '../../src/kernel/persistent-map.ts';

const id = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.integer({ min: 250, max: 260 }),
  fc.integer({ min: 1, max: 100_000 }),
);
const change = fc.record({ id, value: fc.option(fc.nat()) });

test('the empty map has nothing', () => {
  assert.is(new PersistentMap().size, 0);
  assert.is(new PersistentMap().get(1), undefined);
  assert.is(new PersistentMap().has(0), false);
  assert.equal([...new PersistentMap().values()], []);
});

test('it holds what a map would hold, in the order of the numbers', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60, size: 'max' }), (changes) => {
      const expected = new Map<number, number>();
      let map: PersistentMap<number> = new PersistentMap();
      for (const { id: at, value } of changes) {
        if (value === null) expected.delete(at);
        else expected.set(at, value);
        map = value === null ? map.without(at) : map.with(at, value);
        assert.is(map.size, expected.size);
        assert.is(map.get(at), expected.get(at));
        assert.is(map.has(at), expected.has(at));
      }
      const inOrder = [...expected].sort(([a], [b]) => a - b).map(([, value]) => value);
      assert.equal([...map.values()], inOrder);
      for (const [at, value] of expected) assert.is(map.get(at), value);
    }),
  );
});

test('a change leaves the map that it was made from as it was', () => {
  fc.assert(
    fc.property(fc.array(id, { maxLength: 20 }), id, (ids, at) => {
      let map: PersistentMap<string> = new PersistentMap();
      for (const one of ids) map = map.with(one, 'before');
      const before = [...map.values()];
      const { size } = map;
      map.with(at, 'after');
      map.without(at);
      assert.equal([...map.values()], before);
      assert.is(map.size, size);
      assert.is(map.get(at), ids.includes(at) ? 'before' : undefined);
    }),
  );
});

test('taking out what is not there gives the same map', () => {
  const map = new PersistentMap().with(3, 'three');
  assert.is(map.without(4), map);
  assert.is(map.without(900), map);
});

test.run();
