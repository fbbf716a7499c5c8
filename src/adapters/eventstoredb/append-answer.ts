import { AppendTooLarge, NO_STREAM } from '../../ports/event-store.ts';
import { CallFailed } from './failures.ts';
import { shared, type statuses, type streams } from './protocol.ts';

/** What the server said to one append. */
export type Answer =
  | Readonly<{ kind: 'appended'; revision: bigint; position: bigint }>
  | Readonly<{ kind: 'wrong-revision'; actual: bigint }>;

/** Reads an answer. @throws AppendTooLarge, CallFailed when it says neither yes nor no: the events may be there or not */
export function answerIn(response: streams.BatchAppendResp, stream: string, bytes: number): Answer {
  const success = response.getSuccess();
  if (success === undefined) return refusalIn(response.getError(), stream, bytes);
  const position = success.getPosition();
  if (position === undefined) throw new CallFailed('an append was answered without its position', false);
  return {
    kind: 'appended',
    revision: BigInt(success.getCurrentRevision()),
    position: BigInt(position.getCommitPosition()),
  };
}

/** The server is starting, or the cluster has no leader: it has not looked at the append. */
const NOT_READY = /not ready/i;

/** What is wrong stands in the details of the status, packed as a message of its own. */
function refusalIn(error: statuses.Status | undefined, stream: string, bytes: number): Answer {
  const details = error?.getDetails();
  const type = details?.getTypeName() ?? '';
  switch (type) {
    case 'event_store.client.WrongExpectedVersion': {
      const wrong = shared.WrongExpectedVersion.deserializeBinary(details?.getValue_asU8() ?? new Uint8Array());
      const actual = wrong.hasCurrentStreamRevision() ? BigInt(wrong.getCurrentStreamRevision()) : NO_STREAM;
      return { kind: 'wrong-revision', actual };
    }
    case 'event_store.client.MaximumAppendSizeExceeded': {
      const exceeded = shared.MaximumAppendSizeExceeded.deserializeBinary(details?.getValue_asU8() ?? new Uint8Array());
      throw new AppendTooLarge(stream, bytes, exceeded.getMaxappendsize());
    }
    default: {
      const message = error?.getMessage() || type || 'an append was answered with nothing';
      throw new CallFailed(message, type === 'event_store.client.AccessDenied', { isUndone: NOT_READY.test(message) });
    }
  }
}
