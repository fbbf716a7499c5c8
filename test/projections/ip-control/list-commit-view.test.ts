import { test } from 'uvu';
import { listCommitProjection } from '../../../src/projections/ip-control/list-commit-view.ts';
import { recorded, specifyProjection } from '../../specification.ts';

type Shown = Parameters<typeof listCommitProjection.keysOf>[0];

const requested = (commitSetId: string, { attempt = 1, regionId = 1 } = {}): Shown =>
  recorded(
    { type: 'CommitRequested', data: { commitSetId, regionId, list: 'BLACKHOLE', attempt, reason: 'quiet' } },
    '2026-11-27T12:00:00Z',
  );

const list = { customerId: 7, regionId: 1, list: 'BLACKHOLE' } as const;
const OF_LIST = ['customer/7/000000000000001/BLACKHOLE', 'region/1/000000000000007/BLACKHOLE'];

test('a list has its newest commit set and the one before it, for its customer as for its region', () => {
  const first = specifyProjection(listCommitProjection).given(requested('c1'));
  for (const key of OF_LIST) first.shows(key, { ...list, commitSetId: 'c1', before: null });
  const second = specifyProjection(listCommitProjection).given(requested('c1'), requested('c2'));
  for (const key of OF_LIST) second.shows(key, { ...list, commitSetId: 'c2', before: 'c1' });
});

test('another attempt is of the same commit set, and another region another list', () => {
  const log = specifyProjection(listCommitProjection).given(
    requested('c1'),
    requested('c1', { attempt: 2 }),
    requested('c2', { regionId: 2 }),
  );
  for (const key of OF_LIST) log.shows(key, { ...list, commitSetId: 'c1', before: null });
  log.shows('region/2/000000000000007/BLACKHOLE', { ...list, regionId: 2, commitSetId: 'c2', before: null });
});

test.run();
