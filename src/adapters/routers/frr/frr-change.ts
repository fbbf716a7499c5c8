import type { Cidr } from '../../../addresses/cidr.ts';
import type { Entry } from './frr-answers.ts';
import { LINEAR_SINCE, loadMilliseconds, type RouterSpeed } from './frr-load-time.ts';
import { type Family, isFulfilled, type Plan, smallestPlan, type Wish, wholePlan } from './frr-plan.ts';

/** A list on the router: its entries of each family, undefined where that family's list is missing. */
export type HeldList = Readonly<Record<Family, readonly Entry[] | undefined>>;

/** One file for `vtysh -f`, and how long the router will need for it. */
export type Change = Readonly<{ text: string; adds: number; milliseconds: number; whole: boolean }>;

/** FRR 9 and newer commit after so many lines, and once more at the end. */
const LINES_IN_ONE_COMMIT = 5000;
/** A list of at most so many entries is never written as a whole. */
const FEW_DELETES = 50;

/** Both families of a list as they are and as they shall be. */
export function wishesFor(list: string, held: HeldList, wanted: readonly Cidr[]): readonly Wish[] {
  return [
    { family: 'ip', list, held: held.ip, wanted: wanted.filter((cidr) => cidr.version === 4) },
    { family: 'ipv6', list, held: held.ipv6, wanted: wanted.filter((cidr) => cidr.version === 6) },
  ];
}

/** The fastest safe change that fulfils the wishes, or undefined when nothing is missing. `whole` writes both lists as a whole. */
export function changeFor(wishes: readonly Wish[], speed: RouterSpeed, whole: boolean): Change | undefined {
  const open = whole ? wishes : wishes.filter((wish) => !isFulfilled(wish));
  if (open.length === 0) return undefined;
  const plans = open.map((wish) => {
    const small = mustBeWhole(wish, whole) ?? smallestPlan(wish, speed.majorVersion >= LINEAR_SINCE);
    return { small, fast: faster(wish, small, speed) };
  });
  const linesTogether = plans.reduce((lines, { fast }) => lines + fast.head.length, 0);
  return joined(
    plans.map(({ small, fast }) => (linesTogether <= LINES_IN_ONE_COMMIT ? fast : small)),
    speed,
  );
}

function mustBeWhole(wish: Wish, whole: boolean): Plan | undefined {
  // A daemon that was restarted has lost what the others still hold.
  return whole || wish.wanted.length === 0 || wish.held === undefined ? wholePlan(wish) : undefined;
}

function faster(wish: Wish, small: Plan, speed: RouterSpeed): Plan {
  if (small.deletes <= FEW_DELETES) return small;
  const whole = wholePlan(wish);
  return loadMilliseconds(whole, speed) < loadMilliseconds(small, speed) ? whole : small;
}

function joined(plans: readonly Plan[], speed: RouterSpeed): Change {
  const lines = [...plans.flatMap((plan) => plan.head), ...plans.flatMap((plan) => plan.tail)];
  return {
    text: lines.map((line) => `${line}\n`).join(''),
    adds: plans.reduce((sum, plan) => sum + plan.adds, 0),
    milliseconds: plans.reduce((sum, plan) => sum + loadMilliseconds(plan, speed), 0),
    whole: plans.every((plan) => plan.head.length > 0),
  };
}
