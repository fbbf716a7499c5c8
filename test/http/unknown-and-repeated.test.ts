// What administrators and workers send that no operation knows, or that is there twice. Of customers: conventions.test.ts, bodies.test.ts.
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { SCOPES_OF_ROLE } from '../../src/domain/ip-control/admin-roles.ts';
import { ADMIN_OPERATIONS } from '../../src/http/admin/api/routes.ts';
import { WORKER_OPERATIONS } from '../../src/http/worker/worker-api.ts';
import { adminToken } from '../support/http/admin-client.ts';
import { openEdgeward } from '../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
const { token } = await adminToken(edgeward, 'ada', SCOPES_OF_ROLE.administrator);
const others = await Promise.all(
  [1, 2].map(async () => (await adminToken(edgeward, 'ada', SCOPES_OF_ROLE.administrator)).token),
);
const url = await edgeward.serve();
test.after(() => edgeward.remove());

const UNKNOWN = ['is not a known field.'];
const TWICE = ['must be given once.'];
const refusal = z.object({ message: z.string(), errors: z.record(z.string(), z.array(z.string())) });
type Errors = Readonly<Record<string, readonly string[]>>;

/** What is said of the fields; the status is 422. */
async function refused(method: string, path: string, bearer: string, body?: string): Promise<Errors> {
  const answer = await request(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.body.text();
  assert.is(answer.statusCode, 422, `${method} ${path} ${body ?? ''}: ${text}`);
  return refusal.parse(JSON.parse(text)).errors;
}

test('every operation of administrators refuses a parameter that it does not know, and any that is given twice', async () => {
  const before = await edgeward.end();
  for (const operation of ADMIN_OPERATIONS) {
    const path = `/api/admin/v1${operation.path.replaceAll(/\{\w+\}/g, '1')}`;
    const body = operation.request.body === undefined ? undefined : '{}';
    const { veiw, 'limit[]': listed } = await refused(operation.method, `${path}?veiw=1&limit[]=1`, token, body);
    assert.equal([veiw, listed], [UNKNOWN, UNKNOWN], path);
    const known = Object.keys(operation.request.query?.shape ?? { dry_run: true });
    const twice = known.map((name) => `${name}=1&${name}=1`).join('&');
    const errors = await refused(operation.method, `${path}?${twice}`, token, body);
    for (const name of known) assert.equal(errors[name], TWICE, `${path}: ${name}`);
  }
  assert.is(await edgeward.end(), before);
});

test('every body of administrators has each field once, and none that is not known', async () => {
  const before = await edgeward.end();
  for (const { method, path: pattern, request: asked } of ADMIN_OPERATIONS) {
    if (asked.body === undefined) continue;
    const path = `/api/admin/v1${pattern.replaceAll(/\{\w+\}/g, '1')}`;
    const twice = await refused(
      method,
      path,
      others[0] ?? '',
      '{"reason":"a","re\\u0061son":"b","deep":{"a":[{"b":1,"b":1}]}}',
    );
    assert.equal([twice['reason'], twice['deep.a.0.b']], [TWICE, TWICE], path);
    // Which fields an asset has follows from its category.
    const more = JSON.stringify({
      synchronus: true,
      ...(pattern === '/assets/{asset}' ? { category: 'apt-authentication' } : {}),
    });
    const { synchronus } = await refused(method, path, others[1] ?? '', more);
    assert.match(String(synchronus), /^is not a (?:known )?field/, `${method} ${path}`);
  }
  assert.is(await edgeward.end(), before);
});

test('so does every operation of workers', async () => {
  const registered = await edgeward.json('worker', 'register', 'builder', '--architectures', 'amd64');
  const { activation_token: activation } = z.object({ activation_token: z.string() }).parse(registered);
  for (const path of ['/activate', '/agent']) {
    const method = path === '/agent' ? 'GET' : 'POST';
    assert.equal((await refused(method, `/api/worker/v1${path}?veiw=1`, activation))['veiw'], UNKNOWN);
  }
  const activated = await request(`${url}/api/worker/v1/activate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${activation}` },
  });
  const { worker_token: worker } = z.object({ worker_token: z.string() }).parse(await activated.body.json());
  const before = await edgeward.end();
  for (const { method, path: name, request: asked } of WORKER_OPERATIONS) {
    if (name === '/activate' || name === '/agent') continue;
    const path = `/api/worker/v1${name}`;
    const body = asked.body === undefined ? undefined : '{}';
    assert.equal((await refused(method, `${path}?veiw=1`, worker, body))['veiw'], UNKNOWN, name);
    if (name === '/take') assert.equal((await refused(method, `${path}?wait=PT0S&wait=PT1S`, worker))['wait'], TWICE);
    if (asked.body === undefined) continue;
    const errors = await refused(method, path, worker, '{"metadata":{"a":1,"a":2},"id":"1","id":"2","more":1}');
    assert.equal([errors['metadata.a'], errors['id'], errors['more']], [TWICE, TWICE, UNKNOWN], name);
  }
  assert.is(await edgeward.end(), before);
});

test.run();
