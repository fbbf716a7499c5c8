import { NOT_REPLACED } from '../../../commands/ip-control/kept-lists.ts';
import type { RouterOutcome } from '../../../events/ip-control/vocabulary.ts';
import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure, type RouterFailureCode } from '../../../ports/routers.ts';
import { formOf, type ListOnRouter } from './list-forms.ts';
import { callRouter, describeFailure, isNotSaved, isUnreadable } from './router-calls.ts';

export type Push = ListOnRouter & Readonly<{ router: string; timeoutMilliseconds: number }>;

/** How a push went; `code` of what went wrong. */
export type Tried = Readonly<{
  outcome: RouterOutcome;
  code?: RouterFailureCode;
  /** Nothing was sent, as it would take too long: what the router holds and is to hold, and about how many new entries it would take in that time. */
  tooLarge?: Readonly<{ held: readonly string[]; wanted: readonly string[]; possible: number }>;
}>;

/**
 * Makes one router hold a list: compare first, change only what differs, read back, compare. Never rejects. Whatever the change
 * answered, or did not answer, only what the router holds afterwards decides. `patienceMilliseconds`: a change that takes longer is not begun.
 */
export async function pushPrefixList(
  push: Push & Readonly<{ patienceMilliseconds?: number }>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Tried> {
  const { router, keeping, timeoutMilliseconds, patienceMilliseconds = timeoutMilliseconds } = push;
  const started = clock.monotonicMilliseconds();
  const form = formOf(push);
  const elapsed = (): number => clock.monotonicMilliseconds() - started;
  let isUnsaved = false;
  const outcome = (result: RouterOutcome['result'], untouched: boolean, because?: string): RouterOutcome => ({
    router,
    result,
    untouched,
    ...(because === undefined ? {} : { because }),
    ...(result === 'confirmed' && isUnsaved ? { saved: false } : {}),
    ...(form.kept === 0 ? {} : { kept: form.kept }),
    milliseconds: Math.round(elapsed()),
  });
  const bounded = <T>(work: (within: AbortSignal) => Promise<T>): Promise<T> =>
    callRouter(work, timeoutMilliseconds - elapsed(), clock, signal);
  try {
    const found = await bounded((within) => form.compare(within));
    if (typeof found === 'object') return { outcome: outcome('failed', true, found.problem) };
    if (found) return { outcome: outcome('confirmed', true) };
  } catch (error) {
    // What can't be read as a list is none of ours, and is replaced; what a restored log does not explain may be in it.
    if (!isUnreadable(error)) return { outcome: outcome('failed', true, describeFailure(error)), ...codeOf(error) };
    if (keeping !== undefined)
      return { outcome: outcome('failed', true, `${describeFailure(error)}; ${NOT_REPLACED}`) };
  }
  const failure = await bounded(async (within) => {
    const patience = Math.min(timeoutMilliseconds, patienceMilliseconds) - elapsed();
    await form.replace(within, patience);
    return undefined;
  }).catch((error: unknown) => ({ error }));
  isUnsaved = failure !== undefined && isNotSaved(failure.error);
  const because = failure === undefined ? undefined : describeFailure(failure.error);
  const code = failure === undefined ? {} : codeOf(failure.error);
  const possible = failure?.error instanceof RouterFailure ? failure.error.possible : undefined;
  const { entries } = form;
  if (possible !== undefined && entries !== undefined)
    return { outcome: outcome('failed', true, because), ...code, tooLarge: { ...entries, possible } };
  try {
    // A change that timed out has used up the time: reading back, which decides, gets its own.
    const isHeld = await callRouter((within) => form.isHeld(within), timeoutMilliseconds, clock, signal);
    // A list that holds is a success; what else went wrong is told all the same.
    if (isHeld) return { outcome: outcome('confirmed', false, because), ...code };
    return {
      outcome: outcome('failed', false, because ?? 'the list reads back differently from what was sent'),
      ...code,
    };
  } catch (error) {
    const said = describeFailure(error);
    const both = because === undefined ? said : `${because}; then, reading back: ${said}`;
    return { outcome: outcome('unknown', false, both), ...(failure === undefined ? codeOf(error) : code) };
  }
}

function codeOf(error: unknown): Readonly<{ code?: RouterFailureCode }> {
  return error instanceof RouterFailure ? { code: error.code } : {};
}
