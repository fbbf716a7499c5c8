import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { differences } from '../../../src/application/worker-pools/difference.ts';

test('records that say the same do not differ, whatever the order of their fields', () => {
  assert.equal(differences({ a: 1, b: { c: [1] } }, { b: { c: [1] }, a: 1 }), []);
});

test('each place that differs is named, as deep as both have the same shape', () => {
  const before = {
    limits: { most: 1, idle: 60 },
    list: ['a'],
    templates: [{ id: 'x', size: 1 }, { id: 'y' }],
    gone: 1,
  };
  const after = { limits: { most: 2, idle: 60 }, list: ['a', 'b'], templates: [{ id: 'x' }, { id: 'z' }], fresh: null };
  assert.equal(differences(before, after), [
    { path: 'limits.most', before: 1, after: 2 },
    { path: 'list', before: ['a'], after: ['a', 'b'] },
    { path: 'templates[0].size', before: 1 },
    { path: 'templates[1].id', before: 'y', after: 'z' },
    { path: 'gone', before: 1 },
    { path: 'fresh', after: null },
  ]);
});

test('nothing differs from itself', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(differences(value, structuredClone(value)), [])));
});

test.run();
