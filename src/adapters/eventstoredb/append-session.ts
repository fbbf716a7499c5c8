import type { ClientDuplexStream } from '@grpc/grpc-js';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import { type Answer, answerIn } from './append-answer.ts';
import type { EventStoreConnection } from './connection.ts';
import { CallFailed, failureOf } from './failures.ts';
import { appendRequest, type ProposedEvent } from './proposed-events.ts';
import { type streams, uuids } from './protocol.ts';
import type { StreamNames } from './stream-names.ts';

/** One batch call, over which many appends go at the same time, each under its own id. */
export type AppendSession = Readonly<{
  /** @throws CallFailed when no answer came: the events may be there or not. AppendTooLarge. */
  append: (stream: string, expected: bigint, events: readonly ProposedEvent[]) => Promise<Answer>;
  isOpen: () => boolean;
  close: () => void;
}>;

type BatchCall = ClientDuplexStream<streams.BatchAppendReq, streams.BatchAppendResp>;

const SWEEP_MILLISECONDS = 100;

/** Opens the call. Its end, or an append that is not answered within `answerMilliseconds`, ends the session. */
export function openAppendSession(
  connection: EventStoreConnection,
  clock: Clock,
  answerMilliseconds: number,
  onServer: StreamNames['onServer'],
): Promise<AppendSession> {
  return new Promise((opened, failed) => {
    const questions = openQuestions(clock, answerMilliseconds);
    connection
      .call(
        (stub, metadata, options) =>
          new Promise<void>((resolve, reject) => {
            const call = stub.batchAppend(metadata, options);
            call.on('data', (response: streams.BatchAppendResp) => {
              connection.gotThrough();
              questions.answer(response);
            });
            call.on('end', () => reject(new CallFailed('the server ended the call for appends', false)));
            call.on('error', reject);
            opened(sessionOver(call, questions, onServer, { resolve, reject }));
          }),
      )
      .catch((error: unknown) => {
        failed(failureOf(error));
        questions.end(failureOf(error));
      });
  });
}

function sessionOver(
  call: BatchCall,
  questions: Questions,
  onServer: StreamNames['onServer'],
  { resolve, reject }: Readonly<{ resolve: () => void; reject: (error: Error) => void }>,
): AppendSession {
  void endOnSilence(call, questions, reject);
  return {
    append: (stream, expected, events) => {
      const id = randomUUID();
      const answered = questions.ask(id, stream, events);
      if (!questions.isOver()) call.write(appendRequest(id, onServer(stream), expected, events));
      return answered;
    },
    isOpen: () => !questions.isOver(),
    close: () => {
      questions.end(new CallFailed('closed', false));
      // Resolved first: a call that we end ourselves must not make the client look for another node.
      resolve();
      call.cancel();
    },
  };
}

async function endOnSilence(call: BatchCall, questions: Questions, reject: (error: Error) => void): Promise<void> {
  const failure = await questions.silence();
  if (failure === undefined) return;
  // Rejected first: the client then looks for another node.
  reject(failure);
  questions.end(failure);
  call.cancel();
}

type Asked = Readonly<{
  stream: string;
  bytes: number;
  since: number;
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
}>;

/** What was sent and not answered yet, oldest first. */
type Questions = Readonly<{
  ask: (id: string, stream: string, events: readonly ProposedEvent[]) => Promise<Answer>;
  answer: (response: streams.BatchAppendResp) => void;
  end: (failure: Error) => void;
  isOver: () => boolean;
  /** Resolves when the oldest has waited too long, or with nothing when it is over. */
  silence: () => Promise<CallFailed | undefined>;
}>;

function openQuestions(clock: Clock, answerMilliseconds: number): Questions {
  const asked = new Map<string, Asked>();
  const ended = new AbortController();
  let over: Error | undefined;
  let wake: (() => void) | undefined;

  return {
    ask: (id, stream, events) =>
      new Promise((resolve, reject) => {
        if (over !== undefined) return reject(over);
        const bytes = events.reduce((sum, event) => sum + event.bytes, 0);
        asked.set(id, { stream, bytes, since: clock.monotonicMilliseconds(), resolve, reject });
        wake?.();
      }),
    answer: (response) => {
      // The server gives it back as it came, but for what has timed out there: then as two halves.
      const id = uuids.parseUUID(response.getCorrelationId()) ?? '';
      const question = asked.get(id);
      if (question === undefined) return;
      asked.delete(id);
      try {
        question.resolve(answerIn(response, question.stream, question.bytes));
      } catch (error) {
        question.reject(error instanceof Error ? error : failureOf(error));
      }
    },
    end: (failure) => {
      if (over !== undefined) return;
      over = failure;
      ended.abort();
      wake?.();
      for (const { reject } of asked.values()) reject(failure);
      asked.clear();
    },
    isOver: () => over !== undefined,
    silence: async () => {
      // One timer for all: answers are the rule, silence is not.
      while (!ended.signal.aborted) {
        const [oldest] = asked.values();
        if (oldest === undefined) await new Promise<void>((resolve) => void (wake = resolve));
        else if (clock.monotonicMilliseconds() - oldest.since < answerMilliseconds) {
          await clock.wait(SWEEP_MILLISECONDS, ended.signal).catch(() => undefined);
        } else return new CallFailed(`an append was not answered within ${answerMilliseconds} ms`, false);
      }
      return undefined;
    },
  };
}
