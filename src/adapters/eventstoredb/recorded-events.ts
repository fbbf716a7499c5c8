import type { Codec, StoredEvent } from '../../events/codec.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { streams } from './protocol.ts';

/** A place of `$all`. Our own events have both the same; checkpoints may have not. */
export type AllPosition = Readonly<{ commit: bigint; prepare: bigint }>;

/** Servers before 22.10 give this for events of a stream. */
const NO_POSITION = 2n ** 64n - 1n;

/** An event as the server gave it, decoded. @throws UndecodableEvent, Error for a server that is too old. */
export function recordedEvent(event: streams.ReadResp.ReadEvent.RecordedEvent, codec: Codec): RecordedEvent {
  const { type, data, metadata, ...rest } = storedEvent(event);
  if (rest.position === NO_POSITION)
    throw new Error('the server gives no positions: EventStoreDB 22.10 or newer is needed');
  return codec.decode({ ...rest, type, data, metadata });
}

/** The id of an event; ids are asked for as text. */
export function idOf(event: streams.ReadResp.ReadEvent.RecordedEvent): string {
  return event.getId()?.getString() ?? '';
}

/** The hash that an event says it has; empty when it says none, as no event of ours. */
export function hashOf(event: streams.ReadResp.ReadEvent.RecordedEvent): string {
  const metadata = json(event.getCustomMetadata_asU8());
  if (typeof metadata !== 'object' || metadata === null || !('hash' in metadata)) return '';
  return typeof metadata.hash === 'string' ? metadata.hash : '';
}

/** Where an event is in `$all`. */
export function positionOf(event: streams.ReadResp.ReadEvent.RecordedEvent): AllPosition {
  return { commit: BigInt(event.getCommitPosition()), prepare: BigInt(event.getPreparePosition()) };
}

function storedEvent(event: streams.ReadResp.ReadEvent.RecordedEvent): StoredEvent {
  return {
    id: idOf(event),
    stream: text(event.getStreamIdentifier()?.getStreamName_asU8()),
    revision: BigInt(event.getStreamRevision()),
    position: BigInt(event.getCommitPosition()),
    type: event.getMetadataMap().get('type') ?? '',
    data: json(event.getData_asU8()),
    metadata: json(event.getCustomMetadata_asU8()),
  };
}

/** What is no JSON stays undefined: the codec says what is wrong with it, and with which event. */
function json(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(text(bytes));
  } catch {
    return undefined;
  }
}

function text(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return '';
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
