import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Codec, UndecodableEvent, UnencodableEvent } from '../../src/events/codec.ts';
import type { RecordedEvent, Sealed } from '../../src/kernel/event.ts';
import {
  AppendInDoubt,
  AppendTooLarge,
  BEGINNING,
  type EventStore,
  NO_STREAM,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../src/ports/event-store.ts';
import { narrowCodec, notes, numberedNotes, sampleCodec, sealed, thing } from './sample-events.ts';

/** An empty log of its own. */
export type EventStoreUnderTest = Readonly<{
  /** Opens it, each time as another process would. */
  open: (codec: Codec) => Promise<EventStore>;
  stop: () => Promise<void>;
  /** Another program writes to the same store, under names of its own that look like ours; not in a store that no other may write to. */
  strangersWrite?: (count: number) => void;
  /** From now on nobody can say whether an append is made, until it is settled; not where a store always knows. */
  doubt?: Readonly<{ begin: () => void; end: () => void }>;
}>;

type Context = { log: EventStoreUnderTest; store: EventStore };

/** What every event store does, whatever is behind it. */
export function eventStoreContract(name: string, start: () => Promise<EventStoreUnderTest>): void {
  const test = suite<Context>(name);
  test.before.each(async (context) => {
    context.log = await start();
    context.store = await context.log.open(sampleCodec);
  });
  test.after.each(async ({ log, store }) => {
    await store.close();
    await log.stop();
  });

  specifyAppend(test);
  specifyAppendsAtTheSameTime(test);
  specifyRead(test);
  specifyFollow(test);
  specifyRefusals(test);
  specifySharing(test);
  test.run();
}

type Suite = ReturnType<typeof suite<Context>>;

function specifyAppend(test: Suite): void {
  test('an empty log has no end, no events, no streams', async ({ store }) => {
    assert.is(await store.end(), BEGINNING);
    assert.is(await store.revision('customer-1'), NO_STREAM);
    assert.equal(await all(store.read('customer-1')), []);
    assert.equal(await all(store.readAll(BEGINNING)), []);
  });

  test('events come back as they were appended, with their place in their stream and in the log', async ({ store }) => {
    const first = notes('customer-1', 'a', 'b');
    const second = thing('customer-2', { deep: [1, null, 'ü🗝', { x: -0.5e-7 }] });
    const ends = [
      await store.append('customer-1', NO_STREAM, first),
      await store.append('customer-2', NO_STREAM, second),
    ];
    const log = await all(store.readAll(BEGINNING));
    assert.equal(withoutPosition(log), [
      { ...first[0], stream: 'customer-1', revision: 0n },
      { ...first[1], stream: 'customer-1', revision: 1n },
      { ...second[0], stream: 'customer-2', revision: 0n },
    ]);
    assert.equal(ends, [
      { revision: 1n, position: log[1]?.position },
      { revision: 0n, position: log[2]?.position },
    ]);
    assert.is(await store.end(), log[2]?.position);
    assertOrdered(log);
  });

  test('an event is found by its place in its stream, with its place in the log and its hash', async ({ store }) => {
    await store.append('customer-1', NO_STREAM, notes('customer-1', 'a', 'b'));
    await store.append('customer-2', NO_STREAM, notes('customer-2', 'c'));
    for (const { stream, revision, position, metadata } of await all(store.readAll(BEGINNING))) {
      assert.equal(await store.eventAt(stream, revision), { position, hash: metadata.hash });
    }
    assert.is(await store.eventAt('customer-1', 2n), undefined);
    assert.is(await store.eventAt('customer-3', 0n), undefined);
  });

  test('any JSON that the schema allows comes back equal', async ({ store }) => {
    let revision = NO_STREAM;
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const stored: unknown = JSON.parse(JSON.stringify(value));
        await store.append('customer-1', revision, thing('customer-1', stored));
        revision += 1n;
        assert.equal((await all(store.read('customer-1', revision - 1n))).at(-1)?.data, { thing: stored });
      }),
      { numRuns: 50 },
    );
  });

  test('an append at another revision than the last is refused, says where the stream is, and appends nothing', async ({
    store,
  }) => {
    await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
    for (const expected of [NO_STREAM, 1n, 7n]) {
      const error = await failureOf(store.append('customer-1', expected, notes('customer-1', 'b', 'c')));
      assert.instance(error, WrongExpectedRevision);
      if (!(error instanceof WrongExpectedRevision)) return;
      assert.equal([error.stream, error.expected, error.actual], ['customer-1', expected, 0n]);
    }
    const error = await failureOf(store.append('customer-2', 0n, notes('customer-2', 'b')));
    assert.ok(error instanceof WrongExpectedRevision && error.actual === NO_STREAM);
    assert.equal(textsOf(await all(store.readAll(BEGINNING))), ['a']);
  });

  test('a repeated append is a success with the same answer, and appends nothing', async ({ store, log }) => {
    const events = notes('customer-1', 'a', 'b');
    const answer = await store.append('customer-1', NO_STREAM, events);
    assert.equal(await store.append('customer-1', NO_STREAM, events), answer);
    await store.append('customer-1', 1n, notes('customer-1', 'c'));
    await store.append('customer-2', NO_STREAM, notes('customer-2', 'd'));
    assert.equal(await store.append('customer-1', NO_STREAM, events), answer);
    const other = await log.open(sampleCodec);
    assert.equal(await other.append('customer-1', NO_STREAM, events), answer);
    await other.close();
    assert.equal(textsOf(await all(store.readAll(BEGINNING))), ['a', 'b', 'c', 'd']);
  });

  test('an append that repeats only some of the events is refused', async ({ store }) => {
    const [a, b] = notes('customer-1', 'a', 'b');
    const [c] = notes('customer-1', 'c');
    if (a === undefined || b === undefined || c === undefined) throw new Error('no events');
    await store.append('customer-1', NO_STREAM, [a, b]);
    for (const events of [[a, c], [c, b], [a, b, c], [b]]) {
      assert.instance(await failureOf(store.append('customer-1', NO_STREAM, events)), WrongExpectedRevision);
    }
    assert.equal(textsOf(await all(store.readAll(BEGINNING))), ['a', 'b']);
  });
}

