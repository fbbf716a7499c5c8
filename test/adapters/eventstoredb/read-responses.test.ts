import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { shared, streams } from '../../../src/adapters/eventstoredb/protocol.ts';
import { readResponse, type ReadResponse } from '../../../src/adapters/eventstoredb/read-responses.ts';

const { ReadEvent } = streams.ReadResp;

const test = suite('answers to a read, out of their bytes');

const unsigned = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.bigInt({ min: 0n, max: 300n }),
  fc.constantFrom(2n ** 49n - 1n, 2n ** 49n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n),
);
const text = fc.string({ unit: 'binary', maxLength: 300 });
const recorded = fc.record({
  id: fc.uuid(),
  stream: text,
  revision: unsigned,
  commit: unsigned,
  prepare: unsigned,
  type: fc.string({ unit: 'binary', minLength: 1 }),
  data: text,
  metadata: text,
});

test('events are what the generated classes make of them', () => {
  fc.assert(
    fc.property(recorded, fc.boolean(), (event, hasLink) => {
      const written = eventOf(event);
      const answer = new ReadEvent().setEvent(written).setCommitPosition('7');
      if (hasLink) answer.setLink(eventOf({ ...event, type: 'a link' }));
      const { id, stream, revision, commit, prepare, type, data, metadata } = event;
      assert.equal(readResponse(new streams.ReadResp().setEvent(answer).serializeBinary()), {
        event: { id, stream, revision, position: { commit, prepare }, type, data, metadata },
      });
    }),
  );
});

test('checkpoints and the end that is caught up with are told apart from all else', () => {
  fc.assert(
    fc.property(unsigned, unsigned, (commit, prepare) => {
      const checkpoint = new streams.ReadResp.Checkpoint();
      checkpoint.setCommitPosition(String(commit)).setPreparePosition(String(prepare));
      assert.equal(readResponse(new streams.ReadResp().setCheckpoint(checkpoint).serializeBinary()), {
        checkpoint: { commit, prepare },
      });
    }),
  );
  assert.equal(said(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp())), { hasCaughtUp: true });
  assert.equal(said(new streams.ReadResp().setFellBehind(new streams.ReadResp.FellBehind())), {});
  assert.equal(said(new streams.ReadResp().setConfirmation(new streams.ReadResp.SubscriptionConfirmation())), {});
  assert.equal(said(new streams.ReadResp().setStreamNotFound(new streams.ReadResp.StreamNotFound())), {});
  assert.equal(said(new streams.ReadResp().setLastStreamPosition(String(2n ** 64n - 1n))), {});
});

test('fields that a later server adds are passed over, of each wire type', () => {
  const event = eventOf({
    id: 'i',
    stream: 's-1',
    revision: 1n,
    commit: 2n,
    prepare: 3n,
    type: 't',
    data: 'd',
    metadata: 'm',
  });
  const known = new streams.ReadResp().setEvent(new ReadEvent().setEvent(event)).serializeBinary();
  const later = {
    varint: [0xa0, 0x06, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    'fixed, 64 bits': [0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8],
    delimited: [0xa2, 0x06, 3, 8, 8, 8],
    'fixed, 32 bits': [0xa5, 0x06, 1, 2, 3, 4],
  };
  for (const [name, bytes] of Object.entries(later)) {
    const expected = readResponse(known);
    assert.is(expected.event?.type, 't');
    assert.equal(readResponse(Buffer.from([...bytes, ...known])), expected, `${name} before`);
    assert.equal(readResponse(Buffer.from([...known, ...bytes])), expected, `${name} behind`);
  }
});

test('bytes that are no message are refused: cut anywhere within a field, or changed at random, they never hang or read beyond', () => {
  fc.assert(
    fc.property(recorded, fc.nat(), fc.nat(255), (event, place, byte) => {
      const whole = new streams.ReadResp().setEvent(new ReadEvent().setEvent(eventOf(event))).serializeBinary();
      const cut = 1 + (place % (whole.length - 1));
      assert.throws(() => readResponse(whole.subarray(0, cut)), isRangeError);
      const changed = Uint8Array.from(whole);
      changed[place % whole.length] = byte;
      try {
        readResponse(changed);
      } catch (error) {
        assert.ok(isRangeError(error), String(error));
      }
    }),
  );
});

function said(response: streams.ReadResp): ReadResponse {
  return readResponse(response.serializeBinary());
}

function isRangeError(error: unknown): boolean {
  return error instanceof RangeError;
}

type Recorded = Readonly<{
  id: string;
  stream: string;
  revision: bigint;
  commit: bigint;
  prepare: bigint;
  type: string;
  data: string;
  metadata: string;
}>;

/** As a server writes it. */
function eventOf(event: Recorded): streams.ReadResp.ReadEvent.RecordedEvent {
  const made = new ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(event.stream)))
    .setStreamRevision(String(event.revision))
    .setPreparePosition(String(event.prepare))
    .setCommitPosition(String(event.commit))
    .setCustomMetadata(Buffer.from(event.metadata))
    .setData(Buffer.from(event.data));
  const metadata = made.getMetadataMap();
  metadata.set('created', '17000000000000000').set('type', event.type).set('content-type', 'application/json');
  return made;
}

test.run();
