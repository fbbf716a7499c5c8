import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.ts';
import { isNamed, nameOfPart, PartsRead, textOfPart } from '../domain/part-names.ts';
import type { Command, Decider } from '../kernel/decider.ts';
import type { Event } from '../kernel/event.ts';
import type { Part } from '../kernel/parts.ts';
import { streamCategory, streamId } from '../kernel/stream-name.ts';
import type { Log } from '../ports/log.ts';
import type { Snapshots } from '../ports/read-models.ts';
import type { SnapshotKeeper } from './aggregate.ts';
import type { Point, StreamHead } from './stream-writer.ts';

type SnapshotForm<S> =
  | Pick<NonNullable<Decider<Command, S, Event>['snapshot']>, 'version' | 'encode' | 'decode'>
  | undefined;

/** Where a stream's head begins that was read from a snapshot. */
type SnapshotPoint<S> = Point<S> & Pick<StreamHead<S, Event>, 'snapshotRevision' | 'snapshotAfter'>;

export type SnapshottingDependencies = Readonly<{
  snapshots: Snapshots;
  log: Log;
  /** A snapshot is kept after this many events. */
  snapshotEvery?: number;
}>;

/** So many events are read in no time. */
export const SNAPSHOT_EVERY = 1_000;

/** Leaves snapshots of these streams, one after the other, so that the first command on each of them need not read it from its start. */
export async function keepSnapshots(
  aggregates: Readonly<Record<string, SnapshotKeeper>>,
  streams: readonly string[],
): Promise<void> {
  const byCategory = new Map(Object.values(aggregates).map((aggregate) => [aggregate.category, aggregate]));
  for (const stream of streams) await byCategory.get(streamCategory(stream))?.keepSnapshot(streamId(stream));
}

/** Keeps the states of long streams, so that not all of their events need to be read again. A snapshot is a cache: no failure of it is one of a command. */
export class Snapshotting<S> {
  readonly every: number;
  readonly #form: SnapshotForm<S>;
  readonly #with: SnapshottingDependencies;
  readonly #saving = new Map<string, Promise<void>>();
  /** Streams whose snapshot could not be used: nothing of it is relied upon. */
  readonly #unusable = new Set<string>();
  /** Streams whose snapshot has parts. */
  readonly #withParts = new Set<string>();

  constructor(form: SnapshotForm<S>, dependencies: SnapshottingDependencies) {
    this.every = dependencies.snapshotEvery ?? SNAPSHOT_EVERY;
    this.#form = form;
    this.#with = dependencies;
  }

  async load(stream: string): Promise<SnapshotPoint<S> | undefined> {
    const form = this.#form;
    if (form === undefined) return undefined;
    const { snapshots, log } = this.#with;
    try {
      const kept = await snapshots.load(stream);
      if (kept !== undefined && partsIn(kept.json).length > 0) this.#withParts.add(stream);
      if (kept === undefined || kept.version !== form.version || kept.revision < 0n) return undefined;
      const { revision, hash, at, json } = kept;
      const { parts, state } = storedIn(json);
      const read = await this.#readParts(stream, parts);
      if (!parts.every((name) => read.has(name)))
        throw new Error('parts of it are not there, or are not what was kept');
      return {
        state: form.decode(state, read.get),
        revision,
        hash,
        at,
        snapshotRevision: revision,
        snapshotAfter: this.#interval(json, parts.length),
      };
    } catch (error) {
      log.warn({ stream, error }, 'a snapshot could not be used; the whole stream is read');
      this.#unusable.add(stream);
      return undefined;
    }
  }

  async #readParts(stream: string, names: readonly string[]): Promise<PartsRead> {
    const read = new PartsRead();
    for (let from = 0; from < names.length; from += PARTS_AT_ONCE) {
      const some = names.slice(from, from + PARTS_AT_ONCE);
      for (const [name, text] of await this.#with.snapshots.loadParts(stream, some)) read.take(name, text);
      await yieldToEventLoop();
    }
    return read;
  }

  /** Keeps the state at a point that is durable, whatever is under way after it, when enough has happened since the last one. */
  keep<E extends Event>(stream: string, head: StreamHead<S, E>, { state, revision, hash, at }: Point<S>): void {
    if (Number(revision - head.snapshotRevision) + head.snapshotWeight < head.snapshotAfter) return;
    this.#save(stream, head, { state, revision, hash, at });
  }

