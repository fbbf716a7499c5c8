/** A place of `$all`. Our own events have both the same; checkpoints may have not. */
export type AllPosition = Readonly<{ commit: bigint; prepare: bigint }>;

/** An event as the protocol carries it; data and metadata as they were written. */
export type WireEvent = Readonly<{
  id: string;
  /** By the name that it has on the server. */
  stream: string;
  revision: bigint;
  position: AllPosition;
  type: string;
  data: string;
  metadata: string;
}>;

/** One answer to a `Read`, as far as it is used here; any other one has none of this. */
export type ReadResponse = Readonly<{ event?: WireEvent; checkpoint?: AllPosition; hasCaughtUp?: true }>;

/**
 * Reads an answer right out of its bytes: the classes that the client's generator makes, one object for each part of a message, cost as much
 * as all else that reading an event does. Fields that are not known are passed over, as the wire format wants it.
 * @throws RangeError for bytes that are no message
 */
export function readResponse(bytes: Uint8Array): ReadResponse {
  const message = new WireMessage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  let response: ReadResponse = {};
  while (message.next()) {
    if (message.field === RESPONSE.event) {
      const event = eventIn(message.part());
      if (event !== undefined) response = { event };
    } else if (message.field === RESPONSE.checkpoint) response = { checkpoint: checkpointIn(message.part()) };
    else if (message.field === RESPONSE.caughtUp) response = { hasCaughtUp: message.is() };
    else message.skip();
  }
  return response;
}

const RESPONSE = { event: 1, checkpoint: 3, caughtUp: 8 } as const;
const READ_EVENT = { event: 1 } as const;
const RECORDED = {
  id: 1,
  stream: 2,
  revision: 3,
  prepare: 4,
  commit: 5,
  metadata: 6,
  customMetadata: 7,
  data: 8,
} as const;
const UUID = { text: 2 } as const;
const STREAM = { name: 3 } as const;
const CHECKPOINT = { commit: 1, prepare: 2 } as const;
const ENTRY = { key: 1, value: 2 } as const;

/** Links are not asked for. */
function eventIn(message: WireMessage): WireEvent | undefined {
  let event: WireEvent | undefined;
  while (message.next()) {
    if (message.field === READ_EVENT.event) event = recordedIn(message.part());
    else message.skip();
  }
  return event;
}

function recordedIn(message: WireMessage): WireEvent {
  let [id, stream, type, data, metadata] = ['', '', '', '', ''];
  let [revision, commit, prepare] = [0n, 0n, 0n];
  while (message.next()) {
    switch (message.field) {
      case RECORDED.id:
        id = textIn(message.part(), UUID.text);
        break;
      case RECORDED.stream:
        stream = textIn(message.part(), STREAM.name);
        break;
      case RECORDED.revision:
        revision = message.unsigned();
        break;
      case RECORDED.prepare:
        prepare = message.unsigned();
        break;
      case RECORDED.commit:
        commit = message.unsigned();
        break;
      case RECORDED.metadata: {
        const entry = message.part();
        type = typeIn(entry) ?? type;
        break;
      }
      case RECORDED.customMetadata:
        metadata = message.text();
        break;
      case RECORDED.data:
        data = message.text();
        break;
      default:
        message.skip();
    }
  }
  return { id, stream, revision, position: { commit, prepare }, type, data, metadata };
}

function checkpointIn(message: WireMessage): AllPosition {
  let [commit, prepare] = [0n, 0n];
  while (message.next()) {
    if (message.field === CHECKPOINT.commit) commit = message.unsigned();
    else if (message.field === CHECKPOINT.prepare) prepare = message.unsigned();
    else message.skip();
  }
  return { commit, prepare };
}

/** What an entry of the metadata says of the event's type, if it is about that. */
function typeIn(message: WireMessage): string | undefined {
  let [key, value] = ['', ''];
  while (message.next()) {
    if (message.field === ENTRY.key) key = message.text();
    else if (message.field === ENTRY.value) value = message.text();
    else message.skip();
  }
  return key === 'type' ? value : undefined;
}

function textIn(message: WireMessage, field: number): string {
  let text = '';
  while (message.next()) {
    if (message.field === field) text = message.text();
    else message.skip();
  }
  return text;
}

const [VARINT, FIXED_64, DELIMITED, FIXED_32] = [0, 1, 2, 5];
/** Seven groups of seven bits are a number without loss; what is above them is added as a bigint. */
const LOW_GROUPS = 7;
const LOW_BITS = 49n;
const GROUPS_MAX = 10;

/** The fields of one message of protocol buffers, one after another. */
class WireMessage {
  /** The number of the field at hand; each is taken or skipped before the next. */
  field = 0;
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #wireType = VARINT;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.#number();
    this.field = Math.floor(tag / 8);
    this.#wireType = tag % 8;
    return true;
  }

  unsigned(): bigint {
    this.#expect(VARINT);
    let [low, high] = [0, 0];
    let scale = 1;
    for (let group = 0; group < GROUPS_MAX; group += 1) {
      if (group === LOW_GROUPS) scale = 1;
      const byte = this.#byte();
      if (group < LOW_GROUPS) low += (byte & 127) * scale;
      else high += (byte & 127) * scale;
      if (byte < 128) return high === 0 ? BigInt(low) : BigInt.asUintN(64, BigInt(low) + (BigInt(high) << LOW_BITS));
      scale *= 128;
    }
    throw new RangeError('a number of a message does not end');
  }

  text(): string {
    const [start, end] = this.#delimited();
    return this.#bytes.toString('utf8', start, end);
  }

  /** The message that the field is. */
  part(): WireMessage {
    const [start, end] = this.#delimited();
    return new WireMessage(this.#bytes, start, end);
  }

  /** For a field that says by being there what there is to say. */
  is(): true {
    this.skip();
    return true;
  }

  skip(): void {
    if (this.#wireType === VARINT) this.unsigned();
    else if (this.#wireType === DELIMITED) this.#delimited();
    else if (this.#wireType === FIXED_64) this.#advance(8);
    else if (this.#wireType === FIXED_32) this.#advance(4);
    else throw new RangeError(`a message has a field of the wire type ${this.#wireType}`);
  }

  #delimited(): readonly [start: number, end: number] {
    this.#expect(DELIMITED);
    const bytes = this.#number();
    const start = this.#at;
    this.#advance(bytes);
    return [start, this.#at];
  }

  /** Tags and lengths. */
  #number(): number {
    let value = 0;
    let scale = 1;
    for (let group = 0; group < LOW_GROUPS; group += 1) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new RangeError('a length of a message does not end');
  }

  #byte(): number {
    const byte = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    if (byte === undefined) throw new RangeError('a message ends in the middle of a field');
    this.#at += 1;
    return byte;
  }

  #advance(bytes: number): void {
    this.#at += bytes;
    if (this.#at > this.#end) throw new RangeError('a message ends in the middle of a field');
  }

  #expect(wireType: number): void {
    if (this.#wireType !== wireType) throw new RangeError(`field ${this.field} of a message has another wire type`);
  }
}
