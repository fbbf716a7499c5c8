import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dayOf, daysBefore, splitByDay } from '../../../src/domain/worker-pools/days.ts';

const DAY = 86_400_000;
const at = (text: string): number => Date.parse(text);

test('a run over midnight (UTC) falls into both days', () => {
  assert.equal(splitByDay(at('2026-11-27T23:00:00Z'), at('2026-11-28T02:00:00Z'), 31), [
    { day: '2026-11-27', milliseconds: DAY / 24 },
    { day: '2026-11-28', milliseconds: DAY / 12 },
  ]);
});

test('a run that ends at midnight has nothing of the day that begins', () => {
  assert.equal(splitByDay(at('2026-11-27T23:00:00Z'), at('2026-11-28T00:00:00Z'), 31), [
    { day: '2026-11-27', milliseconds: DAY / 24 },
  ]);
});

test('of a long run the last days are told', () => {
  const shares = splitByDay(at('2020-01-01T00:00:00Z'), at('2028-03-01T12:00:00Z'), 2);
  assert.equal(shares, [
    { day: '2028-02-29', milliseconds: DAY },
    { day: '2028-03-01', milliseconds: DAY / 2 },
  ]);
});

test('an end that is not after the start gives nothing', () => {
  for (const end of ['2026-11-28T00:00:00Z', '2026-11-27T00:00:00Z'])
    assert.equal(splitByDay(at('2026-11-28T00:00:00Z'), at(end), 31), []);
});

test('the days before an instant are all there, the oldest first', () => {
  assert.equal(daysBefore(at('2026-03-01T13:00:00Z'), 3), ['2026-02-27', '2026-02-28', '2026-03-01']);
});

test('the shares of any run add up to it, each within its day', () => {
  const instant = fc.integer({ min: 0, max: at('2100-01-01T00:00:00Z') });
  fc.assert(
    fc.property(instant, fc.integer({ min: 1, max: 30 * DAY }), (start, long) => {
      const shares = splitByDay(start, start + long, 31);
      assert.is(
        shares.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
        long,
      );
      assert.equal(
        shares.map(({ day }) => day),
        [...new Set(shares.map(({ day }) => day))].toSorted(),
      );
      assert.is(shares[0]?.day, dayOf(start));
    }),
  );
});

test.run();
