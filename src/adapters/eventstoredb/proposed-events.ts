import type { Sealed } from '../../kernel/event.ts';
import { NO_STREAM } from '../../ports/event-store.ts';
import { shared, streams } from './protocol.ts';

/** One event as it goes over the wire. `bytes` is what the server counts against its limit: the data alone. */
export type ProposedEvent = Readonly<{ id: string; message: streams.BatchAppendReq.ProposedMessage; bytes: number }>;

/** JSON with the metadata as the store knows them (`$correlationId`, `$causationId`), so that its own tools understand our events. `json`: the event's data. */
export function proposedEvent(event: Sealed, json: string): ProposedEvent {
  const data = Buffer.from(json);
  const metadata = Buffer.from(JSON.stringify(event.metadata));
  const message = proposedMessage(event.id, event.type, data, metadata);
  return { id: event.id, message, bytes: data.length };
}

/** Data in JSON, and metadata in JSON or none, as a message. */
export function proposedMessage(
  id: string,
  type: string,
  data: Uint8Array,
  metadata: Uint8Array,
): streams.BatchAppendReq.ProposedMessage {
  const message = new streams.BatchAppendReq.ProposedMessage();
  message.setId(uuid(id));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  message.setData(data);
  message.setCustomMetadata(metadata);
  return message;
}

/** One append of a batch call, whole in one message. */
export function appendRequest(
  correlationId: string,
  stream: string,
  expected: bigint,
  events: readonly ProposedEvent[],
): streams.BatchAppendReq {
  const options = new streams.BatchAppendReq.Options();
  options.setStreamIdentifier(streamIdentifier(stream));
  if (expected === NO_STREAM) options.setNoStream(new shared.Empty());
  else options.setStreamPosition(String(expected));
  const request = new streams.BatchAppendReq();
  request.setCorrelationId(uuid(correlationId));
  request.setOptions(options);
  request.setProposedMessagesList(events.map(({ message }) => message));
  request.setIsFinal(true);
  return request;
}

/** The name of a stream as the protocol carries it. */
export function streamIdentifier(stream: string): shared.StreamIdentifier {
  return new shared.StreamIdentifier().setStreamName(Buffer.from(stream));
}

function uuid(text: string): shared.UUID {
  return new shared.UUID().setString(text);
}
