import { createReadStream } from 'node:fs';
import { Composer, CST, type Document, isScalar, Lexer, LineCounter, Parser, visit } from 'yaml';
import { usage } from '../output.ts';

const BYTES_MAX = 1024 * 1024;
const TOKENS_MAX = 100_000;
const DEPTH_MAX = 64;
const INDENT_MAX = 256;
/** Times that aliases may be expanded, all together. */
const ALIASES_MAX = 100;

/** Reads a YAML or JSON document from a file, or from standard input for `-`. At most 1 MiB. @throws CommandFailure usage */
export async function readDocument(option: string, source: string): Promise<unknown> {
  return parseDocumentText(option, await readText(option, source));
}

/**
 * Parses YAML 1.2 (and so JSON) as data: no tags, aliases bounded, each key once, nothing deeper than anyone writes.
 * @throws CommandFailure usage, which names the option and the line
 */
export function parseDocumentText(option: string, text: string): unknown {
  const problem = textProblem(text);
  if (problem !== undefined) throw usage(`${option}: ${problem}`);
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  // The first mistake is told: what follows it is seldom one of its own.
  for (const token of tokens) {
    if (token.type === 'error') throw usage(`${option}: ${at(lines, token.offset)}${token.message}`);
  }
  const composer = new Composer({ schema: 'core', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
  const documents = [...composer.compose(tokens)];
  const [document] = documents;
  if (documents.length > 1) throw usage(`${option}: there is more than one document`);
  if (document === undefined) throw usage(`${option}: there is nothing in it`);
  const [error] = document.errors;
  if (error !== undefined) throw usage(`${option}: ${at(lines, error.pos[0])}${error.message}`);
  refuseOddKeys(option, document, lines);
  try {
    const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
    return value;
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause;
    const expands = cause.message.startsWith('Excessive alias count');
    throw usage(`${option}: ${expands ? 'its aliases expand to too much' : cause.message}`);
  }
}

async function readText(option: string, source: string): Promise<string> {
  const stream = source === '-' ? process.stdin : createReadStream(source);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      const read = Buffer.from(chunk);
      bytes += read.length;
      if (bytes > BYTES_MAX) throw usage(`${option}: ${nameOf(source)} has more than 1 MiB`);
      chunks.push(read);
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error)
      throw usage(`${option}: ${nameOf(source)} can't be read: ${error.message}`);
    throw error;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw usage(`${option}: ${nameOf(source)} is not UTF-8 text`);
  }
}

function nameOf(source: string): string {
  return source === '-' ? 'standard input' : source;
}

/** Looked for before anything is built: a parser's time and stack grow with these. */
function textProblem(text: string): string | undefined {
  let [tokens, flowDepth, lineDepth] = [0, 0, 0];
  let isContent = false;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    const type: CST.TokenType | null | undefined = isContent ? undefined : CST.tokenType(token);
    // After this mark comes the text of a scalar, whatever it looks like.
    isContent = type === 'scalar';
    if (type === 'tag') return `tags such as ${token.slice(0, 60)} can't be used`;
    if (type === 'flow-map-start' || type === 'flow-seq-start') flowDepth += 1;
    if (type === 'flow-map-end' || type === 'flow-seq-end') flowDepth -= 1;
    if (type === 'newline') lineDepth = 0;
    const opensBlock = type === 'seq-item-ind' || type === 'explicit-key-ind' || type === 'map-value-ind';
    if (opensBlock && flowDepth === 0) lineDepth += 1;
    const isIndented = type === 'space' && lineDepth === 0 && token.length > INDENT_MAX;
    if (flowDepth > DEPTH_MAX || lineDepth > DEPTH_MAX || isIndented) return 'it is nested too deeply';
    if (tokens > TOKENS_MAX) return `it has more than ${TOKENS_MAX} parts`;
  }
  return undefined;
}

function refuseOddKeys(option: string, document: Document.Parsed, lines: LineCounter): void {
  visit(document, {
    Map: (_key, map) => {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) throw usage(`${option}: ${at(lines, map.range?.[0])}keys must be plain text`);
        const name = String(key.value);
        if (seen.has(name)) throw usage(`${option}: ${at(lines, key.range?.[0])}key ${name} is there twice`);
        seen.add(name);
      }
    },
  });
}

function at(lines: LineCounter, offset: number | undefined): string {
  if (offset === undefined) return '';
  const { line, col } = lines.linePos(offset);
  return `line ${line}, column ${col}: `;
}
