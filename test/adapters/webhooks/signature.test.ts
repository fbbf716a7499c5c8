import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { signatureOf, signingKey } from '../../../src/adapters/webhooks/webhook-sender.ts';

test('the example of the Standard Webhooks specification', () => {
  const key = signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
  assert.ok(key);
  const body = Buffer.from('{"test": 2432232314}');
  assert.is(
    signatureOf(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, body),
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('for every key, id, time and text, the signature is that of the reference library', () => {
  const keys = fc.uint8Array({ minLength: 24, maxLength: 64 });
  const times = fc.integer({ min: 0, max: 4_102_444_800 });
  fc.assert(
    fc.property(keys, fc.uuid(), times, fc.string({ unit: 'binary' }), (bytes, id, seconds, text) => {
      const secret = `whsec_${Buffer.from(bytes).toString('base64')}`;
      const key = signingKey(secret);
      assert.ok(key);
      const expected = new Webhook(secret).sign(id, new Date(seconds * 1000), text);
      assert.is(signatureOf(key, id, seconds, Buffer.from(text)), expected);
    }),
  );
});

test.run();