function specifyAppendsAtTheSameTime(test: Suite): void {
  test('of appends to one stream that are sent before the earlier ones are answered, each is there or says that the stream is elsewhere', async ({
    store,
  }) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, (_, index) =>
        store.append('customer-1', BigInt(index) - 1n, notes('customer-1', String(index))),
      ),
    );
    const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.instance(outcome.reason, WrongExpectedRevision);
    }
    assert.ok(made.length > 0);
    const stored = await all(store.read('customer-1'));
    assert.equal(textsOf(stored), numbers(0, made.length));
    assert.equal(
      stored.map(({ revision, position }) => ({ revision, position })),
      made,
    );
  });

  test('when an append fails, the ones that build on it fail, and no others do', async ({ store }) => {
    const outcomes = await Promise.allSettled([
      store.append('customer-1', NO_STREAM, notes('customer-1', 'a')),
      store.append('customer-1', 5n, notes('customer-1', 'lost')),
      store.append('customer-2', NO_STREAM, notes('customer-2', 'b')),
      store.append('customer-1', 6n, notes('customer-1', 'lost too')),
    ]);
    assert.equal(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.instance(outcome.reason, WrongExpectedRevision);
    }
    await store.append('customer-1', 0n, notes('customer-1', 'c'));
    assert.equal(textsOf(await all(store.readAll(BEGINNING))).toSorted(), ['a', 'b', 'c']);
  });

  test('of appends that race for a revision, one wins', async ({ store, log }) => {
    const other = await log.open(sampleCodec);
    for (let round = 0; round < 20; round += 1) {
      const outcomes = await Promise.allSettled(
        [store, other, store, other].map((racer) =>
          racer.append('customer-1', BigInt(round) - 1n, notes('customer-1', String(round))),
        ),
      );
      assert.is(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    }
    assert.equal(textsOf(await all(other.read('customer-1'))), numbers(0, 20));
    await other.close();
  });

  test('many streams at once keep their order, each and in the log', async ({ store }) => {
    const streams = Array.from({ length: 50 }, (_, index) => `customer-${index}`);
    await Promise.all(
      streams.map(async (stream) => {
        for (const revision of [0, 1, 2]) {
          await store.append(stream, BigInt(revision) - 1n, notes(stream, `${stream}/${revision}`));
        }
      }),
    );
    const log = await all(store.readAll(BEGINNING));
    assert.is(log.length, 150);
    assertOrdered(log);
  });
}

