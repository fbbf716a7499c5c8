import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entriesWithin, loadersIn, loadMilliseconds } from '../../../../src/adapters/routers/frr/frr-load-time.ts';

/** Seconds as measured on a quiet 2-core machine; the estimate has to be near, and grow in the same way. */
const MEASURED = [
  { majorVersion: 8, loaders: 1, adds: 300, deletes: 0, entriesBefore: 0, seconds: 1 },
  { majorVersion: 8, loaders: 2, adds: 1000, deletes: 0, entriesBefore: 0, seconds: 19 },
  { majorVersion: 8, loaders: 1, adds: 3000, deletes: 0, entriesBefore: 0, seconds: 60 },
  { majorVersion: 8, loaders: 1, adds: 10_000, deletes: 0, entriesBefore: 0, seconds: 687 },
  { majorVersion: 8, loaders: 2, adds: 10, deletes: 10, entriesBefore: 1000, seconds: 0.3 },
  { majorVersion: 10, loaders: 2, adds: 1000, deletes: 0, entriesBefore: 0, seconds: 0.4 },
  { majorVersion: 10, loaders: 2, adds: 10_000, deletes: 0, entriesBefore: 0, seconds: 4.5 },
  { majorVersion: 10, loaders: 2, adds: 50_000, deletes: 0, entriesBefore: 0, seconds: 47 },
  { majorVersion: 10, loaders: 2, adds: 100, deletes: 100, entriesBefore: 10_000, seconds: 0.6 },
  { majorVersion: 10, loaders: 2, adds: 0, deletes: 20_000, entriesBefore: 20_000, seconds: 41 },
];

for (const { majorVersion, loaders, seconds, ...plan } of MEASURED) {
  const what = `${plan.adds} adds and ${plan.deletes} deletes in a list of ${plan.entriesBefore}`;
  test(`FRR ${majorVersion}, ${loaders} daemons: ${what} take about ${seconds} s`, () => {
    const estimate = loadMilliseconds({ head: [], tail: [], ...plan }, { majorVersion, loaders }) / 1000;
    assert.ok(estimate > seconds / 1.8 && estimate < seconds * 1.8, `estimated ${estimate} s`);
  });
}

test('the daemons that load prefix-lists', () => {
  assert.is(loadersIn(' zebra bgpd watchfrr staticd'), 2);
  assert.is(loadersIn(' mgmtd zebra bgpd'), 2);
  assert.is(loadersIn(' bgpd'), 1);
  assert.is(loadersIn(''), 1);
});

for (const majorVersion of [8, 10]) {
  test(`FRR ${majorVersion}: as many new entries as a time has room for take that time`, () => {
    for (const entriesBefore of [0, 100, 5000]) {
      for (const milliseconds of [4000, 30_000]) {
        const adds = entriesWithin(milliseconds, entriesBefore, { majorVersion, loaders: 2 });
        const plan = { head: [], tail: [], deletes: 0, entriesBefore, adds };
        const needed = loadMilliseconds(plan, { majorVersion, loaders: 2 });
        assert.ok(needed <= milliseconds && needed > milliseconds * 0.9, `${adds} entries take ${needed} ms`);
      }
    }
    assert.is(entriesWithin(0, 100_000, { majorVersion, loaders: 2 }), 0);
  });
}

test.run();
