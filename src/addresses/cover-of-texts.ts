import { type AddressProblem, isAddressProblem, quoted } from './address-problem.ts';
import { TextCursor, textCursor } from './address-scanner.ts';
import { BlockLines } from './block-lines.ts';
import { type BlockSink, coverIpv4, coverIpv6At } from './cidr-cover.ts';
import { parseCidr } from './cidr.ts';
import { readEntry } from './entry-reader.ts';
import { RangeSetBuilder, type RangeSink } from './range-set-builder.ts';
import { parseRangeText } from './range.ts';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const TAB = 9;
const SPACE = 32;
const HASH = 35;

/** The shortest line is `0.0.0.0` and its line feed. */
const SHORTEST_LINE = 8;
const LINES_BUFFER_BYTES = 65_536;
const TEXTS_BUFFER_BYTES = 1_048_576;

/**
 * The minimal cover of addresses, CIDRs and `first-last` ranges in any order, as canonical texts: IPv4 first, then IPv6.
 * A problem names the first entry that is wrong, counted from 1.
 */
export function coverOfTexts(texts: readonly string[]): string[] | AddressProblem {
  const intake = new RangeSetBuilder(texts.length);
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i] ?? '';
    if (!cursor.load(text) || !readEntry(cursor, intake) || !cursor.isAtEnd) {
      return { problem: `entry ${i + 1}: ${entryProblem(text)}` };
    }
  }
  const blocks: string[] = [];
  const lines = new BlockLines(TEXTS_BUFFER_BYTES, (bytes) => {
    // Cutting one long text makes short ones that cost no copy.
    const text = decoder.decode(bytes.subarray(0, bytes.length - 1));
    for (const block of text.split('\n')) blocks.push(block);
  });
  intake.mergeInto(new CoverSink(lines));
  lines.flush();
  return blocks;
}

/**
 * As `coverOfTexts`, from bytes with one entry a line to lines of bytes. Blank lines, spaces around an entry and `#` comments
 * are allowed. `write` gets the lines in pieces; a piece is overwritten after `write` has returned. On a problem, which
 * names the line, nothing is written.
 */
export function coverOfLines(bytes: Uint8Array, write: (lines: Uint8Array) => void): AddressProblem | undefined {
  const intake = new RangeSetBuilder(Math.ceil(bytes.length / SHORTEST_LINE));
  const problem = readLines(new TextCursor(bytes), intake);
  if (problem !== undefined) return problem;
  const lines = new BlockLines(LINES_BUFFER_BYTES, write);
  intake.mergeInto(new CoverSink(lines));
  lines.flush();
  return undefined;
}

function readLines(lines: TextCursor, intake: RangeSetBuilder): AddressProblem | undefined {
  const { bytes } = lines;
  for (;;) {
    skipBlank(lines);
    const start = lines.at;
    if (start >= bytes.length) return undefined;
    if (bytes[start] !== HASH && (!readEntry(lines, intake) || !isLineOver(lines))) return lineProblem(bytes, start);
    if (bytes[lines.at] === HASH) skipLine(lines);
  }
}

/** Past spaces, tabs and the ends of lines. */
function skipBlank(lines: TextCursor): void {
  const { bytes } = lines;
  for (; lines.at < bytes.length; lines.at++) {
    const code = bytes[lines.at];
    if (code !== LINE_FEED && code !== SPACE && code !== CARRIAGE_RETURN && code !== TAB) return;
  }
}

/** Past spaces, and whether nothing but a comment follows. */
function isLineOver(lines: TextCursor): boolean {
  const { bytes } = lines;
  for (; lines.at < bytes.length; lines.at++) {
    const code = bytes[lines.at];
    if (code === LINE_FEED || code === HASH) return true;
    if (code !== SPACE && code !== CARRIAGE_RETURN && code !== TAB) return false;
  }
  return true;
}

function skipLine(lines: TextCursor): void {
  const end = lines.bytes.indexOf(LINE_FEED, lines.at);
  lines.at = end < 0 ? lines.bytes.length : end;
}

function lineProblem(bytes: Uint8Array, start: number): AddressProblem {
  const end = bytes.indexOf(LINE_FEED, start);
  const shownEnd = Math.min(end < 0 ? bytes.length : end, start + LONGEST_SHOWN);
  const line = decoder.decode(bytes.subarray(start, shownEnd)).replace(/#.*$/su, '');
  const number = bytes.subarray(0, start).reduce((count, code) => (code === LINE_FEED ? count + 1 : count), 1);
  return { problem: `line ${number}: ${entryProblem(line.replace(/[ \t\r]+$/u, ''))}` };
}

/** Reads an entry once more, slowly, to say what is wrong with it. */
function entryProblem(text: string): string {
  const outcome = text.includes('/') ? parseCidr(text) : parseRangeText(text);
  if (isAddressProblem(outcome)) return outcome.problem;
  // Only a line that was cut for showing can be right up to the cut.
  return `nothing but a comment may follow ${quoted(text)}`;
}

/** Covers ranges with blocks. */
class CoverSink implements RangeSink {
  readonly #blocks: BlockSink;

  constructor(blocks: BlockSink) {
    this.#blocks = blocks;
  }

  ipv4(start: number, end: number): void {
    coverIpv4(start, end, this.#blocks);
  }

  ipv6(edges: readonly number[]): void {
    coverIpv6At(edges, 0, this.#blocks);
  }
}

const LONGEST_SHOWN = 200;
const cursor = textCursor();
const decoder = new TextDecoder();
