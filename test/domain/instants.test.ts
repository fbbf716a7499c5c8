import { Temporal } from '@js-temporal/polyfill';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { epochMilliseconds, exactText, instantText } from '../../src/domain/instants.ts';

const milliseconds = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
/** As instants are recorded, as the platform writes them, and in other forms of ISO 8601. */
const FORMS: readonly ((instant: Temporal.Instant) => string)[] = [
  (instant) => instant.toZonedDateTimeISO('UTC').toString({ fractionalSecondDigits: 3, timeZoneName: 'never' }),
  (instant) => new Date(instant.epochMilliseconds).toISOString(),
  (instant) => instant.toString(),
  (instant) => instant.toString({ smallestUnit: 'second' }),
  (instant) => instant.toString({ smallestUnit: 'microsecond' }),
  (instant) => instant.toString({ timeZone: '+05:30' }),
  (instant) => instant.toString().replace('T', ' ').toLowerCase(),
];

test('instants are read and written as Temporal does it, in whatever form', () => {
  fc.assert(
    fc.property(milliseconds, fc.constantFrom(...FORMS), (at, form) => {
      const text = form(Temporal.Instant.fromEpochMilliseconds(at));
      const instant = Temporal.Instant.from(text);
      assert.is(epochMilliseconds(text), instant.epochMilliseconds, text);
      assert.is(instantText(instant.epochMilliseconds), instant.toString(), text);
      const exact = instant.toString({ smallestUnit: 'second', timeZone: 'UTC' });
      assert.is(exactText(text), exact.replace('T', ' ').replace('+00:00', ' +00:00'), text);
    }),
  );
});

test('what Temporal refuses is refused', () => {
  for (const text of [
    '2026-02-30T00:00:00.000Z',
    '2026-04-31T00:00:00Z',
    '2026-11-27T24:00:00.000Z',
    '2026-11-27T23:60:00.000Z',
    '2026-13-01T00:00:00.000+00:00',
    '2026-11-27',
    '2026-11-27T00:00:00.000',
    'yesterday',
    '',
  ]) {
    assert.throws(() => Temporal.Instant.from(text), undefined, text);
    assert.throws(() => epochMilliseconds(text), undefined, text);
    assert.throws(() => exactText(text), undefined, text);
  }
});

test('a leap second is the second before it, as Temporal takes it', () => {
  const text = '2016-12-31T23:59:60.000Z';
  assert.is(epochMilliseconds(text), Temporal.Instant.from(text).epochMilliseconds);
  assert.is(exactText(text), '2016-12-31 23:59:59 +00:00');
});

test.run();
