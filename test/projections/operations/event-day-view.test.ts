import { test } from 'uvu';
import { eventDayProjection } from '../../../src/projections/operations/event-day-view.ts';
import { recorded, specifyProjection } from '../../specification.ts';

const happened = (instant: string, position: bigint) =>
  recorded({ type: 'RegionCreated', data: {} }, instant, { position });

test('a day is shown by its first event, whatever follows', () => {
  const days = specifyProjection(eventDayProjection(['RegionCreated'])).given(
    happened('2026-11-27T12:00:00Z', 4n),
    happened('2026-11-27T23:59:59Z', 5n),
    happened('2026-11-28T00:00:00Z', 9n),
  );
  days.shows('2026-11-27', { position: '4' });
  days.shows('2026-11-28', { position: '9' });
  days.shows('2026-11-29', undefined);
});

test.run();
