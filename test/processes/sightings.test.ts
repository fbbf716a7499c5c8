import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Sightings } from '../../src/processes/sightings.ts';
import { createManualClock } from '../support/manual-clock.ts';

const START = '2026-11-27T20:50:00.000+00:00';

test('what was there counts from its instant, what comes counts from when it comes', async () => {
  const clock = createManualClock(START);
  const sightings = new Sightings(clock);
  sightings.begin(5n);
  assert.is(sightings.since()({ position: 5, at: '2026-11-27T20:49:00.000+00:00' }), 60_000);
  assert.is(sightings.since()({ position: 4, at: '2026-11-27T21:50:00.000+00:00' }), 0);
  await clock.advance({ seconds: 10 });
  sightings.passed(8n);
  await clock.advance({ seconds: 10 });
  for (const at of ['2025-01-01T00:00:00.000+00:00', '2027-01-01T00:00:00.000+00:00']) {
    assert.is(sightings.since()({ position: 8, at }), 10_000);
    assert.is(sightings.since()({ position: 6, at }), 10_000);
    assert.is(sightings.since()({ position: 9, at }), 0, 'not told of yet');
  }
  assert.is(sightings.since()({ position: 4, at: '2026-11-27T21:50:00.000+00:00' }), 20_000);
});

test('an instant counts the same in whatever form it was recorded', () => {
  const sightings = new Sightings(createManualClock(START));
  sightings.begin(9n);
  const forms = [
    '2026-11-27T20:49:58.750+00:00',
    '2026-11-27T20:49:58.75Z',
    '2026-11-27T20:49:58.750999999Z',
    '2026-11-27T21:49:58.750+01:00',
    '20261127T204958.75Z',
  ];
  for (const [position, at] of forms.entries()) assert.is(sightings.since()({ position, at }), 1_250, at);
});

test('a log that is read again is no news', async () => {
  const clock = createManualClock(START);
  const sightings = new Sightings(clock);
  sightings.begin(0n);
  sightings.passed(3n);
  await clock.advance({ seconds: 10 });
  sightings.passed(1n);
  sightings.passed(3n);
  assert.is(sightings.since()({ position: 1, at: START }), 10_000);
  assert.is(sightings.since()({ position: 3, at: START }), 10_000);
});

test('however many are seen, each is told to a thousandth of its age, and never as older than it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(2_000), { minLength: 50, maxLength: 50 }), async (pauses) => {
      const clock = createManualClock(START);
      const sightings = new Sightings(clock);
      sightings.begin(0n);
      const seen: number[] = [0];
      for (let position = 1; position <= 20_000; position += 1) {
        if (position % 100 === 0) await clock.advance({ milliseconds: pauses[(position / 100) % 50] ?? 0 });
        sightings.passed(BigInt(position));
        seen.push(clock.monotonicMilliseconds());
      }
      const since = sightings.since();
      for (let position = 1; position <= 20_000; position += 37) {
        const age = clock.monotonicMilliseconds() - (seen[position] ?? 0);
        const told = since({ position, at: START });
        assert.ok(told <= age && told >= age * 0.999, `${position}: ${told} for ${age}`);
      }
    }),
    { numRuns: 10 },
  );
});

test.run();
