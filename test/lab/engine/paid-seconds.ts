import { epochMilliseconds } from '../../../src/domain/instants.ts';
import { maxBootSeconds } from '../../../src/events/worker-pools/limits.ts';
import type { PoolRecord } from '../../../src/events/worker-pools/pool-record.ts';
import { type ProviderAccountEvent, providerAccountEvents } from '../../../src/events/worker-pools/provider-account.ts';
import { type WorkRequestEvent, workRequestEvents } from '../../../src/events/worker-pools/work-request.ts';
import { type WorkerPoolEvent, workerPoolEvents } from '../../../src/events/worker-pools/worker-pool.ts';
import { type WorkerEvent, workerEvents } from '../../../src/events/worker-pools/worker.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';

/** What the log tells of a second that was paid for. */
export type PaidFor =
  /** A task ran. */
  | 'busy'
  /** It got ready, in the time that its pool gives it. */
  | 'booting'
  /** It waited for work, for less than its pool's `max_idle_seconds`; there was none for it. */
  | 'within max_idle_seconds'
  /** The decision of that time says that pending work needs it, or that more is launched for it. */
  | 'needed by pending work'
  /** It might end, and what decides that was about to. */
  | 'its end is about to be decided'
  /** Nothing had been heard of it, for less than it takes to be given up. */
  | 'silent'
  /** Its end was asked for, with the reason that the event has. */
  | `ending: ${string}`
  /** It belonged to no run: the provider made it after it had been given up. */
  | 'unknown, found and ended'
  /** None of this. */
  | 'unexplained';

/** Seconds for each explanation, and where what is not explained lies. */
export type PaidSeconds = Readonly<{
  seconds: Readonly<Partial<Record<PaidFor, number>>>;
  unexplained: readonly string[];
}>;

type Watched = WorkerEvent | WorkerPoolEvent | WorkRequestEvent | ProviderAccountEvent;
type Decision = Extract<WorkerPoolEvent, { type: 'WorkerPoolScalingDecided' }>['data'] & Readonly<{ at: number }>;
/** Epoch milliseconds. */
export type Span = Readonly<{ from: number; to: number }>;

/** What the log can not know of itself. */
export type Circumstances = Readonly<{
  /** In which no server ran, in order: what was due is due by so much later. */
  away: readonly Span[];
  /** Of a log that grows on: what runs then is judged up to this instant. */
  until: number;
}>;

type Run = {
  readonly run: string;
  readonly worker: string;
  readonly pool: string;
  readonly created: number;
  /** What it did from when on, in order; of what was told late the provider's end has the last word. */
  readonly turns: { at: number; does: 'booting' | 'idle' | 'busy' | 'silent' }[];
  ending: { at: number; code: string } | undefined;
  /** The provider refused its end, or did not answer. */
  isEndRefused: boolean;
  ended: number;
};

type Pool = { limits: PoolRecord['limits']; readonly isEphemeral: boolean; readonly decisions: Decision[] };

/** Between what makes a decision due and what it does, while a server runs: its rhythm of a minute, and records that fail. */
const DECIDED_MILLISECONDS = 120_000;
/** Between an end that is wanted and the provider's: a call that hangs is waited for two minutes. */
const CALLED_MILLISECONDS = 180_000;
/** Between silence and the end of who stays silent, from a server's start at the earliest: five minutes, and looks whose records fail. */
const GIVEN_UP_MILLISECONDS = 360_000;
/** Between work that waits beside an idle worker and its start: workers ask for it each minute. */
const HANDED_OVER_MILLISECONDS = 120_000;

/**
 * Goes through a log and says of each second of each instance why it was paid for. Whatever work there is any idle worker may take: where
 * some waits beside an idle worker for longer than it takes to hand it over, the second is not explained.
 */
export async function explainPaidSeconds(
  pages: AsyncIterable<readonly RecordedEvent[]>,
  circumstances: Circumstances,
): Promise<PaidSeconds> {
  const log = openReading(circumstances);
  for await (const page of pages) for (const event of page) if (isHandled<Watched>(WATCHED, event)) log.read(event);
  return log.explain();
}

