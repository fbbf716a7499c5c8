import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../src/adapters/clock.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { StoreUnavailable } from '../../../src/ports/event-store.ts';
import type { Lease, Leases } from '../../../src/ports/leases.ts';
import { startMongoServer } from '../../support/stores/ferretdb.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { failureOf, type Place, placeOn } from './opening.ts';

const server = await startMongoServer();
const test = suite<{ place: Place }>('leases in MongoDB, when a holder or the server is gone');
const leaseExpiryMilliseconds = 1_600;

/** Whoever has this clock never comes to renew: as good as dead. */
const stopped: Clock = { ...systemClock, wait: () => new Promise(() => undefined) };

if (server === undefined) test.skip('there is no server');
else {
  test.before.each(async (context) => {
    context.place = await placeOn(server);
  });
  test.after.each(({ place }) => place.stop());

  test('the lease of a dead holder is taken by whoever waits, with a higher fence; the dead can not give it away', async ({
    place,
  }) => {
    const dead = await place.open({ label: 'dead', clock: stopped, leaseExpiryMilliseconds });
    const living = await place.open({ label: 'living', leaseExpiryMilliseconds });
    const lost = await taken(dead.leases, 'projections');
    assert.ok('heldBy' in (await living.leases.tryAcquire('projections')));
    const won = await living.leases.acquire('projections', new AbortController().signal);
    assert.ok(won.fence > lost.fence);
    assert.not.ok(lost.isHeld(), 'known without being told');
    await lost.release();
    assert.ok('heldBy' in (await (await place.open()).leases.tryAcquire('projections')));
    assert.not.ok(won.lost.aborted);
  });

  test('a holder that lives keeps its lease for as long as it wants', async ({ place }) => {
    const holder = await place.open({ label: 'holder', leaseExpiryMilliseconds });
    const other = await place.open({ leaseExpiryMilliseconds });
    const lease = await taken(holder.leases, 'projections');
    const records = place.look.db().collection<{ _id: string; name: string; beat: bigint }>('leases');
    await waitUntil('renewed for several times the expiry', async () => {
      assert.ok('heldBy' in (await other.leases.tryAcquire('projections')));
      return ((await records.findOne({ name: 'projections' }))?.beat ?? 0n) >= 10n;
    });
    assert.not.ok(lease.lost.aborted);
  });

  test('a holder whose lease was taken all the same learns it with its next renewal', async ({ place }) => {
    const holder = await place.open({ label: 'holder', leaseExpiryMilliseconds });
    const lease = await taken(holder.leases, 'projections');
    await place.look.db().collection('leases').deleteMany({ name: 'projections' });
    await waitUntil('it learned', () => lease.lost.aborted);
    assert.match(String(lease.lost.reason), /another process has it/);
  });

  if (server.own) {
    test('a holder that can not renew stops before anyone else may begin; later all can be taken again', async ({
      place,
    }) => {
      const expiry = 4_000;
      const holder = await place.open({ leaseExpiryMilliseconds: expiry, patienceMilliseconds: 1_000 });
      const lease = await taken(holder.leases, 'projections');
      const since = performance.now();
      await server.kill();
      await waitUntil('it stopped', () => lease.lost.aborted);
      assert.ok(performance.now() - since < expiry, 'before it ran out');
      assert.instance(await failureOf(holder.leases.tryAcquire('other')), StoreUnavailable);
      await server.start();
      const again = await holder.leases.acquire('projections', new AbortController().signal);
      assert.ok(again.fence > lease.fence);
    });
  }
}

async function taken(leases: Leases, name: string): Promise<Lease> {
  const lease = await leases.tryAcquire(name);
  if ('heldBy' in lease) throw new Error(`${name} is held by ${lease.heldBy}`);
  return lease;
}

test.run();
