import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { createLog } from '../../../src/adapters/log.ts';
import { readConfig } from '../../../src/config.ts';
import { commandApplication } from '../../../src/main/application.ts';
import { openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const edgeward = await openEdgeward();
const url = await edgeward.serve();
test.after(() => edgeward.remove());

const log = createLog({ level: 'fatal', destination: () => undefined });
const withApplication = commandApplication(() => readConfig(edgeward.settings), log);

type Asked = Readonly<{ status: number; body: unknown }>;

function ask(path: string, token: string, body?: object): Promise<Asked> {
  return askText(path, token, body === undefined ? undefined : JSON.stringify(body));
}

async function askText(path: string, token: string, body: string | undefined): Promise<Asked> {
  const answer = await fetch(`${url}/api/worker/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

async function registered(name: string): Promise<string> {
  const shown = await edgeward.json('worker', 'register', name, '--architectures', 'amd64');
  return z.object({ activation_token: z.string() }).parse(shown).activation_token;
}

/** A worker without a pool that is ready; gives its token. */
async function ready(name: string): Promise<string> {
  const { body } = await ask('/activate', await registered(name));
  const { worker_token: token } = z.object({ worker_token: z.string() }).parse(body);
  assert.is((await ask('/ready', token, {})).status, 204);
  return token;
}

test('an activation token is exchanged once, and neither it nor a made-up one is a worker’s own', async () => {
  const activation = await registered('once');
  assert.is((await ask('/heartbeat', activation)).status, 401);
  const first = await ask('/activate', activation);
  assert.is(first.status, 200);
  assert.is((await ask('/activate', activation)).status, 401);
  const { worker_token: token } = z.object({ worker_token: z.string() }).parse(first.body);
  assert.is((await ask('/heartbeat', token)).status, 204);
  assert.is((await ask('/heartbeat', `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`)).status, 401);
});

/** What a worker says of itself, with so many lists in one another. */
function metadataOf(lists: number): string {
  return `{"metadata":{"nested":${'['.repeat(lists)}${']'.repeat(lists)}}}`;
}

test('what a worker says of itself is as deep as can be read again, and no deeper', async () => {
  const { body } = await ask('/activate', await registered('deep'));
  const { worker_token: token } = z.object({ worker_token: z.string() }).parse(body);
  for (const levels of [63, 2_000, 200_000])
    assert.equal(await askText('/ready', token, metadataOf(levels)), {
      status: 422,
      body: {
        message: 'body: must not be nested deeper than 64 levels.',
        errors: { body: ['must not be nested deeper than 64 levels.'] },
      },
    });
  assert.is((await askText('/ready', token, metadataOf(62))).status, 204);
  assert.match(JSON.stringify(await edgeward.json('verify')), '"ok":true');
});

test('work is taken, and told again until it is finished, which may be told twice', async () => {
  const token = await ready('taker');
  assert.is((await ask('/take?wait=PT0S', token)).status, 204);
  await edgeward.json('scope', 'create', 'debian');
  const submitted = await edgeward.json('work', 'submit', '--scope', 'debian', '--architecture', 'amd64');
  const { id } = z.object({ id: z.string() }).parse(submitted);
  const taken = await ask('/take?wait=PT30S', token);
  await edgeward.shown();
  assert.equal(taken, { status: 200, body: await edgeward.json('work', 'show', id) });
  assert.equal(await ask('/take?wait=PT30S', token), taken);
  const other = await ready('other');
  assert.is((await ask('/finish', other, { id, outcome: 'succeeded' })).status, 409);
  for (let times = 0; times < 2; times += 1)
    assert.is((await ask('/finish', token, { id, outcome: 'failed', because: 'exit status 1' })).status, 204);
  assert.is((await ask('/finish', token, { id: 'nothing', outcome: 'failed' })).status, 404);
  const shown = z.object({ state: z.string(), because: z.string() }).parse(await edgeward.json('work', 'show', id));
  assert.equal(shown, { state: 'failed', because: 'exit status 1' });
});

test('a worker that the log takes for silent is heard again by the server that it reports to, whichever judges it', async () => {
  const token = await ready('quiet');
  const silence = async (): Promise<unknown> => {
    await edgeward.shown();
    return z.object({ silent_since: z.string().nullable() }).parse(await edgeward.json('worker', 'show', 'quiet'))
      .silent_since;
  };
  await withApplication(async ({ workers, clock }) => {
    const command = { type: 'RecordSilence', data: { at: clock.nowText() } } as const;
    await workers.handle('quiet', command, { actor: 'system:silent-workers', requestId: 'test' });
  });
  assert.is.not(await silence(), null);
  assert.is((await ask('/heartbeat', token)).status, 204);
  assert.is(await waitUntil('it is heard again', async () => (await silence()) === null), true);
  const heard = (await edgeward.events()).find(({ type }) => type === 'WorkerHeardAgain');
  assert.is(heard?.metadata.actor, 'worker:quiet');
});

test.run();
