import type { RegionRouter } from '../../../commands/ip-control/region-state.ts';
import type { RouterOutcome } from '../../../events/ip-control/vocabulary.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Tried } from './push-prefix-list.ts';
import { isSliced, type Sliced } from './push-slice.ts';

/** What a step of an attempt has come to: all have given their outcome, or some are not there yet. */
export type Step = Readonly<{
  outcomes: readonly RouterOutcome[];
  /** Routers that the list comes to in slices. */
  sliced: readonly Sliced[];
  /** Routers that have not answered yet, while all others have. */
  late: readonly string[];
}>;

/** Makes one router hold the list, or brings it nearer to that; `undefined` when the attempt is no longer under way. */
export type PushRouter = (router: RegionRouter) => Promise<Tried | Sliced | undefined>;

type Pushed = { readonly identity: string; readonly over: Promise<void>; result?: Tried | Sliced | undefined };

/** From the first router's outcome on, the others have this long until it counts as slow; never more than a quarter of a push's time. */
const PATIENCE_MILLISECONDS = 2000;

/**
 * The pushes of one attempt of a commit, kept from step to step: who has given its outcome is not asked again, and who has not
 * answered yet is not asked twice.
 */
export class AttemptPushes {
  readonly #pushed = new Map<string, Pushed>();
  #isOvertaken = false;

  /** Pushes to those that have not given their outcome, and waits: for all of them, or until only slow ones are left; `undefined` when overtaken. */
  async step(
    routers: readonly RegionRouter[],
    push: PushRouter,
    timeoutMilliseconds: number,
    clock: Clock,
  ): Promise<Step | undefined> {
    const fresh = routers.filter((router) => this.#isToBePushed(router)).map((router) => this.#start(router, push));
    const all = routers.flatMap(({ router }) => this.#pushed.get(router) ?? []);
    const isGoingOn = fresh.length < all.length && all.some((one) => !fresh.includes(one) && isOpen(one));
    if (fresh.length === 0) await waitForAll(all);
    else if (isGoingOn) await waitForAll(fresh);
    else await waitForMost(fresh, Math.min(PATIENCE_MILLISECONDS, timeoutMilliseconds / 4), clock);
    return this.#isOvertaken ? undefined : this.#coalesce(routers);
  }

  /** What has come of the pushes that are over, also to routers that later steps have passed over. */
  outcomes(): readonly RouterOutcome[] {
    return [...this.#pushed.values()].flatMap(({ result }) =>
      result === undefined || isSliced(result) ? [] : [result.outcome],
    );
  }

  /** One that was configured or enabled again meanwhile has given no outcome yet. */
  #isToBePushed(router: RegionRouter): boolean {
    const known = this.#pushed.get(router.router);
    return known === undefined || known.identity !== identityOf(router);
  }

  #start(router: RegionRouter, push: PushRouter): Pushed {
    const pushing = push(router);
    const pushed: Pushed = {
      identity: identityOf(router),
      over: this.#whenOver(pushing, (result) => (pushed.result = result)),
    };
    this.#pushed.set(router.router, pushed);
    // The caller that waits for the push gets its failure; perhaps no caller waits any more.
    pushed.over.catch(() => this.#forget(router.router, pushed));
    return pushed;
  }

  async #whenOver(pushing: ReturnType<PushRouter>, keep: (result: Tried | Sliced | undefined) => void): Promise<void> {
    const result = await pushing;
    keep(result);
    if (result === undefined) this.#isOvertaken = true;
  }

  /** One that could not be made (the store was away) has not failed on the router: the step that is taken again makes it again. */
  #forget(router: string, pushed: Pushed): void {
    if (this.#pushed.get(router) === pushed) this.#pushed.delete(router);
  }

  #coalesce(routers: readonly RegionRouter[]): Step {
    const outcomes: RouterOutcome[] = [];
    const sliced: Sliced[] = [];
    const late: string[] = [];
    for (const { router } of routers) {
      const result = this.#pushed.get(router)?.result;
      if (result === undefined) late.push(router);
      else if (isSliced(result)) {
        sliced.push(result);
        this.#pushed.delete(router);
      } else outcomes.push(result.outcome);
    }
    return { outcomes, sliced, late };
  }
}

/** As which router it is asked: what it has said before it was configured or enabled again says nothing of it as it is now. */
export function identityOf({ driver, options, since }: RegionRouter): string {
  return JSON.stringify([driver, options, String(since)]);
}

function isOpen({ result }: Pushed): boolean {
  return result === undefined;
}

async function waitForAll(pushes: readonly Pushed[]): Promise<void> {
  await Promise.all(pushes.map(({ over }) => over));
}

async function waitForMost(pushes: readonly Pushed[], milliseconds: number, clock: Clock): Promise<void> {
  const all = waitForAll(pushes);
  if (pushes.length < 2) return all;
  const stop = new AbortController();
  const first = Promise.race(pushes.map(({ over }) => over));
  const patience = first.then(() => (stop.signal.aborted ? undefined : clock.wait(milliseconds, stop.signal)));
  try {
    await Promise.race([all, patience]);
  } finally {
    stop.abort();
    await patience.catch(() => undefined);
  }
}
