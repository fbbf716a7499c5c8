import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { epochMilliseconds } from '../../../src/domain/instants.ts';
import { isMonth, monthBounds, monthOf, splitByMonth, withinMonth } from '../../../src/domain/worker-pools/months.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function split(from: string, to: string): Readonly<Record<string, number>> {
  const shares = splitByMonth(epochMilliseconds(from), epochMilliseconds(to));
  return Object.fromEntries(shares.map(({ month, milliseconds }) => [month, milliseconds]));
}

test('a run within a month is that month’s', () => {
  assert.equal(split('2026-11-27T20:50:00Z', '2026-11-27T21:50:00.001Z'), { '2026-11': HOUR + 1 });
});

test('a run over the end of a month is split at midnight UTC, to the millisecond', () => {
  assert.equal(split('2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00.002Z'), { '2026-10': 1, '2026-11': 2 });
  assert.equal(split('2026-12-31T23:00:00Z', '2027-01-01T02:00:00Z'), { '2026-12': HOUR, '2027-01': 2 * HOUR });
});

test('the end of a run that ends with its month is no part of the next', () => {
  assert.equal(split('2026-10-31T22:00:00Z', '2026-11-01T00:00:00Z'), { '2026-10': 2 * HOUR });
  assert.equal(split('2026-11-01T00:00:00Z', '2026-11-01T00:00:01Z'), { '2026-11': 1000 });
});

test('whole months have the lengths of the Gregorian calendar, leap February included', () => {
  assert.equal(split('2027-12-15T00:00:00Z', '2028-04-02T00:00:00Z'), {
    '2027-12': 17 * DAY,
    '2028-01': 31 * DAY,
    '2028-02': 29 * DAY,
    '2028-03': 31 * DAY,
    '2028-04': DAY,
  });
  assert.equal(split('2100-02-01T00:00:00Z', '2100-03-01T00:00:00Z'), { '2100-02': 28 * DAY });
  assert.equal(split('2000-02-01T00:00:00Z', '2000-03-01T00:00:00Z'), { '2000-02': 29 * DAY });
});

test('an offset in the text does not move the boundary', () => {
  assert.equal(split('2026-11-01T13:59:00+14:00', '2026-11-01T14:01:00+14:00'), {
    '2026-10': 60_000,
    '2026-11': 60_000,
  });
});

test('a run that ends before it began, by a clock that was set back, is no run', () => {
  assert.equal(splitByMonth(2_000, 1_000), []);
  assert.equal(splitByMonth(2_000, 2_000), []);
});

test('the host’s time zone changes nothing', () => {
  const before = process.env['TZ'];
  try {
    for (const zone of ['Pacific/Kiritimati', 'America/St_Johns', 'Europe/Berlin', 'UTC']) {
      process.env['TZ'] = zone;
      assert.equal(split('2026-10-31T23:30:00Z', '2026-11-01T00:30:00Z'), {
        '2026-10': HOUR / 2,
        '2026-11': HOUR / 2,
      });
      assert.is(monthOf(epochMilliseconds('2026-11-01T00:00:00Z')), '2026-11');
      assert.is(monthOf(epochMilliseconds('2026-10-31T23:59:59.999Z')), '2026-10');
    }
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});

test('the shares of any run add up to the run, month by month, none empty', () => {
  const instant = fc.integer({ min: 0, max: 4_102_444_800_000 });
  fc.assert(
    fc.property(instant, fc.integer({ min: 1, max: 400 * DAY }), (start, length) => {
      const shares = splitByMonth(start, start + length);
      assert.is(
        shares.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
        length,
      );
      let from = start;
      for (const { month, milliseconds } of shares) {
        assert.is(monthOf(from), month);
        assert.is(monthOf(from + milliseconds - 1), month);
        assert.is(withinMonth(start, start + length, month), milliseconds);
        from += milliseconds;
      }
    }),
  );
});

test('a month is written as four digits, a dash and two digits', () => {
  for (const month of ['2026-11', '2026-01', '0999-12']) assert.ok(isMonth(month), month);
  for (const text of ['2026-13', '2026-00', '2026-1', '26-11', '2026-11-01', '', '2026-11 '])
    assert.not.ok(isMonth(text), text);
  assert.equal(monthBounds('2026-11'), {
    start: epochMilliseconds('2026-11-01T00:00:00Z'),
    end: epochMilliseconds('2026-12-01T00:00:00Z'),
  });
});

test.run();
