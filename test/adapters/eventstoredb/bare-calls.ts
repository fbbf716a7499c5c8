// Single calls as they go over the wire: what a client makes of an answer is not in the way.
import { randomUUID } from 'node:crypto';
import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { appendRequest, proposedEvent } from '../../../src/adapters/eventstoredb/proposed-events.ts';
import { shared, streams, streamServices } from '../../../src/adapters/eventstoredb/protocol.ts';
import { NO_STREAM } from '../../../src/ports/event-store.ts';
import { notes } from '../../contracts/sample-events.ts';

/** How a call ended: its status, and what it said beside that. */
export type Ended = Readonly<{ code: status; details: string; trailers: Metadata }>;

export type BareCalls = Readonly<{
  /** Reads to the end of the answers, and hears of each as it comes. */
  read: (request: streams.ReadReq, heard?: (response: streams.ReadResp) => void) => Promise<Ended>;
  /** One new event by `Append`. */
  append: (stream: string) => Promise<Ended>;
  /** One new event by `BatchAppend`: its answer, or how the whole call ended before that. */
  appendInBatch: (stream: string) => Promise<streams.BatchAppendResp | Ended>;
  close: () => void;
}>;

export type CallsAs = Readonly<{ login?: string; requiresLeader?: boolean }>;

/** Calls of this server, by somebody. */
export function bareCalls(port: number, { login, requiresLeader = false }: CallsAs = {}): BareCalls {
  const client = new streamServices.StreamsClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('requires-leader', String(requiresLeader));
  if (login !== undefined) metadata.set('authorization', `Basic ${Buffer.from(login).toString('base64')}`);

  return {
    read: (request, heard = () => undefined) =>
      new Promise((resolve) => {
        const call = client.read(request, metadata);
        call.on('data', heard);
        call.on('error', (error: ServiceError) => resolve(endedBy(error)));
        call.on('end', () => resolve(OK));
      }),
    append: (stream) =>
      new Promise((resolve) => {
        const call = client.append(metadata, (error) => resolve(error === null ? OK : endedBy(error)));
        const [event] = notes(stream, 'a');
        if (event === undefined) throw new Error('no event');
        const options = new streams.AppendReq.Options().setAny(new shared.Empty());
        options.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)));
        call.write(new streams.AppendReq().setOptions(options));
        const message = new streams.AppendReq.ProposedMessage().setId(new shared.UUID().setString(event.id));
        message.getMetadataMap().set('type', event.type).set('content-type', 'application/json');
        call.write(new streams.AppendReq().setProposedMessage(message.setData(Buffer.from('{}'))));
        call.end();
      }),
    appendInBatch: (stream) =>
      new Promise((resolve) => {
        const call = client.batchAppend(metadata);
        call.on('error', (error: ServiceError) => resolve(endedBy(error)));
        call.on('data', (response: streams.BatchAppendResp) => {
          resolve(response);
          call.end();
        });
        const events = notes(stream, 'a').map((event) => proposedEvent(event, JSON.stringify(event.data)));
        call.write(appendRequest(randomUUID(), stream, NO_STREAM, events));
      }),
    close: () => client.close(),
  };
}

const OK: Ended = { code: status.OK, details: '', trailers: new Metadata() };

function endedBy({ code, details, metadata }: ServiceError): Ended {
  return { code, details, trailers: metadata };
}