const OF_WORKERS: ReadonlySet<string> = new Set(workerEvents.map(({ type }) => type));
const OF_WORK: ReadonlySet<string> = new Set(workRequestEvents.map(({ type }) => type));
const WATCHED: ReadonlySet<string> = new Set(
  [...workerEvents, ...workerPoolEvents, ...workRequestEvents, ...providerAccountEvents].map(({ type }) => type),
);

function openReading({ away, until }: Circumstances) {
  const pools = new Map<string, Pool>();
  const open = new Map<string, Run>();
  const over: Run[] = [];
  const waiting = new Map<string, number>();
  const waits: Span[] = [];
  let unknownMilliseconds = 0;

  return { read, explain };

  function read(event: RecordedEvent<Watched>): void {
    if (isHandled<WorkerEvent>(OF_WORKERS, event)) readWorker(event);
    else if (isHandled<WorkRequestEvent>(OF_WORK, event)) readWork(event);
    else if (event.type === 'WorkerPoolCreated') {
      const { limits, ephemeral: isEphemeral } = event.data.record;
      pools.set(event.data.pool, { limits, isEphemeral, decisions: [] });
    } else if (event.type === 'WorkerPoolEdited') {
      const pool = pools.get(event.data.pool);
      if (pool !== undefined && event.data.changes.limits !== undefined) pool.limits = event.data.changes.limits;
    } else if (event.type === 'WorkerPoolScalingDecided') {
      pools.get(event.data.pool)?.decisions.push({ ...event.data, at: epochMilliseconds(event.data.decidedAt) });
    } else if (event.type === 'UnknownInstanceEnded') {
      const { createdAt, endedAt, accountedUntil = createdAt } = event.data;
      unknownMilliseconds += epochMilliseconds(endedAt) - epochMilliseconds(accountedUntil);
    }
  }

  function readWork(event: WorkRequestEvent): void {
    const { id } = event.data;
    switch (event.type) {
      case 'WorkRequestSubmitted':
        waiting.set(id, epochMilliseconds(event.data.submittedAt));
        return;
      case 'WorkRequestReturned':
        waiting.set(id, epochMilliseconds(event.data.returnedAt));
        return;
      case 'WorkRequestStarted':
        return waitedUntil(id, event.data.startedAt);
      case 'WorkRequestFinished':
        return waitedUntil(id, event.data.finishedAt);
      case 'WorkRequestCancelled':
        return waitedUntil(id, event.data.cancelledAt);
    }
  }

  function waitedUntil(id: string, at: string): void {
    const from = waiting.get(id);
    if (from !== undefined) waits.push({ from, to: epochMilliseconds(at) });
    waiting.delete(id);
  }

  function readWorker(event: WorkerEvent): void {
    const { worker } = event.data;
    if (event.type === 'InstanceCreated') {
      const { run, pool, instanceCreatedAt } = event.data;
      const created = epochMilliseconds(instanceCreatedAt);
      const turns: Run['turns'] = [{ at: created, does: 'booting' }];
      open.set(worker, { run, worker, pool, created, turns, ending: undefined, isEndRefused: false, ended: until });
      return;
    }
    const run = open.get(worker);
    if (run === undefined) return;
    const does = run.turns.at(-1)?.does;
    if (event.type === 'WorkerConnected' && does === 'booting') turn(run, event.data.connectedAt, 'idle');
    if (event.type === 'TaskStarted') turn(run, event.data.startedAt, 'busy');
    if (event.type === 'TaskFinished') turn(run, event.data.finishedAt, 'idle');
    if (event.type === 'WorkerFellSilent' && does === 'idle') turn(run, event.data.at, 'silent');
    if (event.type === 'WorkerHeardAgain' && does === 'silent') turn(run, event.data.at, 'idle');
    if (event.type === 'InstanceTerminationRequested')
      run.ending ??= { at: epochMilliseconds(event.data.requestedAt), code: event.data.code };
    if (event.type === 'ProviderCallFailed') run.isEndRefused ||= event.data.call === 'terminate';
    if (event.type !== 'InstanceTerminated') return;
    run.ended = epochMilliseconds(event.data.terminatedAt);
    over.push(run);
    open.delete(worker);
  }

  function turn(run: Run, at: string, does: Run['turns'][number]['does']): void {
    run.turns.push({ at: epochMilliseconds(at), does });
  }

  function explain(): PaidSeconds {
    const milliseconds = new Map<PaidFor, number>();
    const unexplained: string[] = [];
    const add = (paidFor: PaidFor, from: number, to: number, about?: Run, why = ''): void => {
      if (to <= from) return;
      milliseconds.set(paidFor, (milliseconds.get(paidFor) ?? 0) + to - from);
      if (paidFor !== 'unexplained' || about === undefined) return;
      unexplained.push(
        `${about.worker} (${about.run}) ${new Date(from).toISOString()} for ${(to - from) / 1000} s: ${why}`,
      );
    };
    add('unknown, found and ended', 0, unknownMilliseconds);
    const stillWaiting = [...waiting.values()].map((from) => ({ from, to: until }));
    const beside = { waits: mergedSpans([...waits, ...stillWaiting]), away };
    for (const run of [...over, ...open.values()]) explainRun(run, pools.get(run.pool), beside, add);
    const seconds = Object.fromEntries([...milliseconds].map(([paidFor, sum]) => [paidFor, sum / 1000]));
    return { seconds, unexplained };
  }
}

