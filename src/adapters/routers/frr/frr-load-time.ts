import type { Plan } from './frr-plan.ts';

/** What a router's speed depends on. `loaders`: how many of its daemons load every line. */
export type RouterSpeed = Readonly<{ majorVersion: number; loaders: number }>;

/** Since this version a new line is no longer compared with every entry of its list, twice. */
export const LINEAR_SINCE = 9;

/** Daemons that take no prefix-lists. */
const NOT_LOADING = new Set(['watchfrr', 'staticd', 'bfdd', 'mgmtd', 'vrrpd', 'pathd']);

/** How many of the daemons in the answer to `show daemons` load prefix-lists; at least one. */
export function loadersIn(answer: string): number {
  const daemons = answer.split(/\s+/).filter((word) => /^[a-z0-9]+d$|^zebra$/.test(word) && !NOT_LOADING.has(word));
  return Math.max(1, daemons.length);
}

/**
 * About how long a router takes for a change, in milliseconds. Measured on a 2-core x86 machine: FRR 8.4 with zebra and bgpd
 * loads 300 new entries in 2 s, 1,000 in 20 s, 3,000 in 3 minutes; FRR 10.3 10,000 in 5 s, 50,000 in 47 s, and takes 3 ms for
 * every delete by number in a list of 10,000.
 */
export function loadMilliseconds(plan: Plan, speed: RouterSpeed): number {
  const { adds, deletes, entriesBefore } = plan;
  if (speed.majorVersion < LINEAR_SINCE) {
    const compared = adds * Math.max(0, entriesBefore - deletes + adds / 2);
    return speed.loaders * (0.02 * compared + 0.4 * (adds + deletes));
  }
  const whileAdding = entriesBefore + adds / 2;
  const whileDeleting = entriesBefore + adds - deletes / 2;
  return (
    0.03 * (entriesBefore + adds) + adds * (0.35 + 0.000022 * whileAdding) + deletes * (0.1 + 0.0002 * whileDeleting)
  );
}

/** About how many new entries a router takes in a time, in a list that has so many already: `loadMilliseconds` the other way round. */
export function entriesWithin(milliseconds: number, entriesBefore: number, speed: RouterSpeed): number {
  const [square, linear, constant] =
    speed.majorVersion < LINEAR_SINCE
      ? [speed.loaders * 0.01, speed.loaders * (0.4 + 0.02 * entriesBefore), 0]
      : [0.000011, 0.38 + 0.000022 * entriesBefore, 0.03 * entriesBefore];
  const left = milliseconds - constant;
  if (left <= 0) return 0;
  return Math.floor((Math.sqrt(linear * linear + 4 * square * left) - linear) / (2 * square));
}
