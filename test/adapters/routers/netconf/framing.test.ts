import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createFrameReader,
  frame,
  type FrameReader,
  type Framing,
  FramingProblem,
} from '../../../../src/adapters/routers/netconf/framing.ts';

const END_OF_MESSAGE = ']]>]]>';

/** A reader, and the messages that it has found so far. */
function collecting(messageBytes = 1_000_000): Readonly<{ reader: FrameReader; messages: string[] }> {
  const messages: string[] = [];
  let parts: Uint8Array[] = [];
  const reader = createFrameReader(
    {
      bytes: (bytes) => parts.push(Buffer.from(bytes)),
      end: () => {
        messages.push(Buffer.concat(parts).toString('utf8'));
        parts = [];
      },
    },
    messageBytes,
  );
  return { reader, messages };
}

/** The messages in some bytes that come in pieces of the given sizes, over and over. */
function read(bytes: Buffer, framing: Framing, sizes: readonly number[]): readonly string[] {
  const { reader, messages } = collecting();
  reader.use(framing);
  for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
    const size = sizes[piece % sizes.length] ?? 1;
    reader.push(bytes.subarray(at, at + size));
    at += size;
  }
  return messages;
}

/** A message in chunks of the given sizes, over and over. */
function inChunks(message: string, sizes: readonly number[]): Buffer {
  const bytes = Buffer.from(message);
  const parts: Buffer[] = [];
  for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
    const chunk = bytes.subarray(at, at + (sizes[piece % sizes.length] ?? 1));
    parts.push(Buffer.from(`\n#${chunk.length}\n`), chunk);
    at += chunk.length;
  }
  return Buffer.concat([...parts, Buffer.from('\n##\n')]);
}

const MESSAGES = fc.array(
  fc
    .oneof(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.constantFrom(']]>]]', '\n##\n', '\n#4\n', '# \n', ']]>\n]]>'),
    )
    .filter((message) => !`${message}]]>]]`.includes(END_OF_MESSAGE)),
  { minLength: 1, maxLength: 5 },
);
const SIZES = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });

test('both framings, messages of any content, in pieces of any size', () => {
  fc.assert(
    fc.property(MESSAGES, SIZES, fc.constantFrom<Framing>('end-of-message', 'chunked'), (messages, sizes, framing) => {
      const bytes = Buffer.concat(messages.map((message) => frame(message, framing)));
      assert.equal(read(bytes, framing, sizes), messages);
    }),
  );
});

test('chunks of any size, in pieces of any size, also through the middle of a character', () => {
  fc.assert(
    fc.property(MESSAGES, SIZES, SIZES, (messages, chunks, pieces) => {
      const bytes = Buffer.concat(messages.map((message) => inChunks(message, chunks)));
      assert.equal(read(bytes, 'chunked', pieces), messages);
    }),
  );
});

test('ten megabytes in one chunk', () => {
  const message = 'x'.repeat(10_000_000);
  const { reader, messages } = collecting(20_000_000);
  reader.use('chunked');
  reader.push(frame(message, 'chunked'));
  assert.ok(messages[0] === message);
});

test('the framing changes between two messages of one piece', () => {
  const messages: string[] = [];
  let text = '';
  const reader = createFrameReader(
    {
      bytes: (bytes) => (text += Buffer.from(bytes).toString()),
      end: () => {
        messages.push(text);
        text = '';
        reader.use('chunked');
      },
    },
    1000,
  );
  // Some servers end the line after their hello.
  reader.push(Buffer.concat([frame('hello', 'end-of-message'), Buffer.from('\n'), frame('reply', 'chunked')]));
  assert.equal(messages, ['hello', 'reply']);
});

for (const header of [
  '#5\n',
  '\n#0\n',
  '\n#05\n',
  '\n#-1\n',
  '\n#5',
  '\n#4294967296\n',
  '\n# 5\n',
  '\n#5x\n',
  '<rpc-reply>',
  '\n##\n',
]) {
  test(`no chunk begins with ${JSON.stringify(header)}`, () => {
    const { reader } = collecting();
    reader.use('chunked');
    assert.throws(
      () => reader.push(Buffer.from(`${header}${'x'.repeat(40)}`)),
      (error: unknown) => error instanceof FramingProblem,
    );
  });
}

test('a header that goes on and on', () => {
  const { reader } = collecting();
  reader.use('chunked');
  assert.throws(
    () => reader.push(Buffer.from(`\n#${'1'.repeat(100)}`)),
    (error: unknown) => error instanceof FramingProblem,
  );
});

for (const framing of ['end-of-message', 'chunked'] as const) {
  test(`${framing}: a message of more bytes than are taken, before all of it has come`, () => {
    const { reader } = collecting(100);
    reader.use(framing);
    reader.push(frame('x'.repeat(100), framing));
    const large = frame('x'.repeat(101), framing);
    assert.throws(
      () => reader.push(large.subarray(0, large.length - 1)),
      (error: unknown) => error instanceof FramingProblem && error.message.includes('100 bytes'),
    );
  });
}

test.run();
