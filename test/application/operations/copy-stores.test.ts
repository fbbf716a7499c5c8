import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openEvidenceFiles } from '../../../src/adapters/files/evidence.ts';
import { type CopyEnds, copyStores, type StorePlace } from '../../../src/application/operations/copy-stores.ts';
import { asStored } from '../../../src/events/codec.ts';
import { sha256Of } from '../../../src/domain/ip-control/evidence.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import type { EvidenceStore } from '../../../src/ports/evidence.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';

type Context = { source: EmbeddedLog; target: EmbeddedLog };

const test = suite<Context>('copying stores');

const FROM: StorePlace = { directory: 'source' };
const TO: StorePlace = { directory: 'target' };
const PLACES = { log: { from: FROM, to: TO }, evidence: undefined };
const unseen = (): void => undefined;

test.before.each(async (context) => {
  context.source = await openEmbeddedLog();
  context.target = await openEmbeddedLog();
  for (const name of ['eu-west', 'eu-north']) await create(context.source, name === 'eu-west' ? 1 : 2, name);
});
test.after.each(async ({ source, target }) => {
  await source.close();
  await target.close();
});

function create(log: EmbeddedLog, regionId: number, name: string): Promise<void> {
  return log.append(`region-${regionId}`, { type: 'RegionCreated', data: { regionId, name } });
}

/** The ends of a copy; what is still open is listed. */
function endsOf({ source, target }: Context, seen: (store: EventStore) => EventStore = (store) => store) {
  const open: string[] = [];
  const opened = <T>(store: T, what: string) => {
    open.push(what);
    return { store, close: () => Promise.resolve(void open.splice(open.indexOf(what), 1)) };
  };
  const logOf = (role: 'source' | 'target'): EmbeddedLog => (role === 'source' ? source : target);
  const ends: CopyEnds = {
    openLog: async (_place, role) => {
      const log = logOf(role);
      const store = log.another(asStored(log.codec));
      return opened(role === 'source' ? seen(store) : store, `log ${role}`);
    },
    openEvidence: async (_place, role) => opened(evidenceOf(logOf(role)), `evidence ${role}`),
  };
  return { ends, open };
}

function evidenceOf({ folder }: EmbeddedLog): EvidenceStore {
  return openEvidenceFiles(join(folder, 'evidence'));
}

/** The store as somebody has altered it: one region has another name. */
function forge(store: EventStore): EventStore {
  return {
    ...store,
    readAll: async function* (after) {
      for await (const page of store.readAll(after))
        yield page.map((event) =>
          event.stream === 'region-2' ? { ...event, data: { regionId: 2, name: 'x' } } : event,
        );
    },
  };
}

async function ids(log: EmbeddedLog): Promise<readonly string[]> {
  return (await log.events()).map(({ id }) => id);
}

test('a log is copied in its order, once; what is appended later goes with the next copy', async (context) => {
  const { source, target } = context;
  const { ends, open } = endsOf(context);
  const events = { copied: 2, there: 0, streams: 2 };
  assert.equal(await copyStores(PLACES, ends, unseen), { events, evidence: undefined });
  await create(source, 3, 'us-east');
  const more = { copied: 1, there: 2, streams: 3 };
  assert.equal(await copyStores(PLACES, ends, unseen), { events: more, evidence: undefined });
  assert.equal(await ids(target), await ids(source));
  assert.equal(open, []);
});

test('a target that holds other events is refused and left as it is, and both ends are closed', async (context) => {
  await create(context.target, 1, 'elsewhere');
  const before = await ids(context.target);
  const { ends, open } = endsOf(context);
  const answer = await copyStores(PLACES, ends, unseen);
  assert.ok('refused' in answer);
  assert.is(answer.refused, 'target-differs');
  assert.match(answer.because, 'the source has RegionCreated, revision 0 of region-1 (position 1) there');
  assert.equal(await ids(context.target), before);
  assert.equal(open, []);
});

test('an event of the source that was altered is not copied', async (context) => {
  const { ends } = endsOf(context, forge);
  const answer = await copyStores(PLACES, ends, unseen);
  assert.ok(isRefusal(answer) && answer.refused === 'source-altered');
  assert.not((await context.target.events()).some(({ stream }) => stream === 'region-2'));
});

test('the evidence that the log names goes along, and what is missing is named', async (context) => {
  const { source, target } = context;
  const proof = Buffer.from('a proof');
  const draft = await evidenceOf(source).begin(7);
  await draft.write(proof);
  const stored = await draft.store();
  await stored.keep();
  for (const [requestId, sha256] of [
    ['r1', stored.sha256],
    ['r2', 'f'.repeat(64)],
  ] as const) {
    const evidence = { sha256, bytes: proof.length, mediaType: 'application/pdf' as const, fileName: 'proof.pdf' };
    const request = { requestId, input: '192.0.2.1', prefixes: ['192.0.2.1/32'], regionIds: [1], autoApproved: false };
    await source.append('customer-7', { type: 'SourceWhitelistSubmitted', data: { ...request, evidence } });
  }
  const { ends, open } = endsOf(context);
  const answer = await copyStores({ log: PLACES.log, evidence: PLACES.log }, ends, unseen);
  assert.ok(!isRefusal(answer));
  assert.equal(answer.evidence, {
    copied: 1,
    there: 0,
    problems: ['customer-7 revision 1: its evidence is missing in the source'],
  });
  const copy = await evidenceOf(target).read({ customerId: 7, sha256: stored.sha256 });
  assert.is(copy === undefined ? '' : await sha256Of(copy), stored.sha256);
  assert.equal(open, []);
});

test.run();
