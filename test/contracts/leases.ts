import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../src/ports/event-store.ts';
import type { Lease, Leases } from '../../src/ports/leases.ts';

/** Leases that nobody holds. */
export type LeasesUnderTest = Readonly<{
  /** Opens them, each time as another process would. */
  open: (label: string) => Promise<Leases>;
  stop: () => Promise<void>;
}>;

type Context = { place: LeasesUnderTest; ann: Leases; bob: Leases };

/** What all leases do, whatever is behind them. */
export function leasesContract(name: string, start: () => Promise<LeasesUnderTest>): void {
  const test = suite<Context>(name);
  test.before.each(async (context) => {
    context.place = await start();
    context.ann = await context.place.open('ann');
    context.bob = await context.place.open('bob');
  });
  test.after.each(async ({ place, ann, bob }) => {
    await ann.close();
    await bob.close();
    await place.stop();
  });

  test('a lease that nobody holds can be taken', async ({ ann }) => {
    const lease = await taken(ann, 'server');
    assert.is(lease.name, 'server');
    assert.not.ok(lease.lost.aborted);
    assert.ok(lease.isHeld());
  });

  test('a lease that is held is refused to everyone, the holder included, and says who has it', async ({
    ann,
    bob,
  }) => {
    await taken(ann, 'server');
    for (const other of [bob, ann]) {
      const answer = await other.tryAcquire('server');
      assert.ok('heldBy' in answer);
      if ('heldBy' in answer) assert.match(answer.heldBy, /ann/);
    }
  });

  test('leases of different names do not touch each other', async ({ ann, bob }) => {
    await taken(ann, 'deploy-1');
    await taken(bob, 'deploy-2');
    await taken(bob, 'deploy-10');
  });

  test('a released lease can be taken by another; releasing again is harmless', async ({ ann, bob }) => {
    const lease = await taken(ann, 'server');
    await lease.release();
    assert.ok(lease.lost.aborted);
    assert.not.ok(lease.isHeld());
    await taken(bob, 'server');
    await lease.release();
    assert.ok('heldBy' in (await ann.tryAcquire('server')));
  });

  test('the fence grows with every holder, also when everyone was gone meanwhile', async ({ ann, bob, place }) => {
    const fences: bigint[] = [];
    const carl = await place.open('carl');
    for (const leases of [ann, bob, ann, carl]) {
      const lease = await taken(leases, 'server');
      fences.push(lease.fence);
      await lease.release();
    }
    await carl.close();
    for (let index = 1; index < fences.length; index += 1) {
      assert.ok((fences[index] ?? 0n) > (fences[index - 1] ?? 0n), fences.join());
    }
  });

  test('whoever waits gets the lease when it is released', async ({ ann, bob }) => {
    const lease = await taken(ann, 'server');
    let has = false;
    const waiting = bob.acquire('server', new AbortController().signal).then((taken_) => {
      has = true;
      return taken_;
    });
    assert.ok('heldBy' in (await bob.tryAcquire('server')));
    assert.not.ok(has);
    await lease.release();
    assert.ok((await waiting).fence > lease.fence);
  });

  test('of many that wait, one at a time has it', async ({ ann, bob }) => {
    let holders = 0;
    const work = async (leases: Leases): Promise<void> => {
      const lease = await leases.acquire('server', new AbortController().signal);
      holders += 1;
      assert.is(holders, 1);
      await new Promise((resolve) => void setImmediate(resolve));
      holders -= 1;
      await lease.release();
    };
    await Promise.all([ann, bob, ann, bob, ann].map(work));
  });

  test('waiting ends with the reason of its signal', async ({ ann, bob }) => {
    await taken(ann, 'server');
    const stop = new AbortController();
    const waiting = bob.acquire('server', stop.signal).catch((error: unknown) => error);
    const reason = new Error('shutting down');
    stop.abort(reason);
    assert.is(await waiting, reason);
    const late = await bob.acquire('free', AbortSignal.abort(reason)).catch((error: unknown) => error);
    assert.is(late, reason);
  });

  test('closing releases what is held, and takes no more', async ({ ann, bob }) => {
    const lease = await taken(ann, 'server');
    await ann.close();
    assert.ok(lease.lost.aborted);
    await taken(bob, 'server');
    assert.instance(await ann.tryAcquire('other').catch((error: unknown) => error), StoreUnavailable);
    await ann.close();
  });

  test.run();
}

async function taken(leases: Leases, name: string): Promise<Lease> {
  const lease = await leases.tryAcquire(name);
  if ('heldBy' in lease) throw new Error(`${name} is held by ${lease.heldBy}`);
  return lease;
}
