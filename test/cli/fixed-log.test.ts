import { cpSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openEdgeward } from '../support/servers/edgeward-server.ts';

/** A log that release 0.1 has written, and what 0.1 said of it. What is stored never changes its meaning. */
const FIXTURE = fileURLToPath(new URL('../fixtures/log-0.1/', import.meta.url));

const expected = z
  .strictObject({
    verify: z.string(),
    states: z.array(z.strictObject({ customer: z.string(), at: z.string(), state: z.unknown() })),
    events: z.array(z.strictObject({ of: z.array(z.string()), events: z.unknown() })),
  })
  .parse(JSON.parse(readFileSync(`${FIXTURE}expected.json`, 'utf8')));

const edgeward = await openEdgeward();
cpSync(`${FIXTURE}events.db`, `${edgeward.dataDir}/events.db`);
cpSync(`${FIXTURE}evidence`, `${edgeward.dataDir}/evidence`, { recursive: true });

test.after(() => edgeward.remove());

test('a log of release 0.1 is verified without a problem', async () => {
  const { exitCode, out } = await edgeward.command('verify');
  assert.equal([exitCode, out], [0, expected.verify]);
});

test('a log of release 0.1 gives the states that it gave then', async () => {
  for (const { customer, at, state } of expected.states) {
    assert.equal(await edgeward.json('state', customer, '--at', at), state, `${customer} at ${at}`);
  }
});

test('a log of release 0.1 gives the histories that it gave then', async () => {
  for (const { of, events } of expected.events) {
    assert.equal(await edgeward.json('events', ...of), events, of.join(' '));
  }
});

test.run();
