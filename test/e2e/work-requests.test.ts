import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { freePort } from '../support/free-port.ts';
import { openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const port = await freePort();
const edgeward = await openEdgeward({ PORT: String(port) });
test.after(() => edgeward.remove());

const tokenFile = join(edgeward.folder, 'token');
const work = z.object({
  id: z.string(),
  state: z.string(),
  worker: z.string().nullable(),
  attempts: z.number(),
  because: z.string().nullable(),
});

async function submit(payload: unknown): Promise<string> {
  const file = join(edgeward.folder, 'payload.json');
  writeFileSync(file, JSON.stringify(payload));
  const asked = ['work', 'submit', '--scope', 'debian', '--architecture', 'amd64', '--payload', file];
  return work.parse(await edgeward.json(...asked)).id;
}

async function stateOf(id: string): Promise<z.infer<typeof work>> {
  return work.parse(await edgeward.json('work', 'show', id));
}

async function isIn(id: string, state: string): Promise<void> {
  await waitUntil(`work request ${id} is ${state}`, async () => (await stateOf(id)).state === state);
}

/** The command writes what it is given beside its name, and ends as the payload says. */
const COMMAND = `cat > "$EDGEWARD_WORK_REQUEST.json"; exit $(grep -c fail "$EDGEWARD_WORK_REQUEST.json")`;

function agent() {
  const command = `cd ${edgeward.folder} && ${COMMAND}`;
  return edgeward.spawn([
    'worker',
    'run',
    '--server',
    `http://127.0.0.1:${port}`,
    '--token-file',
    tokenFile,
    '--exec',
    command,
  ]);
}

test('a real agent runs what is submitted, survives a server that goes and comes back, and ends when it is told to', async () => {
  await edgeward.serve();
  await edgeward.json('scope', 'create', 'debian');
  const early = await submit({ suite: 'trixie', text: 'é & <x>' });
  const registered = await edgeward.json('worker', 'register', 'builder', '--architectures', 'amd64');
  writeFileSync(tokenFile, z.object({ activation_token: z.string() }).parse(registered).activation_token);
  const running = await agent();
  await isIn(early, 'succeeded');
  assert.equal(JSON.parse(readFileSync(join(edgeward.folder, `${early}.json`), 'utf8')), {
    suite: 'trixie',
    text: 'é & <x>',
  });
  const failing = await submit({ will: 'fail' });
  await isIn(failing, 'failed');
  assert.match((await stateOf(failing)).because ?? '', 'exit status 1');
  assert.is((await stateOf(failing)).worker, 'builder');

  await edgeward.stop();
  await waitUntil('the agent has noticed', async () => running.out().includes('can not be reached'));
  await edgeward.serve();
  const later = await submit({ after: 'the restart' });
  await isIn(later, 'succeeded');

  running.child.kill('SIGTERM');
  assert.is(await running.ended, 0);
  const again = await agent();
  const last = await submit({ by: 'the token that was kept' });
  await isIn(last, 'succeeded');
  again.child.kill('SIGTERM');
  assert.is(await again.ended, 0);
});

test('what is cancelled before it began never runs', async () => {
  const waiting = await submit({ never: 'run' });
  assert.is(work.parse(await edgeward.json('work', 'cancel', waiting)).state, 'cancelled');
  const running = await agent();
  const next = await submit({ runs: true });
  await isIn(next, 'succeeded');
  assert.is(existsSync(join(edgeward.folder, `${waiting}.json`)), false);
  const refused = await edgeward.command('work', 'cancel', next);
  assert.is(refused.exitCode, 4);
  running.child.kill('SIGTERM');
  assert.is(await running.ended, 0);
});

test.run();
