import { GridFSBucket } from 'mongodb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/ports/event-store.ts';
import { putEvidence, readEvidence, sha256Of } from '../../contracts/evidence.ts';
import { startMongoServer } from '../../support/stores/ferretdb.ts';
import { evidenceCount, failureOf, type Place, placeOn } from './opening.ts';

const server = await startMongoServer();
const test = suite<{ place: Place }>('evidence in GridFS, of several servers, and when one or the database is gone');

/** Several chunks, the last of them not full. */
const LARGE = Buffer.from(Array.from({ length: 700_001 }, (_, at) => (at * 31) % 251));
const everybody = async (): Promise<boolean> => true;
const nobody = async (): Promise<boolean> => false;

if (server === undefined) test.skip('there is no server');
else {
  test.before.each(async (context) => {
    context.place = await placeOn(server);
  });
  test.after.each(({ place }) => place.stop());

  test('a large file is what any tool for GridFS reads, by customer and SHA-256', async ({ place }) => {
    const { evidence } = await place.open();
    const stored = await putEvidence(evidence, 12, LARGE, 65_536);
    await stored.keep();
    assert.equal(await readEvidence(evidence, 12, sha256Of(LARGE)), LARGE);
    const bucket = new GridFSBucket(place.look.db(), { bucketName: 'evidence' });
    const pieces: Buffer[] = [];
    for await (const piece of bucket.openDownloadStreamByName(`12/${sha256Of(LARGE)}`)) pieces.push(piece);
    assert.equal(Buffer.concat(pieces), LARGE);
  });

  test('two servers that keep the same bytes at once keep one file', async ({ place }) => {
    const [one, other] = [(await place.open()).evidence, (await place.open()).evidence];
    const stored = await Promise.all([one, other, one, other].map((evidence) => putEvidence(evidence, 7, LARGE)));
    await Promise.all(stored.map(({ keep }) => keep()));
    assert.is(await evidenceCount(place.look), 1);
    assert.equal(await readEvidence(other, 7, sha256Of(LARGE)), LARGE);
  });

  test('a server that starts leaves alone what another has under way', async ({ place }) => {
    const [busy, starting] = [(await place.open()).evidence, (await place.open()).evidence];
    const draft = await busy.begin(7);
    await draft.write(LARGE);
    const undecided = await putEvidence(busy, 7, Buffer.from('decided in a moment'));
    await starting.recover(nobody);
    await undecided.keep();
    await (await draft.store()).keep();
    assert.equal(await readEvidence(starting, 7, sha256Of(LARGE)), LARGE);
    assert.is((await readEvidence(starting, 7, undecided.sha256))?.toString(), 'decided in a moment');
  });

  test('a file of which a part is missing is an error, wherever it is missing', async ({ place }) => {
    const { evidence } = await place.open();
    await (await putEvidence(evidence, 7, LARGE)).keep();
    const chunks = place.look.db().collection('evidence.chunks');
    for (const n of [2, 0]) {
      await chunks.deleteOne({ n });
      assert.match(String(await failureOf(readEvidence(evidence, 7, sha256Of(LARGE)))), /missing|bytes are there of/);
    }
  });

  test('whoever stops reading leaves nothing open', async ({ place }) => {
    const { evidence } = await place.open();
    await (await putEvidence(evidence, 7, LARGE)).keep();
    for (let reader = 0; reader < 50; reader += 1) {
      const pieces = await evidence.read({ customerId: 7, sha256: sha256Of(LARGE) });
      assert.ok(pieces);
      for await (const piece of pieces) {
        assert.ok(piece.length > 0);
        break;
      }
    }
    assert.equal(await readEvidence(evidence, 7, sha256Of(LARGE)), LARGE);
  });

  test('closed means unavailable', async ({ place }) => {
    const mongo = await place.open();
    await mongo.close();
    assert.instance(await failureOf(mongo.evidence.begin(7)), StoreUnavailable);
    assert.instance(await failureOf(mongo.evidence.read({ customerId: 7, sha256: sha256Of(LARGE) })), StoreUnavailable);
  });

  if (server.own) {
    test('a database that goes away in the middle makes the upload fail; nothing of it stays', async ({ place }) => {
      const { evidence } = await place.open({ patienceMilliseconds: 1_000 });
      const later = (await place.open({ abandonedMilliseconds: 0 })).evidence;
      const draft = await evidence.begin(7);
      await draft.write(LARGE);
      await server.kill();
      assert.instance(await failureOf(draft.write(LARGE)), StoreUnavailable);
      assert.instance(await failureOf(draft.store()), StoreUnavailable);
      await draft.discard();
      await server.start();
      await later.recover(everybody);
      assert.is(await evidenceCount(place.look), 0);
    });

    test('a file that is kept or released while the database is away is so later', async ({ place }) => {
      const { evidence } = await place.open({ patienceMilliseconds: 1_000 });
      const later = (await place.open({ abandonedMilliseconds: 0 })).evidence;
      const [kept, released] = [await putEvidence(evidence, 7, LARGE), await putEvidence(evidence, 8, LARGE)];
      await server.kill();
      await kept.keep();
      await released.release();
      await server.start();
      await later.recover(async ({ customerId }) => customerId === 7);
      assert.is(await evidenceCount(place.look), 1);
      assert.equal(await readEvidence(evidence, 7, sha256Of(LARGE)), LARGE);
    });
  }
}

test.run();
