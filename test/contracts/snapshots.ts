import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NO_STREAM } from '../../src/ports/event-store.ts';
import type { Snapshot, Snapshots } from '../../src/ports/read-models.ts';

/** An empty store of snapshots. `reopen` opens the same one as another process would. */
export type SnapshotsUnderTest = Readonly<{
  snapshots: Snapshots;
  reopen: () => Promise<Snapshots>;
  stop: () => Promise<void>;
}>;

/** What every store of snapshots does. `updatesInOneStep`: the server that it is on does what its protocol promises of conditional updates. */
export function snapshotsContract(
  name: string,
  start: () => Promise<SnapshotsUnderTest>,
  updatesInOneStep = true,
): void {
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

  test('parts are deleted one by one, and those that are there are listed', async ({ snapshots, reopen }) => {
    assert.equal(await snapshots.partNames('customer-1'), []);
    const parts = ['a.9', 'b.9', 'A-_.10'].map((part) => [part, `text of ${part}`] as const);
    await snapshots.save('customer-1', snapshot(9n));
    await snapshots.saveParts('customer-1', 10n, new Map(parts));
    await snapshots.saveParts('customer-12', 9n, new Map([['c.9', 'of another']]));
    assert.equal([...(await snapshots.partNames('customer-1'))].toSorted(), ['A-_.10', 'a.9', 'b.9']);
    await snapshots.dropParts('customer-1', ['a.9', 'nothing', 'c.9']);
    for (const each of [snapshots, await reopen()]) {
      assert.equal([...(await each.partNames('customer-1'))].toSorted(), ['A-_.10', 'b.9']);
      assert.equal([...(await each.loadParts('customer-1', ['a.9', 'b.9']))], [['b.9', 'text of b.9']]);
      assert.equal(await each.partNames('customer-12'), ['c.9']);
      assert.equal(await each.load('customer-1'), snapshot(9n));
    }
  });

  for (const [size, json] of [
    ['small', '{}'],
    ['large', JSON.stringify('ü'.repeat(4_000_000))],
  ] as const) {
    test(`a ${size} snapshot takes the place of the one that it follows, and of no other`, async ({
      snapshots,
      reopen,
    }) => {
      assert.is(await snapshots.replace('customer-1', 4n, snapshot(5n, json)), false);
      assert.is(await snapshots.load('customer-1'), undefined);
      assert.is(await snapshots.replace('customer-1', NO_STREAM, snapshot(5n, json)), true);
      assert.is(await snapshots.replace('customer-1', NO_STREAM, snapshot(6n, json)), false);
      const other = await reopen();
      assert.is(await other.replace('customer-1', 5n, snapshot(9n, json)), true);
      assert.is(await snapshots.replace('customer-1', 5n, snapshot(10n, json)), false);
      assert.equal(await snapshots.load('customer-1'), snapshot(9n, json));
      // The same revision once more: it could not be used.
      assert.is(await snapshots.replace('customer-1', 9n, { ...snapshot(9n, json), version: 4 }), true);
      assert.equal(await other.load('customer-1'), { ...snapshot(9n, json), version: 4 });
    });
  }

  if (updatesInOneStep)
    test('of many that replace one snapshot at once one does', async ({ snapshots, reopen }) => {
      await snapshots.save('customer-1', snapshot(5n));
      const others = [snapshots, await reopen()];
      const revisions = [6n, 7n, 8n, 9n];
      const outcomes = await Promise.all(
        revisions.flatMap((revision) => others.map((each) => each.replace('customer-1', 5n, snapshot(revision)))),
      );
      assert.is(outcomes.filter(Boolean).length, 1);
      const taken = revisions[Math.floor(outcomes.indexOf(true) / others.length)];
      assert.is((await snapshots.load('customer-1'))?.revision, taken);
    });

  test.run();
}

function snapshot(revision: bigint, json = JSON.stringify({ revision: String(revision) })): Snapshot {
  return { version: 3, revision, hash: 'ab'.repeat(32), at: '2026-11-27T20:50:00.123+00:00', json };
}
