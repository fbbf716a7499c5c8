import type { RecordedEvent } from '../../kernel/event.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

type Tools = Readonly<{ clock: Pick<Clock, 'monotonicMilliseconds'>; log: Log }>;

/** What takes less is not worth a line, */
const WORTH_TELLING_MILLISECONDS = 1_000;
/** and what takes longer has one so often. */
const TELL_MILLISECONDS = 10_000;

/** Tells in the log how far views are that have much to apply: now and then while they are behind, and once when they are not. */
export class CatchUpTold {
  /** Where the log ended when the views were opened. */
  readonly #end: bigint;
  readonly #with: Tools;
  readonly #begun: number;
  #toldAt: number;
  #events = 0;

  constructor(end: bigint, tools: Tools) {
    this.#end = end;
    this.#with = tools;
    this.#begun = tools.clock.monotonicMilliseconds();
    this.#toldAt = this.#begun;
  }

  applied(page: readonly RecordedEvent[]): void {
    this.#events += page.length;
    const now = this.#with.clock.monotonicMilliseconds();
    if (now - this.#toldAt < TELL_MILLISECONDS) return;
    this.#toldAt = now;
    const [position, end] = [String(page.at(-1)?.position ?? ''), String(this.#end)];
    const progress = { events: this.#events, position, end, seconds: this.#seconds(now) };
    this.#with.log.info(progress, 'the views are catching up with the log');
  }

  done(): void {
    const now = this.#with.clock.monotonicMilliseconds();
    if (now - this.#begun < WORTH_TELLING_MILLISECONDS) return;
    this.#with.log.info({ events: this.#events, seconds: this.#seconds(now) }, 'the views have caught up with the log');
  }

  #seconds(now: number): number {
    return Math.round((now - this.#begun) / 100) / 10;
  }
}
