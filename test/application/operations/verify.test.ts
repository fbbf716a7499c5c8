import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readEvidenceFiles } from '../../../src/adapters/files/evidence.ts';
import { verify, type VerifyDependencies } from '../../../src/application/operations/verify.ts';
import { asStored } from '../../../src/events/codec.ts';
import { isCustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';

const test = suite<{ log: EmbeddedLog }>('verifying a log');

const unseen = (): void => undefined;
const REGION = { type: 'RegionCreated', data: { regionId: 1, name: 'eu-west' } };

test.before.each(async (context) => {
  context.log = await openEmbeddedLog();
});
test.after.each(({ log }) => log.close());

function archiveOf(log: EmbeddedLog, flaws: readonly string[] = []): VerifyDependencies {
  return {
    store: log.store,
    storeAsStored: log.another(asStored(log.codec)),
    flaws: async function* () {
      yield* flaws;
    },
    evidence: () => Promise.resolve(readEvidenceFiles(join(log.folder, 'evidence'))),
    isCustomerEvent,
  };
}

test('an empty log is no clean audit', async ({ log }) => {
  const { events, problems } = await verify(archiveOf(log), unseen);
  assert.is(events, 0);
  assert.equal(problems, ['the log is empty: DATA_DIR or EVENT_STORE_URL may name another one than you mean']);
});

test('a whole log has no problems, and how far the check is is told up to its end', async ({ log }) => {
  await log.append('directory-main', { type: 'RegionNameReserved', data: { regionId: 1, name: 'eu-west' } });
  await log.append('region-1', REGION);
  const shown: bigint[] = [];
  const findings = await verify(archiveOf(log), (done, end) => void shown.push(done, end));
  assert.equal(findings, { events: 2, streams: 2, commits: 0, evidence: 0, problems: [] });
  assert.equal(shown, [2n, 4n, 4n, 4n]);
});

test('what the store finds wrong with itself comes first; what streams say of one another follows', async ({ log }) => {
  await log.append('region-1', REGION);
  const { problems } = await verify(archiveOf(log, ['a page is damaged']), unseen);
  assert.equal(problems, [
    'a page is damaged',
    'region-1: the stream is there, and no name is reserved for it in the directory',
  ]);
});

test('an event that is not the one that was recorded is named with its place', async ({ log }) => {
  await log.append('directory-main', { type: 'RegionNameReserved', data: { regionId: 1, name: 'eu-west' } });
  await log.append('region-1', REGION);
  const archive = archiveOf(log);
  const { storeAsStored } = archive;
  const forged: typeof storeAsStored = {
    ...storeAsStored,
    readAll: async function* (after) {
      for await (const page of storeAsStored.readAll(after))
        yield page.map((event) =>
          event.stream === 'region-1' ? { ...event, data: { regionId: 1, name: 'forged' } } : event,
        );
    },
  };
  const { problems } = await verify({ ...archive, storeAsStored: forged }, unseen);
  assert.equal(problems, ['region-1 revision 0 (position 2): it was altered, or the one before it was']);
});

test('evidence that an event names and that is not there is named', async ({ log }) => {
  const evidence = { sha256: 'f'.repeat(64), bytes: 1, mediaType: 'application/pdf', fileName: 'proof.pdf' };
  const request = { requestId: 'r1', input: '192.0.2.1', prefixes: ['192.0.2.1/32'], regionIds: [1] };
  const data = { ...request, evidence, autoApproved: false };
  await log.append('customer-7', { type: 'SourceWhitelistSubmitted', data });
  const { evidence: checked, problems } = await verify(archiveOf(log), unseen);
  assert.is(checked, 1);
  assert.ok(problems.includes('customer-7 revision 0: its evidence is missing'));
});

test.run();
