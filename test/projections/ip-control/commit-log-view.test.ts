import { test } from 'uvu';
import { newestFirst } from '../../../src/projections/engine/newest-first.ts';
import { commitLogProjection } from '../../../src/projections/ip-control/commit-log-view.ts';
import * as assert from 'uvu/assert';
import { recorded, specifyProjection } from '../../specification.ts';

type Shown = Parameters<typeof commitLogProjection.keysOf>[0];

const requested = (commitSetId: string, position: bigint, attempt = 1, regionId = 1): Shown =>
  recorded(
    { type: 'CommitRequested', data: { commitSetId, regionId, list: 'BLACKHOLE', attempt, reason: 'quiet' } },
    '2026-11-27T12:00:00Z',
    { position },
  );

test('a commit set is among all, those of its customer and those of its region, where it was requested first', () => {
  const log = specifyProjection(commitLogProjection).given(
    requested('c1', 5n),
    requested('c1', 9n, 2),
    requested('c2', 12n),
  );
  for (const scope of ['all', 'customer/7', 'region/1']) {
    log.shows(`${scope}/9999999999999999994`, { commitSetId: 'c1' });
    log.shows(`${scope}/9999999999999999990`, undefined);
    log.shows(`${scope}/9999999999999999987`, { commitSetId: 'c2' });
  }
  log.shows('region/2/9999999999999999994', undefined);
});

test('the later an event is in the log, the earlier its key, up to the last position that a log can have', () => {
  const positions = [0n, 1n, 9n, 10n, 1_000_000n, 2n ** 53n, 2n ** 63n - 1n];
  const keys = positions.map(newestFirst);
  assert.equal(keys.toSorted(), keys.toReversed());
  assert.ok(keys.every((key) => key.length === 19));
});

test.run();
