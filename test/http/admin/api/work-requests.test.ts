import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type AdminClient, adminToken, openAdminClient } from '../../../support/http/admin-client.ts';
import type { Answer } from '../../../support/http/api-client.ts';
import { openEdgeward } from '../../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
const { token } = await adminToken(edgeward, 'ada', ['read', 'work:write']);
await edgeward.json('scope', 'create', 'debian');
const api = openAdminClient(await edgeward.serve(), token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

const row = z.looseObject({ id: z.string(), state: z.string() });
const changed = z.object({ data: row, meta: z.object({ changed: z.boolean() }) });
const page = z.object({ data: z.array(row), meta: z.object({ next_after: z.string().nullable() }) });
const refused = z.object({ message: z.string(), errors: z.record(z.string(), z.array(z.string())).optional() });

const WORK = { scope: 'debian', architecture: 'amd64' };

async function submitted(work: object = WORK): Promise<z.infer<typeof row>> {
  const answer = await api.post('/work-requests', work);
  assert.is(answer.status, 201, answer.text);
  return changed.parse(answer.json).data;
}

function problemOf(answer: Answer, status: number): z.infer<typeof refused> {
  assert.is(answer.status, status, answer.text);
  return refused.parse(answer.json);
}

async function idsOf(client: AdminClient, query: string): Promise<readonly string[]> {
  return page.parse((await client.get(`/work-requests${query}`)).json).data.map(({ id }) => id);
}

test('work is submitted, shown by the beginning of its id, and cancelled once', async () => {
  const payload = { suite: 'trixie', text: 'é & <x>', list: [1, null] };
  const { id, ...work } = await submitted({ ...WORK, payload, expected_seconds: 60, reason: 'asked', ticket: 'T-7' });
  const { submitted_at: at, ...rest } = work;
  assert.match(String(at), /\+00:00$/);
  assert.equal(rest, {
    ...WORK,
    pool: null,
    expected_seconds: 60,
    state: 'waiting',
    worker: null,
    attempts: 0,
    started_at: null,
    finished_at: null,
    because: null,
    payload,
  });
  const event = (await edgeward.events()).find(({ type }) => type === 'WorkRequestSubmitted');
  assert.match(event?.metadata.actor ?? '', /^admin:ada\+/);
  const shown = await api.get(`/work-requests/${id.slice(0, 8)}`);
  assert.equal(z.object({ data: row }).parse(shown.json).data, { id, ...work });
  const states = [];
  for (const time of ['first', 'again']) {
    const answer = await api.remove(`/work-requests/${id.slice(0, 12)}`);
    assert.is(answer.status, 200, `${time}: ${answer.text}`);
    const { data, meta } = changed.parse(answer.json);
    states.push([data.state, meta.changed]);
  }
  assert.equal(states, [
    ['cancelled', true],
    ['cancelled', false],
  ]);
});

test('the newest come first, page by page, of a scope and a state', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) ids.unshift((await submitted()).id);
  const first = page.parse((await api.get('/work-requests?state=waiting&limit=2')).json);
  const seen = first.data.map(({ id }) => id);
  for (let after = first.meta.next_after; after !== null;) {
    const next = page.parse((await api.get(`/work-requests?state=waiting&limit=2&after=${after}`)).json);
    seen.push(...next.data.map(({ id }) => id));
    after = next.meta.next_after;
  }
  assert.equal(seen.toSorted(), ids.toSorted());
  const times = new Map(page.parse((await api.get('/work-requests')).json).data.map((one) => [one.id, one]));
  const at = seen.map((id) => String(times.get(id)?.['submitted_at']));
  assert.equal(at, at.toSorted().toReversed());
  assert.equal(await idsOf(api, '?state=running'), []);
  assert.equal(await idsOf(api, '?scope=other'), []);
  assert.is((await idsOf(api, '?scope=debian&state=cancelled')).length, 1);
});

test('what is wrong is named by its field, and what is not there is not found', async () => {
  const { errors } = problemOf(await api.post('/work-requests', { scope: 'debian', expected_seconds: 0, no: 1 }), 422);
  assert.equal(Object.keys(errors ?? {}).toSorted(), ['architecture', 'expected_seconds', 'no']);
  problemOf(await api.post('/work-requests', { ...WORK, scope: 'nowhere' }), 404);
  problemOf(await api.post('/work-requests', { ...WORK, pool: 'nowhere' }), 404);
  const long = { ...WORK, payload: 'x'.repeat(65_536) };
  assert.match(problemOf(await api.post('/work-requests', long), 422).message, 'at most 65536 bytes');
  assert.is((await submitted({ ...WORK, payload: 'x'.repeat(65_534) })).state, 'waiting', 'as large as it may be');
  problemOf(await api.get('/work-requests?state=asleep'), 422);
  problemOf(await api.get('/work-requests?after=nothing'), 404);
  problemOf(await api.get('/work-requests/nothing'), 404);
  problemOf(await api.remove('/work-requests/nothing'), 404);
  const ids = (await idsOf(api, '')).toSorted();
  const first = ids.find((id, index) => ids[index + 1]?.[0] === id[0])?.[0];
  if (first !== undefined) problemOf(await api.get(`/work-requests/${first}`), 422);
});

test.run();