/** What was there beside a run: work that waited, and whiles without a server. */
type Beside = Readonly<{ waits: readonly Span[]; away: readonly Span[] }>;

type Add = (paidFor: PaidFor, from: number, to: number, about?: Run, why?: string) => void;

function explainRun(run: Run, pool: Pool | undefined, beside: Beside, add: Add): void {
  const { turns, ended, ending, created } = run;
  if (pool === undefined) return add('unexplained', created, ended, run, 'its pool is not in the log');
  const endingAt = Math.min(ended, ending?.at ?? Infinity);
  for (const [index, { at, does }] of turns.entries()) {
    const from = Math.min(at, ended);
    const to = Math.min(turns[index + 1]?.at ?? ended, ended);
    if (does === 'busy') {
      add('busy', from, to);
      continue;
    }
    // A task that still ran ends before the instance does.
    const until = Math.max(from, Math.min(to, endingAt));
    if (does === 'silent') explainSilence(run, { from, to: until }, beside, add);
    if (does === 'booting') explainBoot(run, pool, { from, to: until }, beside, add);
    const isDone = pool.isEphemeral && turns.slice(0, index).some((earlier) => earlier.does === 'busy');
    if (does === 'idle' && isDone) explainDone(run, { from, to: until }, beside, add);
    else if (does === 'idle') explainIdle(run, pool, { from, to: until }, beside, add);
    explainEnd(run, { from: until, to }, beside, add);
  }
}

function explainBoot(run: Run, { limits }: Pool, { from, to }: Span, { away }: Beside, add: Add): void {
  const late = from + maxBootSeconds(limits) * 1000;
  const due = afterServed(late, DECIDED_MILLISECONDS, away);
  add('booting', from, Math.min(to, late));
  add('its end is about to be decided', late, Math.min(to, due));
  add('unexplained', due, to, run, 'it boots for longer than its pool gives it');
}

function explainDone(run: Run, { from, to }: Span, { away }: Beside, add: Add): void {
  const due = afterServed(from, DECIDED_MILLISECONDS, away);
  add('its end is about to be decided', from, Math.min(to, due));
  add('unexplained', due, to, run, 'it has run its one task');
}

function explainSilence(run: Run, { from, to }: Span, { away }: Beside, add: Add): void {
  let due = from + GIVEN_UP_MILLISECONDS;
  for (const span of away) if (span.to > from && span.from < due) due = span.to + GIVEN_UP_MILLISECONDS;
  add('silent', from, Math.min(to, due));
  add('unexplained', due, to, run, 'it is silent, and nobody gives it up');
}

