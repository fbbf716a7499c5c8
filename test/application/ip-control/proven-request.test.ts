import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openEvidenceFiles } from '../../../src/adapters/files/evidence.ts';
import { recordProven } from '../../../src/application/ip-control/proven-request.ts';
import { AppendInDoubt, AppendTooLarge, StoreUnavailable } from '../../../src/ports/event-store.ts';
import { putEvidence } from '../../contracts/evidence.ts';
import { filesBelow } from '../../support/files-below.ts';

const CUSTOMER = 7;

/** How many files there are after each of several uploads of the same bytes, of which something becomes. */
async function filesAfter(...outcomes: readonly (boolean | Error)[]): Promise<readonly number[]> {
  const directory = await mkdtemp(join(tmpdir(), 'edgeward-proven-'));
  try {
    const evidence = openEvidenceFiles(directory);
    const counts: number[] = [];
    for (const outcome of outcomes) {
      const stored = await putEvidence(evidence, CUSTOMER, Buffer.from('proof'));
      const recording = recordProven(stored, () =>
        outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve({ isNew: outcome }),
      );
      if (outcome instanceof Error) assert.is(await recording.catch((error: unknown) => error), outcome);
      else assert.equal(await recording, { isNew: outcome });
      counts.push((await filesBelow(directory)).length);
    }
    return counts;
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('what is recorded keeps its file, and what says the same again brings no other', async () => {
  assert.equal(await filesAfter(false, true, false), [0, 1, 1]);
});

test('where it is known that nothing was recorded nothing is left, however often that is tried', async () => {
  const away = new StoreUnavailable('the store is away');
  const tooLarge = new AppendTooLarge('customer-7', 2, 1);
  assert.equal(await filesAfter(away, away, tooLarge, true, away), [0, 0, 0, 1, 1]);
});

test('where that can’t be said the file stays, and its claim, until the next start has looked', async () => {
  assert.equal(await filesAfter(new AppendInDoubt('no answer')), [2]);
  assert.equal(await filesAfter(new Error('nobody knows')), [2]);
});

test.run();
