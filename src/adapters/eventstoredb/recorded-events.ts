import type { Codec, StoredEvent } from '../../events/codec.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { WireEvent } from './read-responses.ts';
import type { StreamNames } from './stream-names.ts';

/** Servers before 22.10 give this for events of a stream. */
const NO_POSITION = 2n ** 64n - 1n;

/** An event as the server gave it, decoded. @throws UndecodableEvent, Error for a server that is too old. */
export function recordedEvent(
  event: WireEvent,
  codec: Codec,
  names: Pick<StreamNames, 'known' | 'explain'>,
): RecordedEvent {
  const stored = storedEvent(event, names);
  if (stored.position === NO_POSITION)
    throw new Error('the server gives no positions: EventStoreDB 22.10 or newer is needed');
  try {
    return codec.decode(stored);
  } catch (error) {
    throw names.explain(stored, error);
  }
}

/** The hash that an event says it has; empty when it says none, as no event of ours. */
export function hashOf(event: WireEvent): string {
  const metadata = json(event.metadata);
  if (typeof metadata !== 'object' || metadata === null || !('hash' in metadata)) return '';
  return typeof metadata.hash === 'string' ? metadata.hash : '';
}

function storedEvent(
  { id, stream, revision, position, type, data, metadata }: WireEvent,
  { known }: Pick<StreamNames, 'known'>,
): StoredEvent {
  return {
    id,
    stream: known(stream),
    revision,
    position: position.commit,
    type,
    data: json(data),
    metadata: json(metadata),
  };
}

/** What is no JSON stays undefined: the codec says what is wrong with it, and with which event. */
function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
