/** How messages are told apart (RFC 6242): by a mark at their end, as in NETCONF 1.0 and in every hello, or in chunks. */
export type Framing = 'end-of-message' | 'chunked';

/** Takes the bytes of a connection as they come, in pieces of any size, and gives those of its messages. */
export type FrameReader = Readonly<{
  /** @throws FramingProblem */
  push: (bytes: Uint8Array) => void;
  /** How what follows is framed; may be set at the end of a message, from within. */
  use: (framing: Framing) => void;
}>;

/** Gets what a reader has found. `end` comes after the last byte of every message. */
export type FrameSink = Readonly<{ bytes: (bytes: Uint8Array) => void; end: () => void }>;

/** What came is not framed as RFC 6242 has it, or is larger than we take. */
export class FramingProblem extends Error {
  override readonly name = 'FramingProblem';
}

const END_OF_MESSAGE = Buffer.from(']]>]]>');
const END_OF_CHUNKS = '\n##\n';
const LARGEST_CHUNK = 4_294_967_295;
/** `\n#4294967295\n`, and the white space that some servers leave after their hello. */
const LONGEST_CHUNK_HEADER = 32;

const LINE_FEED = 0x0a;

/** A message as it goes over the wire. It is never empty. */
export function frame(message: string, framing: Framing): Buffer {
  const bytes = Buffer.from(message, 'utf8');
  if (framing === 'end-of-message') return Buffer.concat([bytes, END_OF_MESSAGE]);
  return Buffer.concat([Buffer.from(`\n#${bytes.length}\n`), bytes, Buffer.from(END_OF_CHUNKS)]);
}

/** Reads `end-of-message` framing at first. No message may have more than `messageBytes`. */
export function createFrameReader(sink: FrameSink, messageBytes: number): FrameReader {
  let rest = Buffer.alloc(0);
  let size = 0;
  let left = 0;
  let take = takeToMark;

  const give = (bytes: Buffer): void => {
    if (bytes.length === 0) return;
    size += bytes.length;
    if (size > messageBytes) throw new FramingProblem(`a message of more than ${messageBytes} bytes`);
    sink.bytes(bytes);
  };
  const endMessage = (): void => {
    size = 0;
    sink.end();
  };

  /** Each of these takes what it can from `rest`, and tells whether there may be more to take. */
  function takeToMark(): boolean {
    const at = rest.indexOf(END_OF_MESSAGE);
    // Of a mark that is not all there yet, at most all but its last byte are.
    const certain = at < 0 ? Math.max(0, rest.length - END_OF_MESSAGE.length + 1) : at;
    give(rest.subarray(0, certain));
    rest = rest.subarray(at < 0 ? certain : at + END_OF_MESSAGE.length);
    if (at >= 0) endMessage();
    return at >= 0;
  }

  function takeHeader(): boolean {
    const hash = rest.indexOf('#');
    const end = hash < 0 ? -1 : rest.indexOf(LINE_FEED, hash);
    if (end < 0 && rest.length <= LONGEST_CHUNK_HEADER) {
      if (!/^\s*(?:\n#[\d#]*)?$/.test(rest.toString('latin1'))) throw badHeader(rest);
      return false;
    }
    const [, digits] = /^\s*\n#(#|[1-9]\d{0,9})\n$/.exec(rest.subarray(0, end + 1).toString('latin1')) ?? [];
    if (digits === undefined || Number(digits) > LARGEST_CHUNK) throw badHeader(rest);
    rest = rest.subarray(end + 1);
    if (digits === '#') {
      if (size === 0) throw new FramingProblem('a message without chunks');
      endMessage();
    } else {
      left = Number(digits);
      take = takeChunk;
    }
    return true;
  }

  function takeChunk(): boolean {
    const part = rest.subarray(0, left);
    rest = rest.subarray(part.length);
    left -= part.length;
    give(part);
    if (left === 0) take = takeHeader;
    return left === 0;
  }

  return {
    push: (bytes) => {
      rest = rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([rest, bytes]);
      while (rest.length > 0 && take());
    },
    use: (framing) => {
      take = framing === 'chunked' ? takeHeader : takeToMark;
    },
  };
}

function badHeader(bytes: Buffer): FramingProblem {
  const shown = JSON.stringify(bytes.subarray(0, LONGEST_CHUNK_HEADER).toString('latin1'));
  return new FramingProblem(`no chunk begins with ${shown}`);
}
