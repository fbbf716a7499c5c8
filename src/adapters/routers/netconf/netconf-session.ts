import type { Duplex } from 'node:stream';
import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import { stoppedBefore, stoppedWaiting } from '../driver-kit/driver-calls.ts';
import { type Capabilities, capabilitiesIn } from './capabilities.ts';
import { createFrameReader, frame, type Framing } from './framing.ts';
import { CLOSE_SESSION, HELLO, rpc } from './operations.ts';
import { errorsIn, type RpcError, RpcFailure } from './rpc-error.ts';
import { createXmlReader, renderXml, type XmlElement, XmlProblem } from '../../xml.ts';

/** An answer that is no failure, and the warnings in it. */
export type Reply = Readonly<{ reply: XmlElement; warnings: readonly RpcError[] }>;

/** A NETCONF session: one operation at a time. What is lost, late, unreadable or stopped ends it. */
export type NetconfSession = Readonly<{
  capabilities: Capabilities;
  /** How many answers have come. */
  answers: () => number;
  isOpen: () => boolean;
  /**
   * Sends an operation and waits for its answer. @throws RpcFailure for what the device refuses; RouterFailure `unreachable`,
   * `unreadable-answer`, or `timed-out` when no answer comes in time or the signal aborts
   */
  call: (operation: XmlElement, signal: AbortSignal) => Promise<Reply>;
  /** Says goodbye, and does not wait long for an answer. */
  close: () => Promise<void>;
  /** Ends it at once: the device drops what was not committed, and every lock. */
  destroy: () => void;
}>;

/** `answerMilliseconds`: bound on every answer. */
export type NetconfSessionLimits = Readonly<{ clock: Clock; answerMilliseconds: number }>;

type Waiting = Readonly<{ resolve: (document: XmlElement) => void; reject: (failure: Error) => void }>;

/** A million entries are 80 MB. */
const MESSAGE_BYTES = 128 * 1024 * 1024;
const GOODBYE_MILLISECONDS = 3000;
const NUDGE_MILLISECONDS = 500;

