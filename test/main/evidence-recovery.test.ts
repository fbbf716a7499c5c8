import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../src/adapters/clock.ts';
import { createLog } from '../../src/adapters/log.ts';
import { openMongoDatabase } from '../../src/adapters/mongodb/database.ts';
import { openMongoEvidence } from '../../src/adapters/mongodb/evidence.ts';
import { startEvidenceRecovery } from '../../src/main/evidence-recovery.ts';
import { evidenceCount, type Place, placeOn } from '../adapters/mongodb/opening.ts';
import { putEvidence, readEvidence } from '../contracts/evidence.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../support/stores/embedded-log.ts';
import { startMongoServer } from '../support/stores/ferretdb.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { waitUntil } from '../support/wait-until.ts';

const server = await startMongoServer();
const test = suite<{ place: Place; embedded: EmbeddedLog }>(
  'what uploads left behind, where several servers take files in',
);
const log = createLog({ level: 'silent' });

if (server === undefined) test.skip('there is no server');
else {
  test.before.each(async (context) => {
    context.place = await placeOn(server);
    context.embedded = await openEmbeddedLog();
  });
  test.after.each(async ({ place, embedded }) => {
    await place.stop();
    await embedded.close();
  });

  test('stays for as long as an upload may take; then it is kept if an event names it, and removed if none does', async ({
    place,
    embedded,
  }) => {
    const dead = (await place.open()).evidence;
    const named = await putEvidence(dead, 7, Buffer.from('the event was written, and then the server died'));
    await putEvidence(dead, 7, Buffer.from('the server died before'));
    await (await dead.begin(8)).write(Buffer.alloc(600_000));
    await embedded.append('customer-7', submitted(named.sha256));

    const clock = createManualClock();
    const db = await openMongoDatabase({ url: place.url, clock: systemClock, patienceMilliseconds: 8_000 });
    const evidence = openMongoEvidence({ db, clock, log });
    const recovery = await startEvidenceRecovery({ evidence, store: embedded.store }, { clock, log });
    const looked = (): Promise<unknown> => waitUntil('it has looked', () => clock.waiting() === 1);
    await looked();
    await clock.advance('PT5M');
    await looked();
    assert.is(await evidenceCount(place.look), 3, 'all of them may be under way');
    await clock.advance('PT5M');
    await looked();
    assert.is(await evidenceCount(place.look), 1);
    assert.match(String(await readEvidence(evidence, 7, named.sha256)), 'the event was written');
    await recovery.stop();
    await db.close();
  });

  test('is looked for again when the database was away', async ({ place, embedded }) => {
    await putEvidence((await place.open()).evidence, 7, Buffer.from('left'));
    const clock = createManualClock();
    const db = await openMongoDatabase({ url: place.url, clock: systemClock, patienceMilliseconds: 8_000 });
    const evidence = openMongoEvidence({ db, clock, log, abandonedMilliseconds: 0 });
    let isAway = true;
    const sometimesAway: typeof evidence = {
      ...evidence,
      recover: async (isNamed) => {
        if (isAway) throw new Error('away');
        await evidence.recover(isNamed);
      },
    };
    const recovery = await startEvidenceRecovery({ evidence: sometimesAway, store: embedded.store }, { clock, log });
    await waitUntil('it waits for the next time', () => clock.waiting() === 1);
    isAway = false;
    await clock.advance('PT5M');
    await waitUntil('it is gone', async () => (await evidenceCount(place.look)) === 0);
    await recovery.stop();
    await db.close();
  });
}

function submitted(sha256: string) {
  return {
    type: 'SourceWhitelistSubmitted',
    data: {
      requestId: '4f0c4f0c-0000-4000-8000-000000000000',
      input: '192.31.196.1',
      prefixes: ['192.31.196.1/32'],
      regionIds: [1],
      autoApproved: false,
      evidence: { sha256, bytes: 47, mediaType: 'application/pdf', fileName: 'proof.pdf' },
    },
  };
}

test.run();
