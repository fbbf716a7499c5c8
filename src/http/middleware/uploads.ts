import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import busboy from 'busboy';
import { type FieldErrors, invalid, type Problem } from '../problems.ts';

/** A form of text fields and one file. */
export type UploadForm = Readonly<{
  /** Text fields by name, and whether they may come several times. */
  fields: Readonly<Record<string, 'once' | 'repeated'>>;
  /** How many text fields may come, all together. */
  fieldsMax: number;
  /** The name of the file field. */
  file: string;
  fileBytesMax: number;
}>;

/** A form as it was sent. The file's bytes are gone where they were to go; what is left is what tells its type. */
export type Upload = Readonly<{
  fields: ReadonlyMap<string, readonly string[]>;
  file: UploadedFile | undefined;
  /** What is wrong with single parts, whatever is to be said of the others; fields that are not here may still be. */
  wrong: FieldErrors;
}>;

export type UploadedFile = Readonly<{ fileName: string; bytes: number; head: Uint8Array }>;

const WRONG_TYPE: Problem = { status: 415, message: 'the content type must be multipart/form-data.' };
const NO_BOUNDARY: Problem = { status: 400, message: 'the content type must name the boundary of the parts.' };
const MALFORMED: Problem = { status: 400, message: 'the request body is not valid multipart/form-data.' };
const TOO_LARGE: Problem = { status: 413, message: 'the request body is too large.' };

const BOUNDARY = /;[ \t]*boundary=(?:"[^"]{1,70}"|[^"; \t]{1,70})[ \t]*(?:;|$)/i;
/** A reason of 500 characters has up to 2,000 bytes. */
const FIELD_BYTES_MAX = 2_048;
/** Of the body besides the file: fields, boundaries, part headers. */
const OTHER_BYTES_MAX = 1024 * 1024;
/** Enough for every signature that is looked for. */
const HEAD_BYTES = 4_100;
const FILE_NAME_BYTES_MAX = 255;
const FIELD_NAME_LENGTH_MAX = 100;
const WRONG_FIELDS_MAX = 20;
/** From the last byte of a body to the end of its reading: a parser that waits for more than there is must not wait for ever. */
const ENDING_MILLISECONDS_MAX = 30_000;
/** After an early answer this much more is read and thrown away, so that the client can read the answer; then the connection ends. */
const IGNORED_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Reads `multipart/form-data` (RFC 7578) piece by piece: each piece of the file goes to `write`, which is waited for, so that memory stays
 * flat. Answers the form, or what is wrong with it as soon as that is known. When it resolves, nothing is being written any more.
 * Fields and file may come in any order. Rejects with what `write` rejects with.
 */