function specifyRead(test: Suite): void {
  test('a stream is read in pages, from any revision', async ({ store }) => {
    await store.append('customer-2', NO_STREAM, notes('customer-2', 'not this one'));
    for (let first = 0; first < 2_500; first += 500) {
      await store.append('customer-1', BigInt(first) - 1n, numberedNotes('customer-1', 500, first));
    }
    assert.equal(textsOf(await all(store.read('customer-1'))), numbers(0, 2_500));
    assert.equal(textsOf(await all(store.read('customer-1', NO_STREAM))), numbers(0, 2_500));
    assert.equal(textsOf(await all(store.read('customer-1', 1_233n))), numbers(1_234, 2_500));
    assert.equal(textsOf(await all(store.read('customer-1', 2_498n))), ['2499']);
    assert.equal(await all(store.read('customer-1', 2_499n)), []);
    assert.equal(await all(store.read('customer-1', 9_999n)), []);
    assert.is(await store.revision('customer-1'), 2_499n);
    const revisions = (await all(store.read('customer-1'))).map(({ revision }) => Number(revision));
    assert.equal(
      revisions,
      Array.from({ length: 2_500 }, (_, index) => index),
    );
  });

  test('no page is empty, none is longer than a thousand and some', async ({ store }) => {
    await store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 2_000));
    for await (const page of store.readAll(BEGINNING)) assert.ok(page.length > 0 && page.length < 1_100);
  });

  test('the log is read after any position, to its end as of the call', async ({ store }) => {
    await store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 1_500));
    const { position } = await store.append('customer-2', NO_STREAM, numberedNotes('customer-2', 1_500, 1_500));
    const reading = store.readAll(BEGINNING);
    const read: RecordedEvent[] = [];
    for await (const page of reading) {
      read.push(...page);
      const end = await store.revision('customer-3');
      await store.append('customer-3', end, notes('customer-3', 'later'));
    }
    assert.equal(textsOf(read), numbers(0, 3_000));
    assert.is(read.at(-1)?.position, position);
    const middle = read[1_700]?.position ?? BEGINNING;
    assert.equal(textsOf(await all(store.readAll(middle))).slice(0, 1_299), numbers(1_701, 3_000));
    assert.equal(await all(store.readAll((await store.end()) + 10n)), []);
  });

  test('after any position means any: also one where no event is, for reading and for following', async ({ store }) => {
    const texts = numbers(0, 12);
    for (const [index, text] of texts.entries())
      await store.append('customer-1', BigInt(index) - 1n, notes('customer-1', `${text}${'x'.repeat(index * 7)}`));
    const log = await all(store.readAll(BEGINNING));
    for (const { position } of log) {
      for (const after of [position - 1n, position, position + 1n, position + 9n]) {
        const behind = log.filter((event) => event.position > after);
        const hint = `after ${after}`;
        assert.equal(await all(store.readAll(after)), behind, hint);
        if (behind.length > 0) assert.equal(await take(store, after, behind.length), behind, hint);
      }
    }
  });

  test('the log is read to its end as of the call, in pages that are never empty or long', async ({ store }) => {
    await store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 1_500));
    const found: RecordedEvent[] = [];
    for await (const page of store.readAll(BEGINNING)) {
      assert.ok(page.length > 0 && page.length < 1_100);
      found.push(...page);
      const end = await store.revision('customer-2');
      await store.append('customer-2', end, notes('customer-2', 'later'));
    }
    assert.equal(textsOf(found), numbers(0, 1_500));
  });

  test('what another process has appended is there', async ({ store, log }) => {
    const other = await log.open(sampleCodec);
    const { position } = await other.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
    assert.equal(textsOf(await all(store.read('customer-1'))), ['a']);
    assert.equal(textsOf(await all(store.readAll(BEGINNING))), ['a']);
    assert.is(await store.end(), position);
    await store.append('customer-1', 0n, notes('customer-1', 'b'));
    assert.is(await other.revision('customer-1'), 1n);
    await other.close();
  });
}

