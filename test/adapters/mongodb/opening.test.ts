import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreRefused, type StoreRefusedCode } from '../../../src/ports/store-refused.ts';
import { startMongoServer } from '../../support/stores/ferretdb.ts';
import { failureOf, placeOn } from './opening.ts';

const server = await startMongoServer();
const test = suite('opening MongoDB');

if (server === undefined) test.skip('there is no server');
else {
  test('a URL that is none is refused with what would be right, and shows no password', async () => {
    const place = await placeOn(server);
    for (const url of [
      'http://host',
      'mongodb://',
      'mongodb://user:changeit@host:port',
      'mongodb://user:changeit@host/?nonsense=1',
    ]) {
      await assertRefused(place.open({ url }), 'bad-url', /READ_MODEL_URL.*mongodb:\/\/host:27017/);
    }
    await place.stop();
  });

  test('a host that is not there is unreachable, within the patience', async () => {
    const place = await placeOn(server);
    const url = 'mongodb://user:changeit@127.0.0.1:1/edgeward';
    await assertRefused(
      place.open({ url, patienceMilliseconds: 500 }),
      'unreachable',
      /127\.0\.0\.1:1 can't be reached/,
    );
    await place.stop();
  });

  test('what a newer edgeward has written is left alone', async () => {
    const place = await placeOn(server);
    await (await place.open()).close();
    await place.look
      .db()
      .collection<{ _id: string }>('about')
      .updateOne({ _id: 'edgeward' }, { $set: { layout: 99 } });
    await assertRefused(place.open(), 'unsupported', /newer edgeward \(layout 99/);
    await place.stop();
  });
}

async function assertRefused(opening: Promise<unknown>, code: StoreRefusedCode, message: RegExp): Promise<void> {
  const refused = await failureOf(opening);
  assert.instance(refused, StoreRefused, String(refused));
  if (!(refused instanceof StoreRefused)) return;
  assert.is(refused.code, code, refused.message);
  assert.match(refused.message, message);
  assert.not.match(refused.message, /changeit|\n/);
}

test.run();
