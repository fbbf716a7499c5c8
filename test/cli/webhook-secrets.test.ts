import { readdirSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Temporal } from '@js-temporal/polyfill';
import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const received: Readonly<{ headers: IncomingHttpHeaders; body: string }>[] = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.once('end', () => {
    received.push({ headers: request.headers, body });
    response.writeHead(204).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const { port } = receiver.address() as AddressInfo;

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const url = ['--webhook-url', `http://127.0.0.1:${port}/hook`];
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']], url);
const api = openApiClient(await edgeward.serve(), acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
  receiver.close();
});

const SECRET = /^webhook secret \(shown once\): (whsec_\S+)$/m;
const UNTIL = /^the one before it signs too until (\S+\+00:00), or --immediately$/m;

/** The names of the customer's secrets in the secret store. */
function stored(): readonly string[] {
  return readdirSync(join(edgeward.dataDir, 'secrets')).filter((name) => name.startsWith(`webhook-${acme.id}-`));
}

async function update(...options: readonly string[]): Promise<string> {
  const { exitCode, out, err } = await edgeward.command('customer', 'update', 'Acme', ...options);
  assert.is(exitCode, 0, err);
  return out;
}

/** Whether each of these secrets verifies the next delivery. */
async function verifiedBy(ip: string, ...secrets: readonly string[]): Promise<readonly boolean[]> {
  const before = received.length;
  await api.post('/ips/disable', { ip });
  await edgeward.json('commit', 'run', 'Acme', 'eu-west');
  await waitUntil('the delivery', () => received.length > before);
  const { headers, body } = received.at(-1) ?? { headers: {}, body: '' };
  const signed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return secrets.map((secret) => {
    try {
      new Webhook(secret).verify(body, signed);
      return true;
    } catch {
      return false;
    }
  });
}

let first = '';
let second = '';

test('rotated immediately, the new secret alone signs, and the old one is gone', async () => {
  const before = stored();
  const out = await update('--rotate-webhook-secret', '--immediately');
  first = SECRET.exec(out)?.[1] ?? '';
  assert.is(
    out,
    `webhook secret of Acme rotated\n1 earlier webhook secret ended\nwebhook secret (shown once): ${first}\n`,
  );
  assert.is(stored().length, 1);
  assert.is.not(stored()[0], before[0]);
  assert.equal(await verifiedBy('203.0.113.1', first), [true]);
});

test('after a rotation both secrets verify a delivery, and it is said for how long', async () => {
  const out = await update('--rotate-webhook-secret');
  second = SECRET.exec(out)?.[1] ?? '';
  assert.match(out, /^webhook secret of Acme rotated$/m);
  const rotation = (await edgeward.events()).findLast(({ type }) => type === 'WebhookSecretRotated');
  const until = Temporal.Instant.from(UNTIL.exec(out)?.[1] ?? '');
  assert.is(until.since(Temporal.Instant.from(rotation?.metadata.at ?? '')).total('hours'), 24);
  assert.is(stored().length, 2);
  assert.equal(await verifiedBy('203.0.113.2', first, second), [true, true]);
});

test('the earlier secret is ended at once when that is asked for, once', async () => {
  assert.is(await update('--immediately'), '1 earlier webhook secret ended\n');
  assert.is(await update('--immediately'), 'customer Acme unchanged\n');
  assert.is(stored().length, 1);
  const ended = (await edgeward.events()).findLast(({ type }) => type === 'WebhookSecretRetired');
  assert.match(ended?.metadata.actor ?? '', /^admin:[^@]+@cli$/);
  assert.equal(await verifiedBy('203.0.113.3', first, second), [false, true]);
});

test('a fifth secret is refused while four sign, and is not kept', async () => {
  const shown = z.object({ webhook_secret: z.string(), previous_webhook_secret_until: z.string() });
  const newest: string[] = [];
  for (let count = 2; count <= 4; count += 1)
    newest.push(
      shown.parse(await edgeward.json('customer', 'update', 'Acme', '--rotate-webhook-secret')).webhook_secret,
    );
  assert.equal(await verifiedBy('203.0.113.4', second, ...newest), [true, true, true, true]);
  const refused = await edgeward.command('customer', 'update', 'Acme', '--rotate-webhook-secret');
  assert.is(refused.exitCode, 4);
  assert.match(refused.err, 'webhooks of Acme are signed with 4 secrets already');
  assert.is(stored().length, 4);
  const { ended_webhook_secrets: ended } = z
    .object({ ended_webhook_secrets: z.number() })
    .parse(await edgeward.json('customer', 'update', 'Acme', '--rotate-webhook-secret', '--immediately'));
  assert.is(ended, 4);
  assert.is(stored().length, 1);
});

test.run();