export function receiveUpload(
  request: IncomingMessage,
  form: UploadForm,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<Upload | Readonly<{ problem: Problem }>> {
  if (!/^multipart\/form-data[ \t]*(;|$)/i.test(request.headers['content-type'] ?? ''))
    return Promise.resolve(refuseUnread(request, WRONG_TYPE));
  const bytesMax = form.fileBytesMax + OTHER_BYTES_MAX;
  if (Number(request.headers['content-length'] ?? 0) > bytesMax)
    return Promise.resolve(refuseUnread(request, fileTooLarge(form)));
  const parser = parserOf(request, form);
  if (parser === undefined) return Promise.resolve(refuseUnread(request, NO_BOUNDARY));
  return new Promise((resolve, reject) => {
    new UploadReader({ request, parser, form, write, bytesMax, resolve, reject }).start();
  });
}

function refuseUnread(request: IncomingMessage, problem: Problem): Readonly<{ problem: Problem }> {
  ignoreRest(request);
  return { problem };
}

/** Throws away what still comes of a body, up to a bound. */
function ignoreRest(request: IncomingMessage): void {
  let ignored = 0;
  request.on('data', (piece: Buffer) => {
    ignored += piece.length;
    if (ignored > IGNORED_BYTES_MAX) request.destroy();
  });
  request.resume();
}

/** A parser for the body, or `undefined` when its content type names no boundary (RFC 2046, 5.1.1). */
function parserOf({ headers }: IncomingMessage, { fieldsMax }: UploadForm): busboy.Busboy | undefined {
  if (!BOUNDARY.test(headers['content-type'] ?? '')) return undefined;
  try {
    return busboy({
      headers,
      defParamCharset: 'utf8',
      preservePath: true,
      // A second file, and one part more than can be right, are let in so far that they can be named.
      limits: { fieldSize: FIELD_BYTES_MAX, fields: fieldsMax, files: 2, parts: fieldsMax + 4 },
    });
  } catch {
    return undefined;
  }
}

/**
 * Whether the closing boundary was seen. Busboy 1.6 goes on with what follows it in the same piece, and then waits for the end of a file that
 * can't come: what is a part after the end must be known as such.
 */
function isClosed(parser: Writable): boolean {
  return '_complete' in parser && parser._complete === true;
}

type Reading = Readonly<{
  request: IncomingMessage;
  parser: Writable & Pick<busboy.Busboy, 'on'>;
  form: UploadForm;
  write: (bytes: Uint8Array) => Promise<void>;
  bytesMax: number;
  resolve: (outcome: Upload | Readonly<{ problem: Problem }>) => void;
  reject: (error: unknown) => void;
}>;

/** One upload from its first byte to its end, or to the first thing that ends it early. */
class UploadReader {
  readonly #of: Reading;
  readonly #fields = new Map<string, string[]>();
  readonly #wrong = new Map<string, string>();
  #file: UploadedFile | undefined;
  #files = 0;
  #received = 0;
  #taking: Promise<void> = Promise.resolve();
  #ending: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(reading: Reading) {
    this.#of = reading;
  }

  start(): void {
    const { request, parser, form } = this.#of;
    const tooManyFields = invalid({ body: [`must not have more than ${form.fieldsMax} fields.`] });
    request.on('data', this.#count);
    request.on('error', this.#breakDown);
    request.socket.once('close', this.#breakDown);
    request.once('end', () => {
      if (!this.#isOver) this.#ending = setTimeout(this.#breakDown, ENDING_MILLISECONDS_MAX);
    });
    parser.on('field', (name, value, { valueTruncated }) => this.#takeField(name, value, valueTruncated));
    parser.on('file', (name, stream, { filename }) => this.#openFile(name, stream, filename));
    for (const limit of ['fieldsLimit', 'partsLimit'] as const) parser.on(limit, () => this.#stop(tooManyFields));
    parser.on('filesLimit', () => this.#stop(severalFiles(form)));
    parser.on('error', () => this.#stop(MALFORMED));
    parser.on('close', () => void this.#finish());
    request.pipe(parser);
  }

  /** The client went away in the middle, or the body does not add up. The request itself says nothing of it once it was answered as unreadable. */
  readonly #breakDown = (): void => this.#stop(MALFORMED);

  readonly #count = (piece: Buffer): void => {
    this.#received += piece.length;
    if (this.#received > this.#of.bytesMax) this.#stop(TOO_LARGE);
  };

  #takeField(name: string | undefined, value: string | undefined, isTruncated: boolean): void {
    const { fields, file } = this.#of.form;
    if (isClosed(this.#of.parser)) return this.#stop(MALFORMED);
    if (name === undefined || value === undefined) return this.#blame('body', 'has a part that can not be read.');
    if (name === file) return this.#blame(name, 'must be a file, with a file name.');
    const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (kind === undefined) return this.#blame(name, 'is not a known field.');
    const shown = dotted(name);
    // It was given all the same: what is missing is another matter.
    if (isTruncated) this.#blame(shown, `must be shorter than ${FIELD_BYTES_MAX} bytes.`);
    const values = this.#fields.get(name);
    if (values === undefined) this.#fields.set(name, [value]);
    else if (kind === 'repeated') values.push(value);
    else this.#blame(shown, 'must be given once.');
  }

  #openFile(name: string | undefined, stream: Readable, fileName: string | undefined): void {
    const { form } = this.#of;
    this.#files += 1;
    // The parser tells how a stream ended; an error of its own would only be said twice.
    stream.on('error', () => undefined);
    if (isClosed(this.#of.parser)) this.#stop(MALFORMED);
    if (this.#isOver) return void stream.resume();
    if (name !== form.file) {
      const isText = name !== undefined && Object.hasOwn(form.fields, name);
      if (isText) this.#blame(dotted(name), 'must be text, not a file.');
      else this.#blame(name ?? 'body', 'is not a known field.');
      return void stream.resume();
    }
    if (this.#files > 1) return this.#stop(severalFiles(form));
    const problem = fileNameProblem(fileName);
    if (problem !== undefined || fileName === undefined) {
      this.#blame(name, problem ?? 'must have a file name.');
      return void stream.resume();
    }
    this.#taking = this.#takeFile(stream, fileName);
  }

  async #takeFile(stream: Readable, fileName: string): Promise<void> {
    const { form, write } = this.#of;
    const head = Buffer.alloc(HEAD_BYTES);
    let bytes = 0;
    try {
      for await (const piece of piecesOf(stream)) {
        if (bytes < HEAD_BYTES) piece.copy(head, bytes);
        bytes += piece.length;
        if (bytes > form.fileBytesMax) return this.#stop(fileTooLarge(form));
        await write(piece);
      }
    } catch (error) {
      return this.#fail(error);
    }
    this.#file = { fileName, bytes, head: head.subarray(0, bytes) };
  }

  /** One message for each field; the first wrong ones tell enough. */
  #blame(name: string, message: string): void {
    const shown = name.length > FIELD_NAME_LENGTH_MAX ? `${name.slice(0, FIELD_NAME_LENGTH_MAX)}…` : name;
    if (this.#wrong.size < WRONG_FIELDS_MAX && !this.#wrong.has(shown)) this.#wrong.set(shown, message);
  }

  async #finish(): Promise<void> {
    await this.#taking;
    if (!this.#leave()) return;
    const wrong = [...this.#wrong].map(([name, message]): [string, string[]] => [name, [message]]);
    this.#of.resolve({ fields: this.#fields, file: this.#file, wrong: Object.fromEntries(wrong) });
  }

  #stop(problem: Problem): void {
    if (!this.#leave()) return;
    this.#breakOff();
    void this.#taking.then(() => this.#of.resolve({ problem }));
  }

  #fail(error: unknown): void {
    if (!this.#leave()) return;
    this.#breakOff();
    this.#of.reject(error);
  }

  #breakOff(): void {
    const { request, parser } = this.#of;
    request.unpipe(parser);
    parser.destroy();
    ignoreRest(request);
  }

  #leave(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#ending);
    this.#of.request.off('data', this.#count);
    this.#of.request.socket.off('close', this.#breakDown);
    return true;
  }
}

/** The pieces of a stream until its end, or until it breaks off. */
async function* piecesOf(stream: Readable): AsyncGenerator<Buffer, void, undefined> {
  const pieces: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  for (;;) {
    const next = await pieces.next().catch(() => undefined);
    if (next === undefined || next.done === true) return;
    yield next.value;
  }
}

/** A field of a form as everything that is wrong with it is told: `range[start]` is `range.start`, `regions[]` is `regions`. */
function dotted(name: string): string {
  return name.replace(/\[\]$/, '').replaceAll(/\[(\w+)\]/g, '.$1');
}

/** What is wrong with a file's name; a name that leads somewhere else is an attack. */
function fileNameProblem(fileName: string | undefined): string | undefined {
  if (fileName === undefined || fileName === '') return 'must have a file name.';
  if (/[/\\]/.test(fileName)) return 'must have a file name without a path.';
  if (/\p{Cc}/u.test(fileName)) return 'must have a file name without control characters.';
  // UTF-16, in which a name may be sent too, can have one; no header and no store has a place for it.
  if (/\p{Cs}/u.test(fileName)) return 'must have a file name without half a character.';
  if (Buffer.byteLength(fileName) > FILE_NAME_BYTES_MAX)
    return `must have a file name of at most ${FILE_NAME_BYTES_MAX} bytes.`;
  return undefined;
}

function fileTooLarge({ file, fileBytesMax }: UploadForm): Problem {
  return invalid({ [file]: [`must not be larger than ${fileBytesMax} bytes.`] });
}

function severalFiles({ file }: UploadForm): Problem {
  return invalid({ [file]: ['must be one file.'] });
}
