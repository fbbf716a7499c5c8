// A server of EventStoreDB that other applications write to as well, under names like ours: they stop nobody, and what they wrote is looked
// through once.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stranger } from '../adapters/eventstoredb/strangers.ts';
import { addRegion, type Edgeward, type EdgewardProcess, openEdgeward } from '../support/servers/edgeward-server.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../support/stores/eventstoredb-stand-in/stand-in.ts';
import { waitUntil } from '../support/wait-until.ts';

type Context = { events: EventStoreStandIn; edgeward: Edgeward };

const test = suite<Context>('a server that others write to as well');

test.before.each(async (context) => {
  context.events = await startEventStoreStandIn();
  stranger(context.events.log, 'customer-8f14e45f', 3);
  context.edgeward = await openEdgeward({ EVENT_STORE_URL: `esdb://127.0.0.1:${context.events.port}?tls=false` });
  await addRegion(context.edgeward, 'north');
});
test.after.each(async ({ events, edgeward }) => {
  await edgeward.remove();
  await events.stop();
});

async function started(edgeward: Edgeward): Promise<EdgewardProcess> {
  const process = await edgeward.spawn(['serve']);
  const url = await process.listening();
  await waitUntil('it is ready', async () => (await fetch(`${url}/readyz`)).ok);
  return process;
}

async function killed({ child, ended }: EdgewardProcess): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

test('an event of another application in a stream named as ours are stops no start, no server and no command', async ({
  events,
  edgeward,
}) => {
  const server = await started(edgeward);
  stranger(events.log, 'customer-8f14e45f', 3);
  await edgeward.json('customer', 'create', 'Acme');
  assert.is(server.child.exitCode, null);
  await killed(server);
  await killed(await started(edgeward));
  assert.match(JSON.stringify(await edgeward.json('verify')), '"problems":[]');
  const { out } = await edgeward.command('doctor', '--json');
  assert.match(out, '"check":"clock","ok":true');
});

test('what was looked through at a start is saved though nobody writes any more', async ({ events, edgeward }) => {
  const others = 60_000;
  stranger(events.log, 'order-1', others, 100);
  const end = events.log.all().at(-1)?.position ?? 0n;
  const first = await started(edgeward);
  await waitUntil('how far is saved', async () => (await positionsOf(edgeward)).every((position) => position >= end));
  await killed(first);
});

test('while others alone write, how far their records were looked through is saved: no later start looks again, whatever happened to the server', async ({
  events,
  edgeward,
}) => {
  const others = 60_000;
  const first = await started(edgeward);
  const before = events.passedOver();
  stranger(events.log, 'order-1', others, 1_000);
  await waitUntil('it has looked through them', () => events.passedOver() - before >= others);
  await waitUntil('how far it is saved', async () => {
    stranger(events.log, 'order-1', 1_000);
    const end = events.log.all().at(-others / 10)?.position ?? 0n;
    return (await positionsOf(edgeward)).every((position) => position >= end);
  });
  await killed(first);

  // As fast as a server scans, so that the short way back from the end is a part of it all.
  events.faults.scannedPerSecond = 40_000;
  for (let start = 0; start < 2; start += 1) {
    const begun = events.passedOver();
    await killed(await started(edgeward));
    const looked = events.passedOver() - begun;
    assert.ok(looked < others / 2, `${looked} records were looked through again`);
  }
});

/** The positions of the views as they are saved. */
async function positionsOf(edgeward: Edgeward): Promise<readonly bigint[]> {
  const listed = await edgeward.json('projections', 'list');
  if (!Array.isArray(listed)) throw new Error('no list');
  return listed.map(({ position }) => BigInt(position));
}

test.run();
