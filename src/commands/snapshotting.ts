import type { Command, Decider } from '../kernel/decider.ts';
import type { Event } from '../kernel/event.ts';
import type { Log } from '../ports/log.ts';
import type { Snapshots } from '../ports/snapshots.ts';
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

const SNAPSHOT_EVERY = 1_000;

/** Keeps the states of long streams, so that not all of their events need to be read again. A snapshot is a cache: no failure of it is one of a command. */
export class Snapshotting<S> {
  readonly every: number;
  readonly #form: SnapshotForm<S>;
  readonly #with: SnapshottingDependencies;

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
    const form = this.#form;
    if (form === undefined || revision - head.snapshotRevision < BigInt(head.snapshotAfter)) return;
    head.snapshotRevision = revision;
    const { snapshots, log } = this.#with;
    const notKept = (error: unknown): void => log.warn({ stream, error }, 'a snapshot could not be kept');
    try {
      const json = JSON.stringify(form.encode(state));
      head.snapshotAfter = this.#interval(json);
      snapshots.save(stream, { version: form.version, revision, hash, at, json }).catch(notKept);
    } catch (error) {
      notKept(error);
    }
  }

  /** Writing a snapshot costs about as much as replaying one event for each 50 bytes of it. */
  #interval(json: string): number {
    return Math.max(this.every, Math.ceil(json.length / 50));
  }
}