function explainEnd(run: Run, { from, to }: Span, { away }: Beside, add: Add): void {
  if (run.ending === undefined || to <= from) return;
  const due = run.isEndRefused ? to : Math.min(to, afterServed(from, CALLED_MILLISECONDS, away));
  add(`ending: ${run.ending.code}`, from, due);
  add('unexplained', due, to, run, `it is to end (${run.ending.code}), and nobody says why it does not`);
}

function explainIdle(run: Run, pool: Pool, span: Span, { waits, away }: Beside, add: Add): void {
  let from = span.from;
  // Where work waits beside it for so long that it should have been given it, no other reason counts.
  for (let index = firstAfter(waits, span.from, ({ to }) => to); index < waits.length; index += 1) {
    const wait = waits[index];
    if (wait === undefined || wait.from >= span.to) break;
    const begun = Math.max(wait.from, span.from);
    const end = Math.min(wait.to, span.to);
    if (end <= afterServed(begun, HANDED_OVER_MILLISECONDS, away)) continue;
    explainUnused(run, pool, { from, to: begun }, span.from, away, add);
    add('unexplained', begun, end, run, 'it idles beside work that waits');
    from = end;
  }
  explainUnused(run, pool, { from, to: span.to }, span.from, away, add);
}

function explainUnused(
  run: Run,
  { limits, decisions }: Pool,
  { from, to }: Span,
  since: number,
  away: readonly Span[],
  add: Add,
): void {
  const graceEnd = since + limits.max_idle_seconds * 1000;
  add('within max_idle_seconds', from, Math.min(to, graceEnd));
  // From then on the decision in force has to say why it is there.
  let at = Math.max(from, graceEnd);
  let due = afterServed(graceEnd, DECIDED_MILLISECONDS, away);
  while (at < to) {
    const { decision, until } = inForce(decisions, at);
    const end = Math.min(to, until);
    // Decided, it is asked for; a record of that which failed is made after the next decision.
    if (decision?.terminations.some(({ worker }) => worker === run.worker))
      due = afterServed(decision.at, DECIDED_MILLISECONDS, away);
    if (decision !== undefined && isNeeded(decision)) {
      add('needed by pending work', at, end);
      due = afterServed(end, DECIDED_MILLISECONDS, away);
    } else {
      add('its end is about to be decided', at, Math.min(end, due));
      const why = `the decision of ${decision?.decidedAt ?? 'nobody'} says ${decision?.nothing?.code ?? 'nothing of it'}`;
      add('unexplained', Math.max(at, due), end, run, why);
    }
    at = end;
  }
}

/** Something waits that the pool's workers could run: an idle one is kept for it. */
function isNeeded({ launches, refusals, nothing }: Decision): boolean {
  return launches.length > 0 || refusals.length > 0 || nothing?.code === 'enough-workers';
}

/** The newest decision at a moment, and until when it is. */
function inForce(
  decisions: readonly Decision[],
  at: number,
): Readonly<{ decision: Decision | undefined; until: number }> {
  const next = firstAfter(decisions, at, (decision) => decision.at);
  return { decision: decisions[next - 1], until: decisions[next]?.at ?? Infinity };
}

/** The instant by which a server has run for so long. */
function afterServed(from: number, milliseconds: number, away: readonly Span[]): number {
  let after = from + milliseconds;
  for (let index = firstAfter(away, from, ({ to }) => to); index < away.length; index += 1) {
    const span = away[index];
    if (span === undefined || span.from >= after) break;
    after += span.to - Math.max(span.from, from);
  }
  return after;
}

/** The place of the first whose instant is later, of some in the order of their instants. */
function firstAfter<T>(sorted: readonly T[], at: number, instantOf: (one: T) => number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const one = sorted[middle];
    if (one !== undefined && instantOf(one) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Spans in which at least one thing waits, in order. */
function mergedSpans(spans: readonly Span[]): readonly Span[] {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}
