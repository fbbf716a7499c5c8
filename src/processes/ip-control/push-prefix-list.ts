import { type Keeping, NOT_REPLACED, wantedOn } from '../../commands/ip-control/kept-lists.ts';
import type { RouterOutcome } from '../../events/ip-control/vocabulary.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RouterDriver } from '../../ports/routers.ts';
import { describeFailure, isSameList, isUnreadable, withDeadline } from './router-calls.ts';

export type Push = Readonly<{
  router: string;
  driver: RouterDriver;
  list: string;
  /** Canonical CIDR texts in order: all that the list is to hold. */
  prefixes: readonly string[];
  /** While the log is a restored one: what the router holds beside it stays, but for what the log explains. */
  keeping?: Keeping | undefined;
  timeoutMilliseconds: number;
}>;

/**
 * Makes one router hold a list: compare first, change only what differs, read back, compare. Never rejects.
 * Whatever the change answered, or did not answer, only what the router holds afterwards decides.
 */
export async function pushPrefixList(push: Push, clock: Clock, signal: AbortSignal): Promise<RouterOutcome> {
  const { router, driver, list, keeping, timeoutMilliseconds } = push;
  const started = clock.monotonicMilliseconds();
  let [prefixes, kept] = [push.prefixes, 0];
  const outcome = (result: RouterOutcome['result'], untouched: boolean, because?: string): RouterOutcome => ({
    router,
    result,
    untouched,
    ...(because === undefined ? {} : { because }),
    ...(kept === 0 ? {} : { kept }),
    milliseconds: Math.round(clock.monotonicMilliseconds() - started),
  });
  const bounded = <T>(work: (within: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline(work, timeoutMilliseconds - (clock.monotonicMilliseconds() - started), clock, signal);
  try {
    const held = await bounded((within) => driver.read(list, within));
    const wanted = wantedOn(held, prefixes, keeping);
    if ('problem' in wanted) return outcome('failed', true, wanted.problem);
    [prefixes, kept] = [wanted.prefixes, wanted.kept.length];
    if (isSameList(held, prefixes)) return outcome('confirmed', true);
  } catch (error) {
    // What can't be read as a list is none of ours, and is replaced; what a restored log does not explain may be in it.
    if (!isUnreadable(error)) return outcome('failed', true, describeFailure(error));
    if (keeping !== undefined) return outcome('failed', true, `${describeFailure(error)}; ${NOT_REPLACED}`);
  }
  const failure = await bounded(async (within) => {
    const left = timeoutMilliseconds - (clock.monotonicMilliseconds() - started);
    await driver.replace(list, prefixes, within, { timeoutMilliseconds: left });
    return undefined;
  }).catch(describeFailure);
  try {
    // A change that timed out has used up the time: reading back, which decides, gets its own.
    const isThere = await withDeadline(
      (within) => holds(driver, list, prefixes, within),
      timeoutMilliseconds,
      clock,
      signal,
    );
    // A list that holds is a success; what else went wrong (saving it for the next boot, say) is told all the same.
    if (isThere) return outcome('confirmed', false, failure);
    return outcome('failed', false, failure ?? 'the list reads back differently from what was sent');
  } catch (error) {
    const because =
      failure === undefined ? describeFailure(error) : `${failure}; then, reading back: ${describeFailure(error)}`;
    return outcome('unknown', false, because);
  }
}

async function holds(
  driver: RouterDriver,
  list: string,
  prefixes: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  return isSameList(await driver.read(list, signal), prefixes);
}
