import type { Command, Decider } from '../kernel/decider.ts';
import type { Event } from '../kernel/event.ts';
import { streamCategory, streamId } from '../kernel/stream-name.ts';
import type { Log } from '../ports/log.ts';
import type { Snapshots } from '../ports/read-models.ts';
import type { SnapshotKeeper } from './aggregate.ts';
import type { Point, StreamHead } from './stream-writer.ts';

type SnapshotForm<S> = Decider<Command, S, Event>['snapshot'];

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
  readonly #saving = new Set<Promise<void>>();

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
      if (kept === undefined || kept.version !== form.version || kept.revision < 0n) return undefined;
      const { revision, hash, at, json } = kept;
      return {
        state: form.decode(JSON.parse(json)),
        revision,
        hash,
        at,
        snapshotRevision: revision,
        snapshotAfter: this.#interval(json),
      };
    } catch (error) {
      log.warn({ stream, error }, 'a snapshot could not be used; the whole stream is read');
      return undefined;
    }
  }

  /** Keeps the state at a point that is durable, whatever is under way after it, when enough has happened since the last one. */
  keep<E extends Event>(stream: string, head: StreamHead<S, E>, { state, revision, hash, at }: Point<S>): void {
    if (revision - head.snapshotRevision < BigInt(head.snapshotAfter)) return;
    this.#save(stream, head, { state, revision, hash, at });
  }

  /** The same as soon as a reader would have to read so many events behind the last one, however large the state is; resolves when it is kept, or could not be. */
  async keepNow<E extends Event>(stream: string, head: StreamHead<S, E>): Promise<void> {
    if (head.revision - head.snapshotRevision >= BigInt(this.every)) this.#save(stream, head, head);
    await Promise.all(this.#saving);
  }

  #save<E extends Event>(stream: string, head: StreamHead<S, E>, { state, revision, hash, at }: Point<S>): void {
    const form = this.#form;
    if (form === undefined) return;
    head.snapshotRevision = revision;
    const { snapshots, log } = this.#with;
    const notKept = (error: unknown): void => log.warn({ stream, error }, 'a snapshot could not be kept');
    try {
      const json = JSON.stringify(form.encode(state));
      head.snapshotAfter = this.#interval(json);
      const saving = snapshots.save(stream, { version: form.version, revision, hash, at, json }).catch(notKept);
      this.#saving.add(saving);
      void saving.finally(() => this.#saving.delete(saving));
    } catch (error) {
      notKept(error);
    }
  }

  /** Writing a snapshot costs about as much as replaying one event for each 50 bytes of it. */
  #interval(json: string): number {
    return Math.max(this.every, Math.ceil(json.length / 50));
  }
}
