/** What a client proposes to append. */
export type ProposedEvent = Readonly<{
  id: string;
  type: string;
  contentType: string;
  data: Uint8Array;
  customMetadata: Uint8Array;
}>;

/** One record of the log: `position` is where it starts in the transaction file. */
export type LoggedEvent = ProposedEvent &
  Readonly<{ stream: string; revision: bigint; position: bigint; createdTicks: bigint }>;

/** What an append says about the stream's revision. */
export type Expectation = 'any' | 'stream-exists' | 'no-stream' | bigint;

export type AppendOutcome =
  | Readonly<{ kind: 'appended'; revision: bigint; position: bigint }>
  | Readonly<{ kind: 'wrong-expected-version'; current: bigint | undefined }>;

/** Where a read begins. */
export type From = bigint | 'start' | 'end';

/** The log of the stand-in. It lives longer than the server that serves it, as a disk would; the nodes of a cluster share one. */
export type EventLog = Readonly<{
  append: (stream: string, expected: Expectation, events: readonly ProposedEvent[]) => AppendOutcome;
  /** What readers see: without a quorum, not what was written since. */
  all: () => readonly LoggedEvent[];
  /** Whether `$all` can be read from there: a record begins, or the log ends. */
  isPlace: (from: From) => boolean;
  stream: (name: string) => readonly LoggedEvent[];
  /** Resolves at the next change of what readers see. */
  grown: () => Promise<void>;
  /** Whether a majority of the nodes has what is written. */
  hasQuorum: () => boolean;
  /** What is written from now on is seen by nobody, and comes into effect with `regainQuorum`. */
  loseQuorum: () => void;
  regainQuorum: () => void;
  /** Those who have not got what was written without a majority go on without it. Says whether there was any. */
  goOnWithout: () => boolean;
}>;

/** @param firstPosition where the log starts; beyond 2^53 it shows that no position passes through a number. */
export function createEventLog(firstPosition = 1_000n): EventLog {
  const log: LoggedEvent[] = [];
  const streams = new Map<string, LoggedEvent[]>();
  /** Written where the stream was expected at a revision: only these does the server know again under `any`. */
  const written = new Set<string>();
  let wake: (() => void)[] = [];
  let next = firstPosition;
  /** What was written by then is with a majority; undefined: everything is. */
  let committedBefore: bigint | undefined;

  return {
    append: (stream, expected, events) => {
      const verdict = judge(streams.get(stream) ?? [], expected, events, written);
      if (verdict !== 'write') return verdict;
      for (const event of events) {
        write(stream, event);
        if (typeof expected === 'bigint' || expected === 'no-stream') written.add(event.id);
      }
      if (committedBefore === undefined) changed();
      return answerAt(streams.get(stream)?.at(-1));
    },
    all: () => visible(log),
    isPlace: (from) =>
      from === 'start' || from === 'end' || from === next || log[firstFrom(log, from, true)]?.position === from,
    stream: (name) => visible(streams.get(name) ?? []),
    grown: () => new Promise((resolve) => void wake.push(resolve)),
    hasQuorum: () => committedBefore === undefined,
    loseQuorum: () => void (committedBefore ??= next),
    regainQuorum,
    goOnWithout: () => {
      const kept = visible(log).length;
      const lost = log.splice(kept);
      for (const { stream, id } of lost) {
        streams.get(stream)?.pop();
        written.delete(id);
      }
      regainQuorum();
      return lost.length > 0;
    },
  };

  function regainQuorum(): void {
    committedBefore = undefined;
    changed();
  }

  function visible(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
    const end = committedBefore;
    return end === undefined ? events : events.filter(({ position }) => position < end);
  }

  function changed(): void {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  }

  function write(stream: string, event: ProposedEvent): void {
    const existing = streams.get(stream) ?? [];
    streams.set(stream, existing);
    const logged = { ...event, stream, revision: BigInt(existing.length), position: next, createdTicks: ticksNow() };
    next += BigInt(event.data.length + event.customMetadata.length) + 100n;
    existing.push(logged);
    log.push(logged);
  }
}

/** The index of the first event at this place or behind it. */
export function firstFrom(source: readonly LoggedEvent[], place: bigint, byPosition: boolean): number {
  let [low, high] = [0, source.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const event = source[middle];
    if (event !== undefined && (byPosition ? event.position : event.revision) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What the server counts against its append limit: the data alone, neither type nor metadata. */
export function countedBytes(event: ProposedEvent): number {
  return event.data.length;
}

/** The server's own rules: an append whose ids are all there already, at the revisions that it would have made, is a success. */
function judge(
  existing: readonly LoggedEvent[],
  expected: Expectation,
  events: readonly ProposedEvent[],
  written: ReadonlySet<string>,
): AppendOutcome | 'write' {
  const current = existing.at(-1)?.revision;
  if (expected === 'stream-exists' && current === undefined) return wrong(current);
  if (expected === 'any' || expected === 'stream-exists') return judgeById(existing, events, written);
  const expectedRevision = expected === 'no-stream' ? -1n : expected;
  if (expectedRevision === (current ?? -1n)) return 'write';
  if (expectedRevision > (current ?? -1n)) return wrong(current);
  const there = existing.slice(Number(expectedRevision + 1n), Number(expectedRevision + 1n) + events.length);
  const repeated = there.length === events.length && there.every(({ id }, index) => id === events[index]?.id);
  return repeated && events.length > 0 ? answerAt(there.at(-1)) : wrong(current);
}

function judgeById(
  existing: readonly LoggedEvent[],
  events: readonly ProposedEvent[],
  written: ReadonlySet<string>,
): AppendOutcome | 'write' {
  const there = events.map(({ id }) => (written.has(id) ? existing.find((logged) => logged.id === id) : undefined));
  if (there[0] === undefined) return 'write';
  return there.every((logged) => logged !== undefined) ? answerAt(there.at(-1)) : wrong(existing.at(-1)?.revision);
}

function wrong(current: bigint | undefined): AppendOutcome {
  return { kind: 'wrong-expected-version', current };
}

function answerAt(last: LoggedEvent | undefined): AppendOutcome {
  if (last === undefined) throw new Error('an append without events has no answer');
  return { kind: 'appended', revision: last.revision, position: last.position };
}

function ticksNow(): bigint {
  return BigInt(Date.now()) * 10_000n;
}
