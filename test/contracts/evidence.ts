import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { EvidenceStore, StoredEvidence } from '../../src/ports/evidence.ts';

/** An evidence store of its own, and what removes it. */
export type EvidenceUnderTest = Readonly<{
  evidence: EvidenceStore;
  /** Opens the same one as the next process would, after this one has died. */
  reopen: () => EvidenceStore;
  /** How many files there are, whatever for. */
  count: () => Promise<number>;
  stop: () => Promise<void>;
}>;

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Takes a file in, in pieces, as an upload would. */
export async function putEvidence(
  evidence: EvidenceStore,
  customerId: number,
  bytes: Uint8Array,
  piece = 1000,
): Promise<StoredEvidence> {
  const draft = await evidence.begin(customerId);
  for (let at = 0; at < bytes.length; at += piece) await draft.write(bytes.subarray(at, at + piece));
  return draft.store();
}

export async function readEvidence(
  evidence: EvidenceStore,
  customerId: number,
  sha256: string,
): Promise<Buffer | undefined> {
  const pieces = await evidence.read({ customerId, sha256 });
  if (pieces === undefined) return undefined;
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

const FILE = Buffer.from(Array.from({ length: 3_333 }, (_, at) => at % 251));
const SHA256 = sha256Of(FILE);
const nobody = async (): Promise<boolean> => false;
const everybody = async (): Promise<boolean> => true;

/** What every evidence store does. */
export function evidenceContract(name: string, start: () => Promise<EvidenceUnderTest>): void {
  const test = suite<EvidenceUnderTest>(name);

  test.before.each(async (context) => {
    Object.assign(context, await start());
  });
  test.after.each(({ stop }) => stop());

  test('a file is named by its SHA-256, and kept byte for byte', async ({ evidence, reopen, count }) => {
    const stored = await putEvidence(evidence, 7, FILE);
    assert.equal([stored.customerId, stored.sha256, stored.bytes], [7, SHA256, FILE.length]);
    await stored.keep();
    assert.equal(await readEvidence(evidence, 7, SHA256), FILE);
    assert.equal(await readEvidence(reopen(), 7, SHA256), FILE);
    assert.is(await count(), 1);
  });

  test('a file that was not given is not there, and neither is one of another customer', async ({ evidence }) => {
    await (await putEvidence(evidence, 7, FILE)).keep();
    assert.is(await readEvidence(evidence, 7, sha256Of(Buffer.from('other'))), undefined);
    assert.is(await readEvidence(evidence, 77, SHA256), undefined);
  });

  test('what is no SHA-256 is refused', async ({ evidence }) => {
    const thrown = await evidence.read({ customerId: 7, sha256: '../7' }).catch((error: unknown) => error);
    assert.instance(thrown, RangeError);
  });

  test('nobody finds a draft, and a discarded one leaves nothing', async ({ evidence, count }) => {
    const draft = await evidence.begin(7);
    await draft.write(FILE);
    assert.is(await readEvidence(evidence, 7, SHA256), undefined);
    await draft.discard();
    assert.is(await count(), 0);
  });

  test('a released file leaves nothing', async ({ evidence, count }) => {
    await (await putEvidence(evidence, 7, FILE)).release();
    assert.is(await readEvidence(evidence, 7, SHA256), undefined);
    assert.is(await count(), 0);
  });

  test('releasing spares the same bytes that were kept before, also by a process before', async (context) => {
    const { evidence, reopen, count } = context;
    await (await putEvidence(evidence, 7, FILE)).keep();
    await (await putEvidence(evidence, 7, FILE)).release();
    await (await putEvidence(reopen(), 7, FILE)).release();
    assert.equal(await readEvidence(evidence, 7, SHA256), FILE);
    assert.is(await count(), 1);
  });

  test('releasing spares the same bytes of another customer', async ({ evidence }) => {
    await (await putEvidence(evidence, 8, FILE)).keep();
    await (await putEvidence(evidence, 7, FILE)).release();
    assert.equal(await readEvidence(evidence, 8, SHA256), FILE);
    assert.is(await readEvidence(evidence, 7, SHA256), undefined);
  });

  test('of two that give the same bytes at once, one kept is enough, whoever ends first', async ({
    evidence,
    count,
  }) => {
    for (const keptFirst of [true, false]) {
      const bytes = Buffer.from(`kept first: ${keptFirst}`);
      const [kept, released] = await Promise.all([putEvidence(evidence, 7, bytes), putEvidence(evidence, 7, bytes)]);
      if (keptFirst) await kept.keep();
      await released.release();
      if (!keptFirst) await kept.keep();
      assert.equal(await readEvidence(evidence, 7, kept.sha256), bytes);
    }
    assert.is(await count(), 2);
  });

  test('ending twice is ending once', async ({ evidence, count }) => {
    const [first, second] = await Promise.all([putEvidence(evidence, 7, FILE), putEvidence(evidence, 7, FILE)]);
    await first.release();
    await first.release();
    assert.equal(await readEvidence(evidence, 7, SHA256), FILE);
    await second.keep();
    await second.release();
    assert.is(await count(), 1);
  });

  test('recovery removes drafts and what no event names, and nothing else', async ({ evidence, reopen, count }) => {
    await (await putEvidence(evidence, 7, FILE)).keep();
    const named = await putEvidence(evidence, 7, Buffer.from('the event was written, and then the process died'));
    await putEvidence(evidence, 7, Buffer.from('the process died before the event was written'));
    const draft = await evidence.begin(8);
    await draft.write(FILE);
    const next = reopen();
    await next.recover(async ({ customerId, sha256 }) => customerId === 7 && sha256 === named.sha256);
    assert.is(await count(), 2);
    assert.equal(await readEvidence(next, 7, SHA256), FILE);
    assert.is((await readEvidence(next, 7, named.sha256))?.toString().slice(0, 9), 'the event');
    await next.recover(nobody);
    assert.is(await count(), 2, 'what was kept is not asked about again');
    await draft.discard();
  });

  test('recovery has nothing to do where nothing was left', async ({ evidence, count }) => {
    await evidence.recover(nobody);
    await evidence.recover(everybody);
    assert.is(await count(), 0);
  });

  test('however uploads of the same bytes come and end, a file is there exactly if one was kept', async ({
    evidence,
    count,
  }) => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ same: fc.nat(1), keep: fc.boolean(), turns: fc.nat(5) }), { maxLength: 8 }),
        async (uploads) => {
          round += 1;
          const before = await count();
          const kept = new Set<number>();
          await Promise.all(
            uploads.map(async ({ same, keep, turns }) => {
              const stored = await putEvidence(evidence, 7, Buffer.from(`${round} ${same}`));
              for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
              if (keep) kept.add(same);
              await (keep ? stored.keep() : stored.release());
            }),
          );
          assert.is((await count()) - before, kept.size);
          for (const same of kept) {
            const bytes = Buffer.from(`${round} ${same}`);
            assert.equal(await readEvidence(evidence, 7, sha256Of(bytes)), bytes);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test.run();
}