/** What holds where others write to the same log, and where an answer is lost. */
function specifySharing(test: Suite): void {
  test('what others write to the same store stops nobody, and is nowhere among what is ours', async ({
    store,
    log,
  }) => {
    const { strangersWrite } = log;
    if (strangersWrite === undefined) return;
    const followed = take(store, BEGINNING, 3);
    strangersWrite(5);
    await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
    strangersWrite(2_000);
    const { position } = await store.append('customer-1', 0n, notes('customer-1', 'b', 'c'));
    strangersWrite(5);
    assert.equal(textsOf(await followed), ['a', 'b', 'c']);
    assert.equal(textsOf(await all(store.readAll(BEGINNING))), ['a', 'b', 'c']);
    assert.is(await store.revision('customer-1'), 2n);
    // A place behind our newest event is one, too, where somebody has looked through what others wrote.
    const end = await store.end();
    assert.ok(end >= position);
    assert.equal(await all(store.readAll(end)), []);
  });

  test('an append that was answered is in every reading at once, here and in another process that was open before, while a follower stands still', async ({
    store,
    log,
  }) => {
    const other = await log.open(sampleCodec);
    const follower = store.follow(BEGINNING, new AbortController().signal)[Symbol.asyncIterator]();
    await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
    await follower.next();
    const texts = ['a'];
    for (const text of ['b', 'c', 'd']) {
      const expected = BigInt(texts.length) - 1n;
      const { revision, position } = await other.append('customer-1', expected, notes('customer-1', text));
      texts.push(text);
      for (const reader of [store, other]) {
        assert.is(await reader.revision('customer-1'), revision);
        assert.is((await reader.eventAt('customer-1', revision))?.position, position);
        assert.is(await reader.end(), position);
        assert.equal(textsOf(await all(reader.read('customer-1'))), texts);
        assert.equal(textsOf(await all(reader.readAll(BEGINNING))), texts);
      }
    }
    await follower.return?.();
    await other.close();
  });

  test('whether an append was made is settled by the same append, by another process too, once others have appended behind it', async ({
    store,
    log,
  }) => {
    const [made, never] = [notes('customer-1', 'a', 'b'), notes('customer-1', 'x')];
    const answer = await store.append('customer-1', NO_STREAM, made);
    const other = await log.open(sampleCodec);
    await other.append('customer-1', 1n, notes('customer-1', 'c'));
    assert.equal(await other.append('customer-1', NO_STREAM, made), answer);
    assert.equal(await store.append('customer-1', NO_STREAM, made), answer);
    for (const process of [store, other])
      assert.instance(await failureOf(process.append('customer-1', 1n, never)), WrongExpectedRevision);
    assert.equal(textsOf(await all(store.readAll(BEGINNING))), ['a', 'b', 'c']);
    await other.close();
  });

  test('an append of which nobody can say whether it is made says so, and comes to be there once', async ({
    store,
    log,
  }) => {
    const { doubt } = log;
    if (doubt === undefined) return;
    await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
    const events = notes('customer-1', 'b');
    doubt.begin();
    assert.instance(await failureOf(store.append('customer-1', 0n, events)), AppendInDoubt);
    doubt.end();
    assert.is((await store.append('customer-1', 0n, events)).revision, 1n);
    assert.equal(textsOf(await all(store.read('customer-1'))), ['a', 'b']);
  });
}

