import { Temporal } from '@js-temporal/polyfill';
import * as assert from 'uvu/assert';
import { RangeMap } from '../src/addresses/range-map.ts';
import { RangeSet } from '../src/addresses/range-set.ts';
import { type Command, type Decider, isRefusal } from '../src/kernel/decider.ts';
import type { Event, RecordedEvent } from '../src/kernel/event.ts';
import { PersistentMap } from '../src/kernel/persistent-map.ts';
import type { Duty, Process, Since } from '../src/kernel/process.ts';
import type { Projection } from '../src/kernel/projection.ts';

/** What a decider is held to: these events happened, this is asked, that is the answer. */
export type DeciderCase<C extends Command, E extends Event> = Readonly<{
  when: (command: C) => Readonly<{
    /** Exactly these events, in order; asked again, there is nothing new to say. */
    yields: (...events: readonly E[]) => void;
    yieldsNothing: () => void;
    /** Where `because` is given, it is the whole sentence. */
    isRefused: (code: string, because?: string) => void;
  }>;
}>;

/**
 * Specifies a decider by examples. Each case also proves that deciding and evolving change nothing that they were given, and
 * that a snapshot of every state it passes gives that state back.
 */
export function specify<C extends Command, S, E extends Event>(
  decider: Decider<C, S, E>,
): Readonly<{ given: (...events: readonly E[]) => DeciderCase<C, E> }> {
  return {
    given: (...events) => {
      const { state, revision } = replay(decider, events);
      return {
        when: (command) => {
          const before = plain(state);
          const decision = decider.decide(deepFrozen(command), state);
          assert.equal(plain(decider.decide(command, state)), plain(decision), 'the same question has the same answer');
          assert.equal(plain(state), before, 'deciding leaves the state alone');
          return {
            yields: (...expected) => {
              assert.equal(plain(decision), plain(expected));
              if (isRefusal(decision)) return;
              const after = advance(decider, state, decision, revision);
              const again = decider.decide(command, after.state);
              assert.ok(isRefusal(again) || again.length === 0, `asked again, ${command.type} has nothing new to say`);
            },
            yieldsNothing: () => assert.equal(plain(decision), []),
            isRefused: (code, because) => {
              assert.ok(isRefusal(decision), `${command.type} is refused, and gave ${JSON.stringify(plain(decision))}`);
              const { refused, because: said } = decision;
              assert.is(refused, code);
              if (because !== undefined) assert.is(said, because);
            },
          };
        },
      };
    },
  };
}

/** The state after these events, which are the first of their stream. */
export function stateAfter<C extends Command, S, E extends Event>(
  decider: Decider<C, S, E>,
  ...events: readonly E[]
): S {
  return replay(decider, events).state;
}

/** Specifies a process manager: these events are known, the clock shows this, that is owed. Every key counts. */
export function specifyProcess<E extends Event, S extends object, D extends Duty>(
  process: Process<E, S, D>,
): Readonly<{
  given: (...events: readonly RecordedEvent<E>[]) => Readonly<{
    at: (instant: string) => Readonly<{
      /** These duties and no other; their ids differ from each other. */
      owes: (...duties: readonly Pick<D, 'type' | 'data'>[]) => void;
      owesNothing: () => void;
    }>;
    /** The earliest instant at which a state asks to be looked at; `never` when none does. */
    wakesAt: (instant: string) => void;
    /** Nothing is left to watch: every state is forgotten. */
    isOver: () => void;
  }>;
}> {
  return {
    given: (...events) => {
      const states = foldViews(process, events);
      return {
        at: (instant) => {
          const duties = [...states.values()].flatMap((state) => process.owed(state, sinceAt(instant)));
          return {
            owes: (...expected) => {
              assert.equal(
                duties.map(({ type, data }) => ({ type, data })),
                expected,
              );
              assert.is(new Set(duties.map(({ id }) => id)).size, duties.length, 'each duty has an id of its own');
            },
            owesNothing: () => assert.equal(duties, []),
          };
        },
        wakesAt: (instant) => {
          const now = '2026-01-01T00:00:00Z';
          const wakes = [...states.values()].flatMap((state) => process.wakesIn(state, sinceAt(now)) ?? []);
          const earliest = wakes.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...wakes);
          const asked = Number.isFinite(earliest)
            ? Temporal.Instant.from(now).add({ milliseconds: earliest })
            : 'never';
          assert.is(asked.toString(), instant === 'never' ? instant : Temporal.Instant.from(instant).toString());
        },
        isOver: () => assert.equal([...states.keys()], []),
      };
    },
  };
}

/** The duties that a process owes after these events, ids and all. */
export function dutiesAfter<E extends Event, S extends object, D extends Duty>(
  process: Process<E, S, D>,
  events: readonly RecordedEvent<E>[],
  instant: string,
): readonly D[] {
  return [...foldViews(process, events).values()].flatMap((state) => process.owed(state, sinceAt(instant)));
}

/** How long ago events are at an instant, by the clock that wrote theirs. */
export function sinceAt(instant: string): Since {
  const now = Temporal.Instant.from(instant).epochMilliseconds;
  return ({ at }) => now - Temporal.Instant.from(at).epochMilliseconds;
}

