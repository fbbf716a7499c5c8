import { cpSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openEdgeward } from '../support/servers/edgeward-server.ts';
import { repositoryFile } from '../support/repository.ts';

/** A log that release 0.1 has written, and what 0.1 said of it. What is stored never changes its meaning. */
const FIXTURE = repositoryFile('test/fixtures/log-0.1/');

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

const stateNow = z.looseObject({
  regions: z.array(z.looseObject({ because: z.array(z.unknown()), disabled_until: z.array(z.unknown()) })),
});

test('a log of release 0.1 gives the states that it gave then', async () => {
  for (const { customer, at, state } of expected.states) {
    const { regions, ...rest } = stateNow.parse(await edgeward.json('state', customer, '--at', at));
    const asThen = regions.map(({ because, disabled_until: until, ...region }) => {
      assert.equal([because, until], [[], []], 'reasons and terms came later');
      return region;
    });
    assert.equal({ ...rest, regions: asThen }, state, `${customer} at ${at}`);
  }
});

const history = z.array(z.looseObject({ request_id: z.string() }));

test('a log of release 0.1 gives the histories that it gave then', async () => {
  for (const { of, events } of expected.events) {
    const now = history.parse(await edgeward.json('events', ...of));
    const asThen = now.map(({ request_id: requestId, ...event }) => ({ ...event, requestId }));
    assert.equal(asThen, events, of.join(' '));
  }
});

test.run();
