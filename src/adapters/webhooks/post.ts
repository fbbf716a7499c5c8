import type { Client, Dispatcher } from 'undici';
import type { TimeLimit } from './time-limit.ts';

/** What goes over the wire. `headers` alternate names and values. */
export type Post = Readonly<{ path: string; headers: string[]; body: Buffer }>;

/** `complete`: the answer was read to its end, so the connection can serve again. */
export type Answer = Readonly<{ status: number; complete: boolean }>;

/**
 * Posts and waits for the whole answer, of which only the status is kept; more than `answerBytes` of its body are not read.
 * Once the status is there it is the answer, whatever becomes of the rest. Rejects when there is none, or with the reason for
 * which `limit` is stopped. The caller destroys a connection whose answer is not complete.
 */
export function post(client: Client, message: Post, answerBytes: number, limit: TimeLimit): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (limit.stopped === undefined) {
      const { path, headers, body } = message;
      const exchange = new Exchange(answerBytes, limit, resolve, reject);
      client.dispatch({ method: 'POST', path, headers, body }, exchange);
    } else reject(limit.stopped.reason);
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #limit: TimeLimit;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (reason: unknown) => void;
  #bytesLeft: number;
  #status: number | undefined;

  constructor(
    answerBytes: number,
    limit: TimeLimit,
    resolve: (answer: Answer) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#bytesLeft = answerBytes;
    this.#limit = limit;
    this.#resolve = resolve;
    this.#reject = reject;
    limit.listen(() => this.#breakOff(limit.stopped?.reason));
  }

  /** undici knows by it which generation of handlers this is. */
  onRequestStart(): void {}

  onResponseStart(_: unknown, status: number): void {
    if (status >= 200) this.#status = status;
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#bytesLeft -= chunk.length;
    if (this.#bytesLeft < 0) this.#breakOff(new Error('the answer is too long'));
  }

  onResponseEnd(): void {
    this.#limit.listen(undefined);
    if (this.#status === undefined) this.#reject(new Error('the answer has no status'));
    else this.#resolve({ status: this.#status, complete: true });
  }

  onResponseError(_: unknown, error: Error): void {
    this.#breakOff(error);
  }

  #breakOff(reason: unknown): void {
    this.#limit.listen(undefined);
    if (this.#status === undefined) this.#reject(reason);
    else this.#resolve({ status: this.#status, complete: false });
  }
}
