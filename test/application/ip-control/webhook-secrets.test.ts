import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { newWebhookSecret } from '../../../src/application/ip-control/webhook-secrets.ts';

test('a secret is whsec_ and the base64 of 32 random bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const asked: number[] = [];
      const secret = newWebhookSecret((count) => {
        asked.push(count);
        return bytes;
      });
      assert.equal(asked, [32]);
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      assert.equal(new Uint8Array(Buffer.from(secret.slice(6), 'base64')), bytes);
    }),
  );
});

test('the reference library takes it', () => {
  const secret = newWebhookSecret(() => new Uint8Array(32).fill(7));
  assert.type(new Webhook(secret).sign('msg_1', new Date(0), '{}'), 'string');
});

test.run();
