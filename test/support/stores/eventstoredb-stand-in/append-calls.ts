import services from '@eventstore/db-client/generated/shared_pb.js';
import codes from '@eventstore/db-client/generated/code_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { Metadata, sendUnaryData, ServerDuplexStream, ServerReadableStream } from '@grpc/grpc-js';
import protobufAny from 'google-protobuf/google/protobuf/any_pb.js';
import protobufEmpty from 'google-protobuf/google/protobuf/empty_pb.js';
import { type AppendOutcome, countedBytes, type Expectation, type ProposedEvent } from './event-log.ts';
import { inHalves, nameIn, proposedEvent, uuidText } from './messages.ts';
import { type Node, refusalOf } from './node.ts';
import { accessDenied, commitTimeout, maximumAppendSizeExceeded, notLeader, notReady } from './refusals.ts';
import { mayUse, userOf } from './access.ts';

type WrongVersion = Exclude<AppendOutcome, { kind: 'appended' }>;
type Batch = { stream: string; expected: Expectation; events: ProposedEvent[]; bytes: number };
type Failure =
  | WrongVersion
  | Readonly<{ kind: 'too-large' }>
  | Readonly<{ kind: 'timeout' }>
  | Readonly<{ kind: 'denied' }>
  | Readonly<{ kind: 'not-ready' }>;
type Verdict = AppendOutcome | Failure | Readonly<{ kind: 'silence' }>;

/** `Append`: one append a call. */
export function appendCall(
  node: Node,
): (
  call: ServerReadableStream<streams.AppendReq, streams.AppendResp>,
  answer: sendUnaryData<streams.AppendResp>,
) => void {
  return (call, answer) => {
    const refused = refusalOf(node, call.metadata, '');
    if (refused !== undefined) {
      call.resume();
      return answer(refused);
    }
    let batch: Batch | undefined;
    call.on('data', (request: streams.AppendReq) => {
      const options = request.getOptions();
      if (options !== undefined) {
        batch = emptyBatch(
          nameIn(options.getStreamIdentifier()),
          expectationOf(options, () => options.getRevision()),
        );
        return;
      }
      const message = request.getProposedMessage();
      if (batch !== undefined && message !== undefined) add(batch, proposedEvent(message));
    });
    call.on('end', () => {
      if (batch === undefined) return;
      void take(node, 'append', batch, call.metadata).then((verdict) => answerAppend(node, verdict, answer));
    });
  };
}

function answerAppend(node: Node, verdict: Verdict, answer: sendUnaryData<streams.AppendResp>): void {
  switch (verdict.kind) {
    case 'silence':
      return;
    case 'too-large':
      return answer(maximumAppendSizeExceeded(node.maxAppendBytes));
    case 'timeout':
      return answer(commitTimeout());
    case 'denied':
      return answer(accessDenied());
    case 'not-ready':
      return answer(notReady());
    case 'appended':
    case 'wrong-expected-version':
      return answer(null, appendResponse(verdict));
  }
}

/** `BatchAppend`: many appends over one call, each answered under its own correlation id. */
export function batchAppendCall(
  node: Node,
): (call: ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>) => void {
  return (call) => {
    const requiresLeader = call.metadata.get('requires-leader')[0] === 'true';
    const login = refusalOf(node, call.metadata, '');
    if (login !== undefined && node.faults.notLeader === undefined) return void call.emit('error', login);
    const open = new Map<string, Batch>();
    call.on('error', () => undefined);
    call.on('data', (request: streams.BatchAppendReq) => {
      const { notLeader: leader } = node.faults;
      if (requiresLeader && leader !== undefined) return void call.emit('error', notLeader(leader.host, leader.port));
      const id = uuidText(request.getCorrelationId());
      const options = request.getOptions();
      const batch =
        open.get(id) ??
        (options === undefined
          ? undefined
          : emptyBatch(
              nameIn(options.getStreamIdentifier()),
              expectationOf(options, () => options.getStreamPosition()),
            ));
      if (batch === undefined) return;
      open.set(id, batch);
      for (const message of request.getProposedMessagesList()) add(batch, proposedEvent(message));
      if (!request.getIsFinal()) return;
      open.delete(id);
      void answerBatch(node, call, request, batch);
    });
    call.on('end', () => call.end());
  };
}

async function answerBatch(
  node: Node,
  call: ServerDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>,
  request: streams.BatchAppendReq,
  batch: Batch,
): Promise<void> {
  const verdict = await take(node, 'batch-append', batch, call.metadata);
  if (verdict.kind === 'silence') return;
  const response = verdict.kind === 'appended' ? successResponse(verdict) : errorResponse(node, verdict);
  const id = request.getCorrelationId();
  response.setCorrelationId(verdict.kind === 'timeout' ? inHalves(id) : id);
  call.write(response.setStreamIdentifier(request.getOptions()?.getStreamIdentifier()));
}

