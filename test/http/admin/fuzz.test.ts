// Whatever is sent, nothing breaks inside; and what was made so once is so.
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { ADMIN_SCOPES, SCOPES_OF_ROLE } from '../../../src/domain/ip-control/admin-roles.ts';
import { ADMIN_OPERATIONS } from '../../../src/http/admin/api/routes.ts';
import { type AdminClient, adminToken, openAdminClient } from '../../support/http/admin-client.ts';
import { openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
/** Several tokens: each has 600 requests a minute. */
const tokens = await Promise.all(
  ADMIN_SCOPES.slice(0, 4).map(() => adminToken(edgeward, 'ada', SCOPES_OF_ROLE.administrator)),
);
const url = await edgeward.serve({ ROUTER_FILES_ROOT: edgeward.folder });
const clients = tokens.map(({ token }) => openAdminClient(url, token));
let turn = 0;
const client = (): AdminClient => {
  turn += 1;
  const one = clients[turn % clients.length];
  assert.ok(one);
  return one;
};
const setup = client();
assert.is((await setup.put('/regions/eu-west', {})).status, 201);
assert.is((await setup.put('/customers/Acme', {})).status, 201);
const subnet = { region: 'eu-west', asn: 64_500, metro: 'ams' };
assert.is((await setup.put('/customers/Acme/subnets/203.0.113.0%2F24', subnet)).status, 201);

test.after(async () => {
  for (const one of clients) await one.close();
  await edgeward.remove();
});

const hostile = fc.constantFrom(
  '',
  '.',
  '..',
  '1',
  'Acme',
  'eu-west',
  '<script>alert(1)</script>',
  "'; DROP TABLE events; --",
  '\u202Eevil',
  '\uD83D\uDE00',
  '__proto__',
  'constructor',
  '203.0.113.0/24',
  'a/b',
  '%00',
  'W'.repeat(300),
  '-1',
  '9223372036854775807',
);
const name = fc.oneof(hostile, fc.string({ maxLength: 20, unit: 'grapheme' }));
const segment = name.map((text) => encodeURIComponent(text) || '%20');
const FIELDS =
  'rate_limit trusted webhook_url label deploy_policy driver options repair region asn metro customer list reason ticket scopes expires count category enabled architectures specifications limits priority force __proto__'.split(
    ' ',
  );
const body = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.dictionary(fc.constantFrom(...FIELDS), fc.oneof(name, fc.jsonValue({ maxDepth: 2 })), { maxKeys: 5 }),
  },
  fc.jsonValue(),
);
const query = fc.dictionary(
  fc.constantFrom('dry_run', 'after', 'limit', 'from', 'stream', 'customer', 'month', 'force', 'at'),
  name,
  { maxKeys: 3 },
);

const asked = fc
  .tuple(fc.constantFrom(...ADMIN_OPERATIONS), fc.array(segment, { minLength: 3, maxLength: 3 }), body, query)
  // Those that talk to routers or receivers, and may take as long as these do.
  .filter(([{ path }]) => !path.endsWith('/test'));

test('no request breaks anything inside', async () => {
  await fc.assert(
    fc.asyncProperty(asked, async ([{ method, path, request }, names, sent, questions]) => {
      const left = [...names];
      const where = path.replaceAll(/\{\w+\}/g, () => left.pop() ?? 'none');
      const pairs = Object.entries(questions).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
      const asks = pairs.length === 0 ? where : `${where}?${pairs.join('&')}`;
      const withBody =
        request.body === undefined
          ? {}
          : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) };
      const { status, text } = await client().send(asks, { method, ...withBody });
      assert.ok(status < 500, `${method} ${asks} ${JSON.stringify(sent)}: ${status} ${text}`);
    }),
    { numRuns: 1_000 },
  );
});

const CUSTOMERS = ['Acme', 'Globex', 'Hooli Ltd.', 'Ünïcode 1'];
const put = fc.oneof(
  fc.record({
    path: fc.constantFrom(...CUSTOMERS).map((customer) => `/customers/${encodeURIComponent(customer)}`),
    body: fc.record(
      {
        rate_limit: fc.integer({ min: 1, max: 3 }),
        trusted: fc.boolean(),
        prefix_limit: fc.constantFrom(10, 10_000),
        webhook_url: fc.constantFrom(null, 'https://hooks.example.com/a'),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    path: fc.constantFrom('a', 'b', 'eu-west').map((region) => `/regions/${region}`),
    body: fc.record({ deploy_policy: fc.constantFrom('each', 'all-or-nothing') }, { requiredKeys: [] }),
  }),
  fc.record({
    path: fc.constantFrom('edge1', 'edge2').map((router) => `/regions/eu-west/routers/${router}`),
    body: fc.record({
      driver: fc.constant('file'),
      options: fc.constant({ path: `${edgeward.folder}/lists` }),
      repair: fc.boolean(),
    }),
  }),
  fc.record({
    path: fc.constantFrom('203.0.113.0%2F24', '198.51.100.0%2F25').map((cidr) => `/customers/Acme/subnets/${cidr}`),
    body: fc.constant(subnet),
  }),
  fc.record({ path: fc.constantFrom('debian', 'ubuntu').map((scope) => `/scopes/${scope}`), body: fc.constant({}) }),
);

test('any sequence of PUTs makes it so: each of them asked again at once records nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(put, { minLength: 1, maxLength: 6 }), async (sequence) => {
      for (const { path, body: wanted } of sequence) {
        const first = await client().put(path, wanted);
        assert.ok(first.status === 200 || first.status === 201, `${path} ${first.text}`);
        const before = await edgeward.end();
        const again = await client().put(path, wanted);
        assert.is(again.status, 200, again.text);
        assert.match(again.text, '"changed":false');
        assert.is(await edgeward.end(), before, path);
      }
    }),
    { numRuns: 60 },
  );
});

const told = z.object({
  meta: z.object({
    events: z.array(z.object({ type: z.string(), data: z.record(z.string(), z.unknown()) })).optional(),
  }),
});

/** Ids and hashes are of each telling's own. */
function plain(events: readonly Readonly<{ type: string; data: object }>[]): unknown {
  const text = JSON.stringify(events.map(({ type, data }) => ({ type, data })));
  return JSON.parse(text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}/g, 'own'));
}

test('a rehearsal says what is recorded when it is done', async () => {
  await fc.assert(
    fc.asyncProperty(put, async ({ path, body: wanted }) => {
      const rehearsed = told.parse((await client().put(`${path}?dry_run=true`, wanted)).json);
      const before = await edgeward.end();
      assert.ok((await client().put(path, wanted)).status < 300);
      const recorded = (await edgeward.events()).filter(
        ({ position, metadata }) => position > before && metadata.actor.startsWith('admin:'),
      );
      assert.equal(plain(rehearsed.meta.events ?? []), plain(recorded));
    }),
    { numRuns: 60 },
  );
});

test.run();