/** Specifies a projection: after these events the view of a key is this; `undefined`: there is none. */
export function specifyProjection<E extends Event, V extends object>(
  projection: Projection<E, V>,
): Readonly<{
  given: (...events: readonly RecordedEvent<E>[]) => Readonly<{ shows: (key: string, view: V | undefined) => void }>;
}> {
  return {
    given: (...events) => {
      const views = foldViews(projection, events);
      return { shows: (key, view) => assert.equal(plain(views.get(key)), plain(view)) };
    },
  };
}

/** Where an event stands; the default stream is customer 7's. */
export type Place = Readonly<{ stream?: string; revision?: bigint; position?: bigint }>;

/** An event as a store gives it back, recorded at an instant (`2026-11-27T20:50:00Z`). */
export function recorded<E extends Event>(event: E, instant: string, place: Place = {}): RecordedEvent<E> {
  const { stream = 'customer-7', revision = 0n, position = revision } = place;
  const at = Temporal.Instant.from(instant).toString({ smallestUnit: 'millisecond' }).replace('Z', '+00:00');
  return {
    ...deepFrozen(event),
    id: `${stream}@${revision}`,
    metadata: {
      actor: 'system:specification',
      at,
      schema: 1,
      $correlationId: 'request',
      $causationId: 'request',
      previousHash: '',
      hash: '',
    },
    stream,
    revision,
    position,
  };
}

/** Events of one stream in order, each a step (in seconds) after the one before. */
export function recordedInOrder<E extends Event>(
  events: readonly E[],
  start: string,
  stepSeconds = 0,
  stream = 'customer-7',
): RecordedEvent<E>[] {
  const first = Temporal.Instant.from(start);
  return events.map((event, index) =>
    recorded(event, first.add({ seconds: index * stepSeconds }).toString(), { stream, revision: BigInt(index) }),
  );
}

/** Any state, view or answer as plain, comparable JSON: maps sorted by key, sets of addresses as their texts, bigints as text. */
export function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof RangeSet) return value.toJSON();
  if (value instanceof RangeMap) return [...value.entries()].map(plain);
  if (value instanceof PersistentMap) return [...value.values()].map(plain);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, of]): [string, unknown] => [String(key), plain(of)]).sort(byKey));
  if (value instanceof Set) return [...value].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, of]) => of !== undefined);
  return Object.fromEntries(entries.map(([key, of]): [string, unknown] => [key, plain(of)]).sort(byKey));
}

/** One view per key, each passed through JSON before it is changed: what a store does to it changes nothing. */
export function foldViews<E extends Event, V extends object>(
  projection: Pick<Projection<E, V>, 'handles' | 'keysOf' | 'evolve' | 'stored'>,
  events: readonly RecordedEvent<E>[],
): ReadonlyMap<string, V> {
  const handles = new Set<string>(projection.handles);
  const views = new Map<string, V>();
  for (const event of events.filter(({ type }) => handles.has(type))) {
    for (const key of projection.keysOf(event)) {
      const before = views.get(key);
      const untouched = plain(before);
      const view = projection.evolve(before, event, key);
      assert.equal(plain(before), untouched, `${event.type} leaves the view before it alone`);
      if (view === undefined) views.delete(key);
      else views.set(key, throughJson(projection, view));
    }
  }
  return views;
}

function throughJson<V extends object>({ stored }: Pick<Projection<never, V>, 'stored'>, view: V): V {
  const json: unknown = JSON.parse(JSON.stringify(stored === undefined ? view : stored.encode(view)));
  // A view without a translation of its own is plain JSON, which is checked here.
  const back = stored === undefined ? (json as V) : stored.decode(json);
  assert.equal(plain(back), plain(view), 'a view survives being stored');
  return back;
}

type Reached<S> = Readonly<{ state: S; revision: bigint }>;

function replay<C extends Command, S, E extends Event>(decider: Decider<C, S, E>, events: readonly E[]): Reached<S> {
  return advance(decider, decider.initial, events, -1n);
}

function advance<C extends Command, S, E extends Event>(
  decider: Decider<C, S, E>,
  from: S,
  events: readonly E[],
  after: bigint,
): Reached<S> {
  let [state, revision] = [from, after];
  for (const event of events) {
    const before = plain(state);
    revision += 1n;
    const next = decider.evolve(state, { ...deepFrozen(event), revision });
    assert.equal(plain(state), before, `${event.type} leaves the state before it alone`);
    state = throughSnapshot(decider, next);
  }
  return { state, revision };
}

function throughSnapshot<C extends Command, S, E extends Event>({ snapshot }: Decider<C, S, E>, state: S): S {
  if (snapshot === undefined) return state;
  const back = snapshot.decode(JSON.parse(JSON.stringify(snapshot.encode(state))));
  assert.equal(plain(back), plain(state), 'a state survives its snapshot');
  return back;
}

function deepFrozen<T extends object>(value: T): T {
  if (value instanceof RangeSet || value instanceof RangeMap || value instanceof Map || value instanceof Set)
    return value;
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) deepFrozen(member);
  return Object.freeze(value);
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