function specifyFollow(test: Suite): void {
  test('following gives the whole log, then what is appended here and by others, in order, once', async ({
    store,
    log,
  }) => {
    const other = await log.open(sampleCodec);
    await store.append('customer-0', NO_STREAM, numberedNotes('customer-0', 1_500));
    const followed = take(store, BEGINNING, 2_500);
    await appendRuns(store, 'customer-1', 250, 2);
    await Promise.all([appendRuns(store, 'customer-2', 50, 5), appendRuns(other, 'customer-3', 50, 5)]);
    const events = await followed;
    assert.equal(events, await all(other.readAll(BEGINNING)));
    await other.close();
  });

  test('following from the middle gives what is after it', async ({ store }) => {
    await store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 2_200));
    const middle = (await all(store.readAll(BEGINNING)))[999]?.position ?? BEGINNING;
    const followed = take(store, middle, 1_300);
    await store.append('customer-1', 2_199n, numberedNotes('customer-1', 100, 2_200));
    assert.equal(textsOf(await followed), numbers(1_000, 2_300));
  });

  test('what others append reaches a follower that has nothing to do', async ({ store, log }) => {
    const other = await log.open(sampleCodec);
    const followed = take(store, BEGINNING, 3);
    await store.append('customer-1', NO_STREAM, notes('customer-1', 'here'));
    await other.append('customer-2', NO_STREAM, notes('customer-2', 'there'));
    await other.append('customer-2', 0n, notes('customer-2', 'there again'));
    assert.equal(textsOf(await followed), ['here', 'there', 'there again']);
    await other.close();
  });

  test('a slow follower misses nothing', async ({ store }) => {
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const page of store.follow(BEGINNING, stop.signal)) {
        seen.push(...textsOf(page));
        if (seen.length === 30_000) stop.abort();
        // Appends go on for several turns of the event loop while it is busy.
        for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
      }
    })();
    for (let first = 0; first < 30_000; first += 1_000) {
      await store.append('customer-1', BigInt(first) - 1n, numberedNotes('customer-1', 1_000, first));
    }
    await following;
    assert.equal(seen, numbers(0, 30_000));
  });

  test('several followers do not disturb each other', async ({ store }) => {
    const followed = Promise.all([0, 1, 2].map(() => take(store, BEGINNING, 500)));
    await appendRuns(store, 'customer-1', 100, 5);
    for (const events of await followed) assert.equal(textsOf(events), numbers(0, 500));
  });

  test('a repeated append is not seen twice', async ({ store }) => {
    const followed = take(store, BEGINNING, 4);
    const [first, second] = [notes('customer-1', 'a'), notes('customer-2', 'b')];
    await store.append('customer-1', NO_STREAM, first);
    await Promise.all([
      store.append('customer-2', NO_STREAM, second),
      store.append('customer-1', NO_STREAM, first),
      store.append('customer-3', NO_STREAM, notes('customer-3', 'c')),
      store.append('customer-2', NO_STREAM, second),
      store.append('customer-1', 0n, notes('customer-1', 'd')),
    ]);
    assert.equal(textsOf(await followed).toSorted(), ['a', 'b', 'c', 'd']);
  });

  test('following ends when its signal aborts: before it begins, between events, and while it waits', async ({
    store,
  }) => {
    await store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 1_500));
    assert.equal(await all(store.follow(BEGINNING, AbortSignal.abort())), []);

    const between = new AbortController();
    const seen: number[] = [];
    for await (const page of store.follow(BEGINNING, between.signal)) {
      seen.push(page.length);
      between.abort();
    }
    assert.is(seen.length, 1);

    const waiting = new AbortController();
    const following = all(store.follow(await store.end(), waiting.signal));
    await store.append('customer-1', 1_499n, notes('customer-1', 'last'));
    for await (const _ of store.follow((await store.end()) - 1n, AbortSignal.timeout(1))) break;
    waiting.abort();
    assert.ok((await following).length <= 1);
  });
}

