import type { AllPosition, ReadResponse, WireEvent } from './read-responses.ts';

/** So many bytes of the log are looked through in no time; a server tells nothing of the last stretch before its end. */
export const NEAR_BYTES = 1024n * 1024n;

/**
 * How far one reader has looked through `$all`: the last event of ours that it has handed on, and the place up to which nothing more of ours
 * lies. Some servers have told a checkpoint that lay beyond events which they had not sent yet: one is used only once something later has
 * come, and no event from before it.
 */
export class Looking {
  #handed: bigint;
  #reached: AllPosition | undefined;
  #unconfirmed: AllPosition | undefined;
  #hasCaughtUp = false;

  constructor(handed: bigint, reached: AllPosition | undefined) {
    this.#handed = handed;
    this.#reached = reached;
  }

  /** The last event of ours. */
  handed(): bigint {
    return this.#handed;
  }

  reached(): AllPosition | undefined {
    return this.#reached;
  }

  /** Whether the server has said that this is its end. */
  hasCaughtUp(): boolean {
    return this.#hasCaughtUp;
  }

  /** A new call begins at the place that was reached; what the one before said last was never confirmed. */
  beginAgain(): void {
    this.#unconfirmed = undefined;
    this.#hasCaughtUp = false;
  }

  /** Where it was to begin no record does: it begins at another place before it. */
  beginAt(place: AllPosition | undefined): void {
    this.beginAgain();
    this.#reached = place;
  }

  /** The events that are new; a server may deliver one twice. */
  take(responses: readonly ReadResponse[]): readonly WireEvent[] {
    const events: WireEvent[] = [];
    for (const { event, checkpoint, hasCaughtUp } of responses) {
      if (event !== undefined && this.#takes(event)) events.push(event);
      if (checkpoint !== undefined) {
        this.#confirm(checkpoint);
        this.#unconfirmed = checkpoint;
      }
      if (hasCaughtUp === true) this.#hasCaughtUp = true;
    }
    return events;
  }

  /** The same, of a read. */
  takeEvents(events: readonly WireEvent[]): readonly WireEvent[] {
    return events.filter((event) => this.#takes(event));
  }

  #takes({ position }: WireEvent): boolean {
    this.#confirm(position);
    if (position.commit <= this.#handed) return false;
    this.#handed = position.commit;
    this.#reached = later(this.#reached, position);
    return true;
  }

  #confirm(next: AllPosition): void {
    const told = this.#unconfirmed;
    this.#unconfirmed = undefined;
    if (told !== undefined && next.commit > told.commit) this.#reached = later(this.#reached, told);
  }
}

function later(one: AllPosition | undefined, other: AllPosition): AllPosition {
  if (one === undefined) return other;
  return other.commit > one.commit || (other.commit === one.commit && other.prepare > one.prepare) ? other : one;
}
