import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { sendListing } from '../../../src/http/customer/address-listing.ts';
import { RangeMap } from '../../../src/addresses/range-map.ts';
import { RangeSet } from '../../../src/addresses/range-set.ts';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { openRawConnection } from '../../support/http/raw-http.ts';
import { waitUntil } from '../../support/wait-until.ts';

const warnings: string[] = [];
process.on('warning', ({ message }) => warnings.push(message));

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [
  ['10.1.0.0/16', 'eu-west'],
  ['2001:db8:0:1::/112', 'eu-west'],
  ['10.2.0.0/15', 'eu-west'],
]);
const [ipv4 = 0, ipv6 = 0, larger = 0] = acme.subnetIds;
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

const detail = z.object({
  data: z.object({ ips: z.array(z.object({ address: z.string(), status: z.string(), pending_change: z.boolean() })) }),
  meta: z.object({ pending_changes: z.number(), next_after: z.string().optional() }),
});

function requestFor(path: string): string {
  return `GET /api/v1${path} HTTP/1.1\r\nHost: edgeward\r\nAuthorization: Bearer ${acme.token}\r\n\r\n`;
}

/** The body of a chunked response, once its last chunk has come. */
function bodyOf(received: string): string | undefined {
  if (!received.endsWith('\r\n0\r\n\r\n')) return undefined;
  let rest = received.slice(received.indexOf('\r\n\r\n') + 4);
  let body = '';
  for (;;) {
    const lineEnd = rest.indexOf('\r\n');
    const length = Number.parseInt(rest.slice(0, lineEnd), 16);
    if (length === 0) return body;
    body += rest.slice(lineEnd + 2, lineEnd + 2 + length);
    rest = rest.slice(lineEnd + 4 + length);
  }
}

test('65,536 addresses are listed whole, one by one, in order', async () => {
  await api.post('/ips/bulk', { action: 'disable', range: { start: '10.1.255.254', end: '10.2.0.0' } });
  const { data, meta } = detail.parse((await api.get(`/subnets/${ipv4}`)).json);
  assert.equal(meta, { pending_changes: 2 });
  assert.is(data.ips.length, 65_536);
  const expected = Array.from({ length: 65_536 }, (_, at) => `10.1.${at >> 8}.${at & 255}`);
  assert.equal(
    data.ips.map(({ address }) => address),
    expected,
  );
  assert.equal(
    data.ips.filter(({ status }) => status === 'disabled').map(({ address }) => address),
    ['10.1.255.254', '10.1.255.255'],
  );
});

test('the same in IPv6', async () => {
  const { data, meta } = detail.parse((await api.get(`/subnets/${ipv6}`)).json);
  assert.equal(meta, { pending_changes: 0 });
  const expected = Array.from({ length: 65_536 }, (_, at) => `2001:db8:0:1::${at === 0 ? '' : at.toString(16)}`);
  assert.equal(
    data.ips.map(({ address }) => address),
    expected,
  );
});

test('more than that is listed in pages of what is disabled or pending', async () => {
  await api.post('/ips/bulk', { action: 'disable', cidr: '10.2.0.0/15' });
  const first = detail.parse((await api.get(`/subnets/${larger}`)).json);
  assert.equal(first.meta, { pending_changes: 131_072, next_after: '10.2.255.255' });
  assert.is(first.data.ips.length, 65_536);
  const second = detail.parse((await api.get(`/subnets/${larger}?after=10.2.255.255`)).json);
  assert.equal(second.meta, { pending_changes: 131_072 });
  assert.is(second.data.ips.length, 65_536);
  await api.post('/ips/bulk', { action: 'enable', cidr: '10.2.0.0/15' });
});

test('a reader that stops reading keeps nobody waiting, and gets all of it, as it was when he asked', async () => {
  const slow = await openRawConnection(url);
  const fast = detail.parse((await api.get(`/subnets/${ipv4}`)).json);
  slow.socket.pause();
  slow.send(requestFor(`/subnets/${ipv4}`));
  await waitUntil('the answer has begun', () => slow.socket.readableLength > 0 || slow.received() !== '');
  for (let at = 0; at < 20; at += 1) assert.is((await api.post('/ips/disable', { ip: `10.1.0.${at}` })).status, 200);
  assert.is(detail.parse((await api.get(`/subnets/${ipv4}`)).json).meta.pending_changes, 22);
  slow.socket.resume();
  const body = await waitUntil('the whole answer', () => bodyOf(slow.received()));
  assert.equal(detail.parse(JSON.parse(body)), fast);
  slow.socket.destroy();
});

test('readers that go away in the middle leave nothing behind', async () => {
  const readers = await Promise.all(Array.from({ length: 10 }, () => openRawConnection(url)));
  const requests = () => edgeward.logged().filter(({ path }) => path === `/api/v1/subnets/${ipv6}`).length;
  const before = requests();
  for (const { send, socket } of readers) {
    send(requestFor(`/subnets/${ipv6}`));
    socket.once('data', () => socket.destroy());
  }
  await Promise.all(readers.map(({ closed }) => closed));
  await waitUntil('the server is through with them', () => requests() === before + readers.length);
  assert.is((await api.get(`/subnets/${ipv6}`)).status, 200);
});

test('a reader that never goes on is cut off', async () => {
  const range = { version: 4, first: 0, last: 65_535 } as const;
  const subnet = { subnetId: 1, cidr: '0.0.0.0/16', regionId: 1, asn: 64_500, metro: 'ams' };
  const status = { subnet, range, disabled: RangeSet.empty, terms: new RangeMap<string>(), pending: RangeSet.empty };
  const server = createServer((_request, response) => {
    response.once('close', () => server.emit('answered', response.writableFinished));
    void sendListing(
      response,
      { status, pendingOnly: false, view: 'ips', showsUntil: false, after: undefined, limit: 65_536 },
      100,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const answered = once(server, 'answered');
  const address = server.address();
  const reader = await openRawConnection(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
  reader.socket.pause();
  reader.send(requestFor('/'));
  assert.equal(await answered, [false], 'the answer ended before it was whole');
  reader.socket.destroy();
  server.close();
});

test('many readers at once all get everything', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => api.get(`/subnets/${ipv4}`)));
  const [first] = answers;
  for (const { status, text } of answers) {
    assert.is(status, 200);
    assert.ok(text === first?.text);
  }
});

test('a list is sent in chunks, and on HTTP/1.0 until the connection ends', async () => {
  const { headers } = await api.get(`/subnets/${ipv4}`);
  assert.is(headers['transfer-encoding'], 'chunked');
  const old = await openRawConnection(url);
  old.send(requestFor(`/subnets/${ipv4}?limit=2`).replace('HTTP/1.1', 'HTTP/1.0'));
  await old.closed;
  const body = old.received().slice(old.received().indexOf('\r\n\r\n') + 4);
  assert.is(detail.parse(JSON.parse(body)).data.ips.length, 2);
});

test('nothing was logged as wrong, and no listener was forgotten', () => {
  assert.equal(
    edgeward.logged().filter(({ level }) => level === 'error' || level === 'warn'),
    [],
  );
  assert.equal(warnings, []);
});

test.run();