function specifyRefusals(test: Suite): void {
  test('an event that could not be read back is refused, with all of its append', async ({ store }) => {
    const unknown: Sealed = { ...one(notes('customer-1', 'b')), type: 'NoteLost' };
    for (const bad of [unknown, one(sealed('customer-1', [{ type: 'NoteTaken', data: { text: 7 } }]))]) {
      const error = await failureOf(store.append('customer-1', NO_STREAM, [...notes('customer-1', 'a'), bad]));
      assert.instance(error, UnencodableEvent);
    }
    assert.equal(await all(store.readAll(BEGINNING)), []);
    await store.append('customer-1', NO_STREAM, notes('customer-1', 'b'));
  });

  test('an append that is too large is refused whole, and says how much is possible; a large one is taken', async ({
    store,
  }) => {
    const texts = Array.from({ length: 9 }, () => 'ü'.repeat(250_000));
    const error = await failureOf(store.append('customer-1', NO_STREAM, notes('customer-1', ...texts)));
    assert.instance(error, AppendTooLarge);
    if (!(error instanceof AppendTooLarge)) return;
    assert.ok(error.bytes > 9 * 500_000 && error.limitBytes < error.bytes && error.stream === 'customer-1');
    assert.equal(await all(store.readAll(BEGINNING)), []);
    await store.append('customer-1', NO_STREAM, notes('customer-1', ...texts.slice(0, 2).map((text) => text.slice(9))));
    assert.is(await store.revision('customer-1'), 1n);
  });

  test('an event that this program does not know stops the reader, and names its place', async ({ store, log }) => {
    const { position } = await store.append('customer-1', NO_STREAM, thing('customer-1', 1));
    const narrow = await log.open(narrowCodec);
    for (const reading of [
      () => all(narrow.read('customer-1')),
      () => all(narrow.readAll(BEGINNING)),
      () => all(narrow.follow(BEGINNING, new AbortController().signal)),
    ]) {
      const error = await failureOf(reading());
      assert.ok(error instanceof UndecodableEvent, String(error));
      assert.is(error.position, position);
      assert.match(error.message, 'ThingKept');
    }
    await narrow.close();
  });

  test('closing waits for the appends under way; a closed store is unavailable', async ({ store, log }) => {
    const closing = await log.open(sampleCodec);
    const following = failureOf(all(closing.follow(BEGINNING, new AbortController().signal)));
    const appends = ['customer-1', 'customer-2', 'customer-3'].map((stream) =>
      closing.append(stream, NO_STREAM, notes(stream, stream)),
    );
    await closing.close();
    await Promise.all(appends);
    assert.equal(textsOf(await all(store.readAll(BEGINNING))).toSorted(), ['customer-1', 'customer-2', 'customer-3']);
    assert.instance(await following, StoreUnavailable);
    for (const use of [
      () => closing.append('customer-1', 0n, notes('customer-1', 'late')),
      () => closing.end(),
      () => closing.revision('customer-1'),
      () => all(closing.read('customer-1')),
      () => all(closing.readAll(BEGINNING)),
      () => all(closing.follow(BEGINNING, new AbortController().signal)),
    ]) {
      assert.instance(await failureOf(use()), StoreUnavailable);
    }
    await closing.close();
  });
}

async function all<E>(pages: AsyncIterable<readonly E[]>): Promise<readonly E[]> {
  const events: E[] = [];
  for await (const page of pages) events.push(...page);
  return events;
}

/** Follows until it has this many events. */
async function take(store: EventStore, after: bigint, count: number): Promise<readonly RecordedEvent[]> {
  const stop = new AbortController();
  const events: RecordedEvent[] = [];
  for await (const page of store.follow(after, stop.signal)) {
    events.push(...page);
    if (events.length >= count) stop.abort();
  }
  return events;
}

/** `runs` appends, one after the other, of `size` notes each. */
async function appendRuns(store: EventStore, stream: string, runs: number, size: number): Promise<void> {
  for (let first = 0; first < runs * size; first += size) {
    await store.append(stream, BigInt(first) - 1n, numberedNotes(stream, size, first));
  }
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function assertOrdered(log: readonly RecordedEvent[]): void {
  const revisions = new Map<string, bigint>();
  let previous = BEGINNING;
  for (const { stream, revision, position } of log) {
    assert.ok(position > previous);
    assert.is(revision, (revisions.get(stream) ?? NO_STREAM) + 1n);
    previous = position;
    revisions.set(stream, revision);
  }
}

function textsOf(events: readonly RecordedEvent[]): readonly string[] {
  return events.map(({ data }) => ('text' in data ? String(data.text) : ''));
}

function numbers(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from }, (_, index) => String(from + index));
}

function withoutPosition(events: readonly RecordedEvent[]): readonly object[] {
  return events.map(({ id, type, data, metadata, stream, revision }) => ({
    id,
    type,
    data,
    metadata,
    stream,
    revision,
  }));
}

function one(events: readonly Sealed[]): Sealed {
  const [event] = events;
  if (event === undefined) throw new Error('no event');
  return event;
}
