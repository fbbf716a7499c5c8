import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { checkedAnswer, type Answer } from '../../support/http/api-client.ts';
import { openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
const registered = await edgeward.json('worker', 'register', 'builder', '--architectures', 'amd64');
const { activation_token: activation } = z.object({ activation_token: z.string() }).parse(registered);
await edgeward.json('scope', 'create', 'debian');
const url = await edgeward.serve();
test.after(() => edgeward.remove());

async function tell(path: string, token: string, body?: unknown): Promise<Answer> {
  const answer = await request(`${url}/api/worker/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return checkedAnswer(answer.statusCode, answer.headers, await answer.body.text());
}

test('a worker takes a work request as administrators see it, and is told the same again', async () => {
  const activated = await tell('/activate', activation);
  const { worker_token: token } = z.object({ worker_token: z.string() }).parse(activated.json);
  assert.is((await tell('/ready', token, {})).status, 204);
  const payload = join(edgeward.folder, 'payload.json');
  writeFileSync(payload, '{"suite":"trixie"}');
  const asked = ['--scope', 'debian', '--architecture', 'amd64', '--payload', payload, '--expected-seconds', '300'];
  const { id } = z.object({ id: z.string() }).parse(await edgeward.json('work', 'submit', ...asked));
  const taken = await tell('/take?wait=PT30S', token);
  assert.is(taken.status, 200);
  const shown = z.looseObject({}).parse(await edgeward.json('work', 'show', id));
  assert.equal(taken.json, shown);
  const { state, worker, attempts, finished_at: finishedAt } = shown;
  assert.equal([state, worker, attempts, finishedAt], ['running', 'builder', 1, null]);
  assert.equal((await tell('/take?wait=PT30S', token)).json, shown);
});

test.run();
