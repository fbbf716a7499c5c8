import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { epochMilliseconds } from '../../../src/domain/instants.ts';
import { projectedMilliseconds } from '../../../src/projections/worker-pools/usage-months.ts';

const HOUR = 3_600_000;
const at = epochMilliseconds;
const LONG_AGO = at('2020-01-01T00:00:00Z');

test('a month goes on as it went since its start', () => {
  // Ten of thirty days are over.
  assert.is(projectedMilliseconds(10 * HOUR, '2026-11', LONG_AGO, at('2026-11-11T00:00:00Z')), 30 * HOUR);
});

test('or since the pool was created', () => {
  const created = at('2026-11-21T00:00:00Z');
  // Five days used twenty hours; five more are left.
  assert.is(projectedMilliseconds(20 * HOUR, '2026-11', created, at('2026-11-26T00:00:00Z')), 40 * HOUR);
});

test('a month that is over comes to what was used; one to come, to nothing that is known', () => {
  assert.is(projectedMilliseconds(7 * HOUR, '2026-10', LONG_AGO, at('2026-11-11T00:00:00Z')), 7 * HOUR);
  assert.is(projectedMilliseconds(0, '2026-12', LONG_AGO, at('2026-11-11T00:00:00Z')), undefined);
});

test('at its first moment, or with a clock that was set back before the pool was created, it comes to what was used', () => {
  assert.is(projectedMilliseconds(0, '2026-11', LONG_AGO, at('2026-11-01T00:00:00Z')), 0);
  const created = at('2026-11-21T00:00:00Z');
  assert.is(projectedMilliseconds(5, '2026-11', created, at('2026-11-20T00:00:00Z')), 5);
});

test.run();
