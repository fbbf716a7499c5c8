import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Snapshot, Snapshots } from '../../src/ports/read-models.ts';

/** An empty store of snapshots. `reopen` opens the same one as another process would. */
export type SnapshotsUnderTest = Readonly<{
  snapshots: Snapshots;
  reopen: () => Promise<Snapshots>;
  stop: () => Promise<void>;
}>;

/** What every store of snapshots does. */
export function snapshotsContract(name: string, start: () => Promise<SnapshotsUnderTest>): void {
  const test = suite<SnapshotsUnderTest>(name);
  test.before.each(async (context) => {
    Object.assign(context, await start());
  });
  test.after.each(({ stop }) => stop());

  test('a stream without a snapshot has none', async ({ snapshots }) => {
    assert.is(await snapshots.load('customer-1'), undefined);
  });

  test('a snapshot is what was saved last, also for others', async ({ snapshots, reopen }) => {
    await snapshots.save('customer-1', snapshot(999n));
    await snapshots.save('customer-2', snapshot(5n));
    await snapshots.save('customer-1', snapshot(9_007_199_254_740_993n));
    assert.equal(await snapshots.load('customer-1'), snapshot(9_007_199_254_740_993n));
    assert.equal(await (await reopen()).load('customer-1'), snapshot(9_007_199_254_740_993n));
    assert.equal(await snapshots.load('customer-2'), snapshot(5n));
    assert.is(await snapshots.load('customer'), undefined);
  });

  test('a large state is no trouble', async ({ snapshots }) => {
    const large = { ...snapshot(1n), json: JSON.stringify('ü'.repeat(4_000_000)) };
    await snapshots.save('customer-1', large);
    assert.equal(await snapshots.load('customer-1'), large);
  });

  test('parts of snapshots are kept by stream and name, also for others; what is missing is left out', async ({
    snapshots,
    reopen,
  }) => {
    await snapshots.save('customer-1', snapshot(9n));
    await snapshots.saveParts(
      'customer-1',
      9n,
      new Map([
        ['aB-_9', 'one'],
        ['b', 'two'],
      ]),
    );
    await snapshots.saveParts('customer-12', 9n, new Map([['b', 'of another']]));
    for (const each of [snapshots, await reopen()]) {
      const found = await each.loadParts('customer-1', ['b', 'nothing', 'aB-_9']);
      assert.equal(
        new Map(found),
        new Map([
          ['b', 'two'],
          ['aB-_9', 'one'],
        ]),
      );
      assert.equal(await each.load('customer-1'), snapshot(9n));
    }
  });

  test('parts are deleted one by one, and come again with a later snapshot', async ({ snapshots }) => {
    await snapshots.saveParts(
      'customer-1',
      9n,
      new Map([
        ['a', 'one'],
        ['b', 'two'],
      ]),
    );
    await snapshots.saveParts(
      'customer-1',
      10n,
      new Map([
        ['a', undefined],
        ['c', undefined],
      ]),
    );
    assert.equal([...(await snapshots.loadParts('customer-1', ['a', 'b']))], [['b', 'two']]);
    await snapshots.saveParts('customer-1', 11n, new Map([['a', 'one']]));
    assert.is((await snapshots.loadParts('customer-1', ['a', 'b'])).size, 2);
  });

  test.run();
}

function snapshot(revision: bigint): Snapshot {
  const json = JSON.stringify({ revision: String(revision) });
  return { version: 3, revision, hash: 'ab'.repeat(32), at: '2026-11-27T20:50:00.123+00:00', json };
}
