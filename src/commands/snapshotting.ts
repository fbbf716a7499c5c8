import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.ts';
import { isNamed, nameOfPart, PartsRead, textOfPart } from '../domain/part-names.ts';
import type { Command, Decider } from '../kernel/decider.ts';
import type { Event } from '../kernel/event.ts';
import type { Part } from '../kernel/parts.ts';
import { streamCategory, streamId } from '../kernel/stream-name.ts';
import type { Log } from '../ports/log.ts';
import { NO_STREAM } from '../ports/event-store.ts';
import type { Snapshot, Snapshots } from '../ports/read-models.ts';
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
  /** Streams that were seen to have no parts. */
  readonly #withoutParts = new Set<string>();

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
      const read = new PartsRead();
      let kept = await snapshots.load(stream);
      while (kept !== undefined && kept.version === form.version && kept.revision >= 0n) {
        const { revision, hash, at, json }: Snapshot = kept;
        const { parts, state } = storedIn(json);
        await this.#readParts(stream, parts, read);
        if (parts.every((part) => read.has(contentOf(part))))
          return {
            state: form.decode(state, (place, make) => read.get(contentOf(parts[Number(place)] ?? ''), make)),
            revision,
            hash,
            at,
            snapshotRevision: revision,
            snapshotAfter: this.#interval(json, new Set(parts).size),
          };
        // Another server may have kept newer ones while these were read; then their parts are there.
        kept = await snapshots.load(stream);
        if (kept?.json === json) throw new Error('parts of it are not there, or are not what was kept');
      }
      return undefined;
    } catch (error) {
      log.warn({ stream, error }, 'a snapshot could not be used; the whole stream is read');
      this.#unusable.add(stream);
      return undefined;
    }
  }

  async #readParts(stream: string, parts: readonly string[], into: PartsRead): Promise<void> {
    const missing = [...new Set(parts)].filter((part) => !into.has(contentOf(part)));
    for (let from = 0; from < missing.length; from += PARTS_AT_ONCE) {
      const some = missing.slice(from, from + PARTS_AT_ONCE);
      for (const [part, text] of await this.#with.snapshots.loadParts(stream, some)) into.take(contentOf(part), text);
      await yieldToEventLoop();
    }
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

  /**
   * Gives how many events later the next one is to be kept. The state never changes, so that this may take its time: new parts are written
   * one by one, and named last.
   *
   * No part that a snapshot names is ever missing, whoever else writes, and whoever is broken off. A snapshot takes the place of the very
   * one whose parts it relies upon, or is not kept. A part is named by its content and the revision that it was written for: what a snapshot
   * does not name is named by none after it, and may be deleted however late. What is written for its revision, or a later one, stays: it may
   * be of one that is still to come.
   */
  async #write(
    form: NonNullable<SnapshotForm<S>>,
    stream: string,
    { state, revision, hash, at }: Point<S>,
  ): Promise<number> {
    const { snapshots } = this.#with;
    const { version } = form;
    // The state is encoded once, with the places of its parts among them: it may be cut in another way the next time.
    const places = new Map<Part, string>();
    const encoded = form.encode(state, (part) => {
      const place = places.get(part) ?? String(places.size);
      places.set(part, place);
      return place;
    });
    const hasParts = places.size > 0;
    const there = new Set(hasParts || !this.#withoutParts.has(stream) ? await snapshots.partNames(stream) : []);
    if (!hasParts && there.size === 0) {
      this.#withoutParts.add(stream);
      const json = JSON.stringify(encoded);
      await snapshots.save(stream, { version, revision, hash, at, json });
      return this.#interval(json, 0);
    }
    this.#withoutParts.delete(stream);
    const kept = await snapshots.load(stream);
    const over = kept?.revision ?? NO_STREAM;
    const before = kept === undefined ? [] : partsIn(kept.json);
    const parts = new Map<string, string>();
    // Of one that could not be used, nothing is relied upon.
    if (!this.#unusable.has(stream)) for (const part of before) if (there.has(part)) parts.set(contentOf(part), part);
    const named: string[] = [];
    let added = 0;
    for (const part of places.keys()) {
      if (!isNamed(part)) await yieldToEventLoop();
      const content = nameOfPart(part);
      const name = parts.get(content) ?? `${content}.${revision}`;
      if (!parts.has(content)) {
        await snapshots.saveParts(stream, revision, new Map([[name, textOfPart(part)]]));
        added += 1;
        await yieldToEventLoop();
      }
      parts.set(content, name);
      named.push(name);
    }
    const json = textOf(named, encoded);
    const isKept = await snapshots.replace(stream, over, { version, revision, hash, at, json });
    if (!isKept) return this.#interval(json, added);
    this.#unusable.delete(stream);
    // Whoever reads the one before finds its parts until the next one is kept.
    if (over < revision) await this.#dropParts(stream, revision, there, new Set([...before, ...named]));
    return this.#interval(json, added);
  }

  /** Deletes those of the parts that were written for snapshots before a revision, but for those that stay. */
  async #dropParts(stream: string, before: bigint, parts: Iterable<string>, staying: Set<string>): Promise<void> {
    const gone = [...parts].filter((part) => revisionOf(part) < before && !staying.has(part));
    for (let from = 0; from < gone.length; from += PARTS_AT_ONCE) {
      await this.#with.snapshots.dropParts(stream, gone.slice(from, from + PARTS_AT_ONCE));
      await yieldToEventLoop();
    }
  }

  /** Writing a snapshot costs about as much as replaying one event for each 50 bytes of it; a part, which is written beside other work, as much as a few. */
  #interval(json: string, parts: number): number {
    return Math.max(this.every, Math.ceil(json.length / 50), EVENTS_A_PART * parts);
  }
}

/** So many parts are read or deleted at once. */
const PARTS_AT_ONCE = 64;
const EVENTS_A_PART = 2;

/** Of the content of a part: the first half of its name. */
function contentOf(part: string): string {
  return part.split('.', 1)[0] ?? part;
}

/** For the snapshot of which revision a part was written. */
function revisionOf(part: string): bigint {
  const dot = part.indexOf('.');
  return dot < 0 ? NO_STREAM : BigInt(part.slice(dot + 1));
}

/** A state that holds the places of its parts: their names first, so that they can be read before it. */
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
