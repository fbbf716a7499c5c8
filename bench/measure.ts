// What all benchmarks share: paired rounds, medians, and the line that says how it went.

/** Two ways to do the same work; each call is one measured run. */
export type Contenders = Readonly<{ ours: () => unknown; baseline: () => unknown }>;
export type AsyncContenders = Readonly<{ ours: () => Promise<unknown>; baseline: () => Promise<unknown> }>;

/** Median milliseconds of each, and the median of the ratios within one round. */
export type Paired = Readonly<{ ours: number; baseline: number; oursPerBaseline: number; baselinePerOurs: number }>;

/** Rounds to measure; `ROUNDS` from the environment wins. The first `warmups` rounds are not counted. */
export type Rounds = Readonly<{ rounds?: number; warmups?: number }>;

/** Runs both contenders in every round, in turn first and second, so that a slow moment of the machine meets both. */
export function pairedRounds(contenders: Contenders, { rounds = 9, warmups = 2 }: Rounds = {}): Paired {
  const times: Array<readonly [ours: number, baseline: number]> = [];
  const wanted = Number(process.env.ROUNDS ?? rounds);
  for (let round = -warmups; round < wanted; round++) {
    const isOursFirst = round % 2 === 0;
    const first = milliseconds(isOursFirst ? contenders.ours : contenders.baseline);
    const second = milliseconds(isOursFirst ? contenders.baseline : contenders.ours);
    if (round >= 0) times.push(isOursFirst ? [first, second] : [second, first]);
  }
  return summary(times);
}

/** As `pairedRounds`, for work that is waited for. */
export async function pairedRoundsAsync(
  contenders: AsyncContenders,
  { rounds = 9, warmups = 1 }: Rounds = {},
): Promise<Paired> {
  const times: Array<readonly [ours: number, baseline: number]> = [];
  const wanted = Number(process.env.ROUNDS ?? rounds);
  for (let round = -warmups; round < wanted; round++) {
    const isOursFirst = round % 2 === 0;
    const first = await millisecondsAsync(isOursFirst ? contenders.ours : contenders.baseline);
    const second = await millisecondsAsync(isOursFirst ? contenders.baseline : contenders.ours);
    if (round >= 0) times.push(isOursFirst ? [first, second] : [second, first]);
  }
  return summary(times);
}

/** Sums up pairs that were measured elsewhere. */
export function summary(times: ReadonlyArray<readonly [ours: number, baseline: number]>): Paired {
  return {
    ours: median(times.map(([ours]) => ours)),
    baseline: median(times.map(([, baseline]) => baseline)),
    oursPerBaseline: median(times.map(([ours, baseline]) => ours / baseline)),
    baselinePerOurs: median(times.map(([ours, baseline]) => baseline / ours)),
  };
}

/** Prints how many times as fast as the baseline ours is. `target` is the least that is wanted. */
export function reportSpeedUp(name: string, paired: Paired, target?: number): void {
  const wanted = target === undefined ? 'no target' : `target at least ${target}x`;
  console.log(
    `${name}: ours ${duration(paired.ours)}, baseline ${duration(paired.baseline)}, ratio ${figure(paired.baselinePerOurs)}x (${wanted})`,
  );
}

/** As `reportSpeedUp`, in units of work per second: each run did so many. */
export function reportRate(name: string, paired: Paired, count: number, target?: number): void {
  const wanted = target === undefined ? 'no target' : `target at least ${target}x`;
  const [ours, baseline] = [paired.ours, paired.baseline].map((each) => Math.round((count / each) * 1000));
  console.log(`${name}: ours ${ours}/s, baseline ${baseline}/s, ratio ${figure(paired.baselinePerOurs)}x (${wanted})`);
}

/** Prints which share of the baseline's time ours takes. `target` is the most that is wanted. */
export function reportShare(name: string, paired: Paired, target?: number): void {
  const wanted = target === undefined ? 'no target' : `target at most ${target}`;
  console.log(
    `${name}: ours ${duration(paired.ours)}, baseline ${duration(paired.baseline)}, ratio ${figure(paired.oursPerBaseline)} (${wanted})`,
  );
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >>> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Random numbers below 2^32, the same ones in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

function milliseconds(run: () => unknown): number {
  const start = performance.now();
  kept = run();
  return performance.now() - start;
}

async function millisecondsAsync(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  kept = await run();
  return performance.now() - start;
}

/** The last result, so that no run can be optimised away. @public */
export let kept: unknown;

function duration(ms: number): string {
  if (ms >= 1) return `${figure(ms)} ms`;
  return ms >= 0.001 ? `${figure(ms * 1_000)} µs` : `${figure(ms * 1_000_000)} ns`;
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
