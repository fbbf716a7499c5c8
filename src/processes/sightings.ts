import { Temporal } from '@js-temporal/polyfill';
import type { Mark, Since } from '../kernel/process.ts';
import type { Clock } from '../ports/clock.ts';

/** The log had been applied up to a position at a time, in monotonic milliseconds. */
type Sighting = Readonly<{ position: number; seenAt: number }>;

/** What was seen long ago is remembered less exactly: to this part of its age. */
const EXACTNESS = 1 / 1_000;
const THINNED_FROM = 2_000;
/** Instants as this program writes them: of one day they differ in digits that are read at once. */
const AS_RECORDED = /^(\d{4}-\d\d-\d\dT)(\d\d):(\d\d):(\d\d\.\d{3})\+00:00$/;

/**
 * How long ago events happened, for one who follows the log. What he saw coming happened when he saw it, by the monotonic clock: whatever
 * wall clock wrote its instant, and whatever has been done to that since. What he found in the log when he began happened when it says,
 * by the wall clock of that moment; an instant that was in the future then counts as that moment.
 */
export class Sightings {
  readonly #clock: Clock;
  #begun: Readonly<{ end: number; wall: number; seenAt: number }> | undefined;
  #seen: Sighting[] = [];
  #thinnedFrom = THINNED_FROM;
  /** To read an instant's text takes longer than all else, and a state with thousands of marks is asked again and again. */
  readonly #instants = new WeakMap<Mark, number>();
  /** Of days of which instants were read, in milliseconds since the epoch. */
  readonly #midnights = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What the log holds up to `end` was there before; only the first call counts. */
  begin(end: bigint): void {
    const wall = this.#clock.now().epochMilliseconds;
    this.#begun ??= { end: Number(end), wall, seenAt: this.#clock.monotonicMilliseconds() };
  }

  /** The log has been applied up to here. What was passed before (the log is read again) is no news. */
  passed(position: bigint): void {
    const seen = { position: Number(position), seenAt: this.#clock.monotonicMilliseconds() };
    if (seen.position <= (this.#seen.at(-1)?.position ?? -1)) return;
    this.#seen.push(seen);
    if (this.#seen.length < this.#thinnedFrom) return;
    this.#seen = thinned(this.#seen, seen.seenAt);
    this.#thinnedFrom = 2 * this.#seen.length + THINNED_FROM;
  }

  /** Milliseconds since events, all of them by one look at the clock. */
  since(): Since {
    const now = this.#clock.monotonicMilliseconds();
    return (mark) => {
      const { position } = mark;
      const begun = this.#begun;
      if (begun === undefined || position > begun.end) return now - this.#seenAt(position, now);
      const before = begun.wall - this.#instantOf(mark);
      return now - begun.seenAt + Math.max(0, before);
    };
  }

  /** An event's instant as it was recorded, in milliseconds since the epoch. */
  #instantOf(mark: Mark): number {
    const known = this.#instants.get(mark);
    if (known !== undefined) return known;
    const instant = this.#read(mark.at);
    this.#instants.set(mark, instant);
    return instant;
  }

  #read(text: string): number {
    const [, day, hours, minutes, seconds] = AS_RECORDED.exec(text) ?? [];
    if (day === undefined) return Temporal.Instant.from(text).epochMilliseconds;
    let midnight = this.#midnights.get(day);
    if (midnight === undefined) {
      midnight = Temporal.Instant.from(`${day}00:00Z`).epochMilliseconds;
      this.#midnights.set(day, midnight);
    }
    return midnight + Math.round((Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000);
  }

  /** When the page with this position came; it comes now when it has not been told of yet. */
  #seenAt(position: number, now: number): number {
    let [low, high] = [0, this.#seen.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#seen[middle]?.position ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return this.#seen[low]?.seenAt ?? now;
  }
}

/** A sighting goes when the next one says nearly the same: what it saw counts as a little younger then, never as older. */
function thinned(seen: readonly Sighting[], now: number): Sighting[] {
  const kept: Sighting[] = [];
  for (const [index, sighting] of seen.entries()) {
    const next = seen[index + 1];
    const since = kept.at(-1)?.seenAt ?? Number.NEGATIVE_INFINITY;
    if (next === undefined || next.seenAt - since > (now - next.seenAt) * EXACTNESS) kept.push(sighting);
  }
  return kept;
}