/** Appends as a healthy server would, or as the next fault says. What is written is written before this gives a promise. */
async function take(node: Node, method: string, batch: Batch, metadata: Metadata): Promise<Verdict> {
  const { stream, expected, events, bytes } = batch;
  const { log, faults, users } = node;
  node.record({ method, stream, events: events.length });
  const user = users && userOf(users, metadata.get('authorization')[0]?.toString());
  if (user !== undefined && !mayUse(user, stream)) return { kind: 'denied' };
  if (bytes > node.maxAppendBytes) return { kind: 'too-large' };
  const fault = faults.noLeader ? 'not-ready' : faults.appends.shift();
  if (fault === 'ignored') return { kind: 'silence' };
  if (fault === 'not-ready' || fault === 'timeout') return { kind: fault };
  if (fault === 'cut-before-append') {
    node.cut();
    return { kind: 'silence' };
  }
  const outcome = log.append(stream, expected, events);
  if (fault === 'cut-after-append') node.cut();
  if (fault === 'dies-after-append') node.die();
  if (fault !== undefined) return { kind: 'silence' };
  if (outcome.kind !== 'appended' || log.hasQuorum()) return outcome;
  return (await regainedInTime(node)) ? outcome : { kind: 'timeout' };
}

/** A majority that is back soon is not noticed at all. */
async function regainedInTime({ log, commitMilliseconds }: Node): Promise<boolean> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), commitMilliseconds);
  const over = new Promise<void>((resolve) => late.signal.addEventListener('abort', () => resolve(), { once: true }));
  while (!late.signal.aborted && !log.hasQuorum()) await Promise.race([log.grown(), over]);
  clearTimeout(timer);
  return log.hasQuorum();
}

function emptyBatch(stream: string, expected: Expectation): Batch {
  return { stream, expected, events: [], bytes: 0 };
}

function add(batch: Batch, event: ProposedEvent): void {
  batch.events.push(event);
  batch.bytes += countedBytes(event);
}

function expectationOf(
  options: streams.AppendReq.Options | streams.BatchAppendReq.Options,
  revision: () => string,
): Expectation {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no-stream';
  return options.hasStreamExists() ? 'stream-exists' : BigInt(revision());
}

function appendResponse(outcome: AppendOutcome): streams.AppendResp {
  if (outcome.kind === 'appended') {
    const position = new streams.AppendResp.Position()
      .setCommitPosition(String(outcome.position))
      .setPreparePosition(String(outcome.position));
    const success = new streams.AppendResp.Success().setCurrentRevision(String(outcome.revision)).setPosition(position);
    return new streams.AppendResp().setSuccess(success);
  }
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (outcome.current === undefined) wrong.setCurrentNoStream(new services.Empty());
  else wrong.setCurrentRevision(String(outcome.current));
  return new streams.AppendResp().setWrongExpectedVersion(wrong);
}

function successResponse(outcome: Readonly<{ revision: bigint; position: bigint }>): streams.BatchAppendResp {
  const position = new services.AllStreamPosition()
    .setCommitPosition(String(outcome.position))
    .setPreparePosition(String(outcome.position));
  const success = new streams.BatchAppendResp.Success()
    .setCurrentRevision(String(outcome.revision))
    .setPosition(position);
  return new streams.BatchAppendResp().setSuccess(success);
}

/** The status of one append, with its details packed as the server packs them. */
function errorResponse(node: Node, verdict: Failure): streams.BatchAppendResp {
  const [message, type, details] = errorDetails(node, verdict);
  const packed = new protobufAny.Any();
  packed.pack(details, type);
  const status = new statuses.Status();
  status.setCode(codeOf(verdict));
  status.setMessage(message);
  status.setDetails(packed);
  return new streams.BatchAppendResp().setError(status);
}

/** A server that is not ready gives no code at all. */
function codeOf({ kind }: Failure): codes.Code {
  if (kind === 'not-ready') return codes.Code.OK;
  return kind === 'timeout' ? codes.Code.DEADLINE_EXCEEDED : codes.Code.UNKNOWN;
}

function errorDetails(node: Node, verdict: Failure): readonly [message: string, type: string, details: Uint8Array] {
  switch (verdict.kind) {
    case 'wrong-expected-version': {
      const wrong = new services.WrongExpectedVersion();
      if (verdict.current === undefined) wrong.setCurrentNoStream(new protobufEmpty.Empty());
      else wrong.setCurrentStreamRevision(String(verdict.current));
      return ['WrongExpectedVersion', 'event_store.client.WrongExpectedVersion', wrong.serializeBinary()];
    }
    case 'too-large': {
      const exceeded = new services.MaximumAppendSizeExceeded().setMaxappendsize(node.maxAppendBytes);
      return [
        'Maximum Append Size Exceeded',
        'event_store.client.MaximumAppendSizeExceeded',
        exceeded.serializeBinary(),
      ];
    }
    case 'timeout':
      return ['Commit phase timeout', 'event_store.client.Timeout', new services.Timeout().serializeBinary()];
    case 'denied':
      return ['Access Denied', 'event_store.client.AccessDenied', new services.AccessDenied().serializeBinary()];
    case 'not-ready':
      return ['Server Is Not Ready', 'google.protobuf.Empty', new protobufEmpty.Empty().serializeBinary()];
  }
}