  /** The same as soon as a reader would have to read so many events behind the last one, however large the state is; resolves when it is kept, or could not be. */
  async keepNow<E extends Event>(stream: string, head: StreamHead<S, E>): Promise<void> {
    const behind = Number(head.revision - head.snapshotRevision) + head.snapshotWeight;
    if (behind >= this.every) this.#save(stream, head, head);
    await Promise.all(this.#saving.values());
  }

  #save<E extends Event>(stream: string, head: StreamHead<S, E>, { state, revision, hash, at }: Point<S>): void {
    const form = this.#form;
    // One that takes long is not followed by another before it is there.
    if (form === undefined || this.#saving.has(stream)) return;
    head.snapshotRevision = revision;
    head.snapshotWeight = 0;
    const { log } = this.#with;
    const saving = this.#write(form, stream, { state, revision, hash, at })
      .then((after) => void (head.snapshotAfter = after))
      .catch((error: unknown) => log.warn({ stream, error }, 'a snapshot could not be kept'));
    this.#saving.set(stream, saving);
    void saving.finally(() => this.#saving.delete(stream));
  }

  /** Gives how many events later the next one is to be kept. The state never changes, so that this may take its time: new parts are written one by one, and named last. */
  async #write(
    form: NonNullable<SnapshotForm<S>>,
    stream: string,
    { state, revision, hash, at }: Point<S>,
  ): Promise<number> {
    const { snapshots } = this.#with;
    const { version } = form;
    const found = new Set<Part>();
    const encoded = form.encode(state, (part) => {
      found.add(part);
      return '';
    });
    if (found.size === 0 && !this.#withParts.has(stream)) {
      const json = JSON.stringify(encoded);
      await snapshots.save(stream, { version, revision, hash, at, json });
      return this.#interval(json, 0);
    }
    this.#withParts.add(stream);
    const kept = await snapshots.load(stream);
    const before = new Set(kept === undefined ? [] : partsIn(kept.json));
    // Of one that could not be used, nothing is relied upon.
    const there = this.#unusable.has(stream) ? new Set<string>() : before;
    const names = new Set<string>();
    let added = 0;
    for (const part of found) {
      if (!isNamed(part)) await yieldToEventLoop();
      const name = nameOfPart(part);
      if (!there.has(name) && !names.has(name)) {
        await snapshots.saveParts(stream, revision, new Map([[name, textOfPart(part)]]));
        added += 1;
        await yieldToEventLoop();
      }
      names.add(name);
    }
    const json = textOf([...names], form.encode(state, nameOfPart));
    await snapshots.save(stream, { version, revision, hash, at, json });
    if (names.size === 0) this.#withParts.delete(stream);
    this.#unusable.delete(stream);
    const gone = [...before].filter((name) => !names.has(name));
    for (let from = 0; from < gone.length; from += PARTS_AT_ONCE) {
      const some = gone.slice(from, from + PARTS_AT_ONCE).map((name) => [name, undefined] as const);
      await snapshots.saveParts(stream, revision, new Map(some));
      await yieldToEventLoop();
    }
    return this.#interval(json, added);
  }

  /** Writing a snapshot costs about as much as replaying one event for each 50 bytes of it; a part, which is written beside other work, as much as a few. */
  #interval(json: string, parts: number): number {
    return Math.max(this.every, Math.ceil(json.length / 50), EVENTS_A_PART * parts);
  }
}

/** So many parts are read or deleted at once. */
const PARTS_AT_ONCE = 64;
const EVENTS_A_PART = 2;

/** A state that names parts: their names first, so that they can be read before it. */
function textOf(parts: readonly string[], state: unknown): string {
  if (parts.length === 0) return JSON.stringify(state);
  return `${PARTS_FIRST}${parts.join('","')}"],"state":${JSON.stringify(state)}}`;
}

const PARTS_FIRST = '{"parts":["';

function partsIn(json: string): readonly string[] {
  if (!json.startsWith(PARTS_FIRST)) return [];
  return json.slice(PARTS_FIRST.length, json.indexOf('"]')).split('","');
}

function storedIn(json: string): Readonly<{ parts: readonly string[]; state: unknown }> {
  const parts = partsIn(json);
  const stored: unknown = JSON.parse(json);
  if (parts.length === 0) return { parts, state: stored };
  if (typeof stored !== 'object' || stored === null || !('state' in stored)) throw new Error('it holds no state');
  return { parts, state: stored.state };
}