/** Exchanges hellos on a channel of the `netconf` subsystem. @throws RouterFailure */
export async function openNetconfSession(
  channel: Duplex,
  limits: NetconfSessionLimits,
  signal: AbortSignal,
): Promise<NetconfSession> {
  const documents = readDocuments(channel);
  let framing: Framing = 'end-of-message';
  let messages = 0;
  let answers = 0;

  /** Whether the first byte of the next message, which is always the same, has been sent already. */
  let begun = false;
  const send = (document: XmlElement): void => {
    const bytes = frame(DECLARATION + renderXml(document), framing);
    channel.write(begun ? bytes.subarray(1) : bytes);
    begun = false;
  };
  /**
   * Servers may let an operation lie that came in one piece with what was sent before it, until more comes (netconfd does so).
   * So the next message begins with nothing but its line feed, early.
   */
  const nudge = (): void => {
    if (framing !== 'chunked' || begun || !documents.isOpen()) return;
    channel.write('\n');
    begun = true;
  };
  const receive = (what: string, milliseconds: number, within: AbortSignal): Promise<XmlElement> =>
    inTime(documents, { what, milliseconds, clock: limits.clock, signal: within });

  send(HELLO);
  const hello = await receive('hello', limits.answerMilliseconds, signal);
  if (hello.name !== 'hello') throw documents.end(unreadable(`it began with <${hello.name}>, not with <hello>`));
  const capabilities = capabilitiesIn(hello);
  if (capabilities.base11) {
    framing = 'chunked';
    documents.use(framing);
  }

  const call = async (operation: XmlElement, within: AbortSignal, milliseconds: number): Promise<Reply> => {
    if (within.aborted) throw stoppedBefore(`<${operation.name}>`, within);
    messages += 1;
    const messageId = String(messages);
    send(rpc(messageId, operation));
    const reply = await afterAWhile(nudge, limits.clock, () => receive(operation.name, milliseconds, within));
    answers += 1;
    if (reply.name !== 'rpc-reply') throw documents.end(unreadable(`it answered with <${reply.name}>`));
    const of = reply.attributes.find(({ name }) => name === 'message-id')?.value;
    const found = errorsIn(reply);
    const errors = found.filter(({ severity }) => severity === 'error');
    // A reply to what could not be read has no id.
    if (of !== messageId && (of !== undefined || errors.length === 0)) {
      throw documents.end(unreadable(`it answered message ${of ?? 'unknown'} in place of ${messageId}`));
    }
    if (errors.length > 0) throw new RpcFailure(operation.name, errors);
    return { reply, warnings: found };
  };

  return {
    capabilities,
    answers: () => answers,
    isOpen: documents.isOpen,
    call: (operation, within) => call(operation, within, limits.answerMilliseconds),
    close: async () => {
      // However it answers, the session is over.
      await call(CLOSE_SESSION, new AbortController().signal, GOODBYE_MILLISECONDS).catch(() => undefined);
      documents.end(new RouterFailure('unreachable', 'the NETCONF session is closed'));
    },
    destroy: () => void documents.end(new RouterFailure('unreachable', 'the NETCONF session is closed')),
  };
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/** The documents that come over a channel; a call waits for each. */
type Documents = Readonly<{
  next: () => Promise<XmlElement>;
  use: (framing: Framing) => void;
  isOpen: () => boolean;
  /** Ends the channel; gives the failure that calls get which wait now or later. */
  end: (failure: RouterFailure) => RouterFailure;
}>;

function readDocuments(channel: Duplex): Documents {
  let reader = createXmlReader();
  let waiting: Waiting | undefined;
  let ended: RouterFailure | undefined;

  const end = (failure: RouterFailure): RouterFailure => {
    ended ??= failure;
    waiting?.reject(ended);
    waiting = undefined;
    channel.destroy();
    return ended;
  };
  const frames = createFrameReader(
    {
      bytes: (bytes) => reader.write(bytes),
      end: () => {
        const document = reader.end();
        reader = createXmlReader();
        // The session asks for no notifications, and a router may send some without being asked.
        if (document.name === 'notification') return;
        if (waiting === undefined) throw new XmlProblem(`<${document.name}> came unasked`);
        waiting.resolve(document);
        waiting = undefined;
      },
    },
    MESSAGE_BYTES,
  );
  channel.on('data', (bytes: Buffer) => {
    if (ended !== undefined) return;
    try {
      frames.push(bytes);
    } catch (cause) {
      end(unreadable(cause instanceof Error ? cause.message : String(cause), cause));
    }
  });
  channel.on('error', (cause) => end(lost(cause)));
  channel.on('end', () => end(lost()));
  channel.on('close', () => end(lost()));
  drainComplaints(channel);

  return {
    next: () =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) reject(ended);
        else waiting = { resolve, reject };
      }),
    use: frames.use,
    isOpen: () => ended === undefined,
    end,
  };
}

/** What a router writes to the other stream would stop the channel if it were not read. */
function drainComplaints(channel: Duplex): void {
  const stderr: unknown = 'stderr' in channel ? channel.stderr : undefined;
  if (typeof stderr !== 'object' || stderr === null || !('resume' in stderr)) return;
  if (typeof stderr.resume === 'function') stderr.resume();
}

type RetryPolicy = Readonly<{ what: string; milliseconds: number; clock: Clock; signal: AbortSignal }>;

/** Waits for the next document. What comes later than it may ends the session: it could not be told which request it answers. */
async function inTime(documents: Documents, patience: RetryPolicy): Promise<XmlElement> {
  const { what, milliseconds, clock, signal } = patience;
  const over = new AbortController();
  const stop = (): void => void documents.end(stoppedWaiting(`the router had not answered <${what}>`)(signal));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const timer = clock.wait(milliseconds, over.signal).then(
    () => documents.end(new RouterFailure('timed-out', `the router has not answered <${what}> in ${milliseconds} ms`)),
    () => undefined,
  );
  try {
    return await documents.next();
  } finally {
    signal.removeEventListener('abort', stop);
    over.abort();
    await timer;
  }
}

/** Does something beside a work that takes long. */
async function afterAWhile<T>(what: () => void, clock: Clock, work: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const timer = clock.wait(NUDGE_MILLISECONDS, over.signal).then(what, () => undefined);
  try {
    return await work();
  } finally {
    over.abort();
    await timer;
  }
}

function unreadable(because: string, cause?: unknown): RouterFailure {
  return new RouterFailure('unreadable-answer', `the router's NETCONF can't be read: ${because}`, { cause });
}

function lost(cause?: unknown): RouterFailure {
  return new RouterFailure('unreachable', 'the NETCONF session was lost', { cause });
}
