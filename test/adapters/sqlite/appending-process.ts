// A process of its own that appends to a log. Each line on standard output is said after what it tells is durable.
// usage: node --import tsx appending-process.ts FILE chain|race|fill NAME COUNT
import { once } from 'node:events';
import { createLog } from '../../../src/adapters/log.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/event-store.ts';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import { NO_STREAM, StoreUnavailable, WrongExpectedRevision } from '../../../src/ports/event-store.ts';
import { sampleCodec, sealed } from '../../contracts/sample-events.ts';

const store = openSqliteEventStore({
  file: process.argv[2] ?? '',
  codec: sampleCodec,
  log: createLog({ level: 'silent' }),
});
await appendAs(process.argv[3] ?? '', process.argv[4] ?? '', Number(process.argv[5]));
await store.close();

function appendAs(mode: string, name: string, count: number): Promise<void> {
  if (mode === 'chain') return appendInFlight(name, count);
  if (mode === 'race') return appendAgainstOthers(name, count);
  return appendUntilRefused(name);
}

/** Single appends and pairs, several under way at once, until killed. */
async function appendInFlight(stream: string, atOnce: number): Promise<void> {
  const last = await lastOf(stream);
  let revision = last?.revision ?? NO_STREAM;
  let hash = last?.metadata.hash ?? '';
  const append = async (): Promise<void> => {
    const size = revision % 3n === 0n ? 2 : 1;
    const texts = Array.from({ length: size }, () => ({ type: 'NoteTaken', data: { text: 'x'.repeat(200) } }));
    const events = sealed(stream, texts, hash);
    const expected = revision;
    revision += BigInt(size);
    hash = events.at(-1)?.metadata.hash ?? '';
    const appended = await store.append(stream, expected, events);
    process.stdout.write(`${appended.revision}\n`);
  };
  for (;;) await Promise.all(Array.from({ length: atOnce }, append));
}

/** Appends to a stream that others append to as well, and decides anew when it has lost. */
async function appendAgainstOthers(writer: string, count: number): Promise<void> {
  for (let done = 0; done < count;) {
    const last = await lastOf('race');
    const text = `${writer}-${done}`;
    const events = sealed('race', [{ type: 'NoteTaken', data: { text } }], last?.metadata.hash);
    try {
      await store.append('race', last?.revision ?? NO_STREAM, events);
      done += 1;
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
    }
  }
  process.stdout.write('done\n');
}

async function lastOf(stream: string): Promise<RecordedEvent | undefined> {
  let last: RecordedEvent | undefined;
  for await (const page of store.read(stream)) last = page.at(-1);
  return last;
}

/** Appends until the disk is full, says so, and goes on when a line comes in. */
async function appendUntilRefused(stream: string): Promise<void> {
  process.stdout.write('ready\n');
  await once(process.stdin, 'data');
  let revision = NO_STREAM;
  const append = async (): Promise<void> => {
    const event = { type: 'NoteTaken', data: { text: 'x'.repeat(20_000) } };
    revision = (await store.append(stream, revision, sealed(stream, [event]))).revision;
  };
  try {
    for (;;) await append();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    process.stdout.write(`refused after ${revision}: ${error.message}\n`);
  }
  await once(process.stdin, 'data');
  await append();
  process.stdout.write(`went on with ${revision}\n`);
  process.stdin.destroy();
}
