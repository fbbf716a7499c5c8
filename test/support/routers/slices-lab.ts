import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import { addCustomer, type Edgeward, openEdgeward, type TestCustomer } from '../servers/edgeward-server.ts';
import { waitUntil } from '../wait-until.ts';
import { FRR_OF_THIS_MACHINE, type LabRouter, missingForFrr, startFrr } from './frr.ts';

const LIST = 'Svc-ACME-BLACKHOLE';
const QUIET_SECONDS = 1;
export const WHOLE_SECONDS_MAX = 480;
/** More than the router takes in one slice, on a fast machine as well. */
export const MANY = 700;
const SETTINGS = {
  QUIET_PERIOD: `PT${QUIET_SECONDS}S`,
  SCHEDULER_INTERVAL: 'PT0.2S',
  COMMIT_RETRY_DELAYS: 'PT1S',
  LOG_LEVEL: 'info',
};

export type SlicesLab = Readonly<{
  edgeward: Edgeward;
  routers: readonly LabRouter[];
  customer: TestCustomer;
}>;

/** How many routers the region has, and how long a push may take. */
type Region = Readonly<{ routers: number; deploySeconds: number }>;

/** A scenario on a region of real FRR 8.4; skipped where FRR can't run. */
export function live(name: string, region: Region, scenario: (lab: SlicesLab) => Promise<void>): void {
  const missing = missingForFrr();
  if (missing !== undefined) {
    console.log(`skipped: ${name}, as this machine has no ${missing}`);
    return test.skip(name);
  }
  test(name, async () => {
    const routers: LabRouter[] = [];
    const edgeward = await openEdgeward({ ...SETTINGS, DEPLOY_TIMEOUT: `PT${region.deploySeconds}S` });
    try {
      await edgeward.json('region', 'create', 'eu-west');
      for (let at = 1; at <= region.routers; at += 1) {
        const router = await startFrr(FRR_OF_THIS_MACHINE);
        routers.push(router);
        const options = Object.entries({ transport: 'local', write_memory: 'false', ...router.options });
        const words = options.flatMap(([option, value]) => ['--option', `${option}=${value}`]);
        await edgeward.json('router', 'add', 'eu-west', `core${at}`, '--driver', 'frr', ...words);
      }
      const customer = await addCustomer(edgeward, 'Acme', [
        ['198.18.0.0/15', 'eu-west'],
        ['203.0.113.0/24', 'eu-west'],
      ]);
      await scenario({ edgeward, routers, customer });
    } finally {
      await edgeward.remove();
      for (const router of routers) await router.stop();
    }
  });
}

export async function post(url: string, { token }: TestCustomer, path: string, body: object): Promise<void> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.is(response.status, 200, await response.text());
}

const LISTS = z.record(
  z.string(),
  z.record(z.string(), z.object({ entries: z.array(z.object({ prefix: z.string() })) })),
);

/** The blocks that bgpd holds. */
export async function heldBy(router: LabRouter): Promise<ReadonlySet<string>> {
  const text = (await router.vtysh('-d', 'bgpd', '-c', `show ip prefix-list ${LIST} json`)).trim();
  if (text === '') return new Set();
  const [lists = {}] = Object.values(LISTS.parse(JSON.parse(text)));
  return new Set(lists[LIST]?.entries.map(({ prefix }) => prefix));
}

/** The blocks that the bgpd of the only router holds. */
export function held({ routers }: SlicesLab): Promise<ReadonlySet<string>> {
  const [router] = routers;
  if (router === undefined) throw new Error('the region has no router');
  return heldBy(router);
}

/** 198.18.0.0, .2, .4 and so on: no two of them share a block. */
export function scattered(from: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => (from + at) * 2).map(
    (offset) => `198.${18 + Math.floor(offset / 65_536)}.${Math.floor(offset / 256) % 256}.${offset % 256}`,
  );
}

const commits = z.array(
  z.object({
    status: z.string(),
    attempt: z.number().nullable(),
    prefixes_done: z.number().optional(),
    prefixes_total: z.number().optional(),
  }),
);

export async function newestCommit({ edgeward }: SlicesLab) {
  const [newest] = commits.parse(await edgeward.json('commit', 'list'));
  return newest;
}

/** A slice may be under way when the quiet period ends, and another may have begun before the server has looked at its clock. */
const OTHERS_MAX = 2;

/** A router may be asked first whether it takes all at once, which ends as a slice does. */
const OWN_MAX = 2;

const requested = z.object({ commitSetId: z.string(), attempt: z.number() });

/**
 * Makes one small change, and waits until the router has it: after its quiet period and one slice, as long as that may take on this
 * machine. How many slices went before is read from the log. Gives the seconds.
 */
export async function secondsOfOneSlice(
  { edgeward }: SlicesLab,
  change: () => Promise<void>,
  isThere: () => Promise<boolean>,
): Promise<number> {
  const before = (await edgeward.events()).at(-1)?.position ?? 0n;
  const began = performance.now();
  await change();
  const since = async (): Promise<readonly RecordedEvent[]> => {
    const events = (await edgeward.events()).filter(({ position }) => position > before);
    return events.slice(events.findIndex(({ type }) => type === 'AddressesDisabled' || type === 'AddressesEnabled'));
  };
  const turnsUntilThere = async (): Promise<Turns | undefined> => {
    // Read before the router is looked at: what is there then may be the work of a later slice, and of none of these.
    const turns = turnsOf(await since());
    if (await isThere()) return turns;
    assert.ok(turns.own < OWN_MAX, `not there after ${turns.own} slices that had it`);
    return undefined;
  };
  const { others } = await waitUntil('the router has the change', turnsUntilThere, 240);
  assert.ok(others <= OTHERS_MAX, `${others} slices without it went before`);
  return (performance.now() - began) / 1000;
}

type Turns = Readonly<{ others: number; own: number }>;

/** How many slices ended after the quiet period of the change that these events begin with: without it, and with it. */
function turnsOf(events: readonly RecordedEvent[]): Turns {
  const request = events.find(({ type }) => type === 'CommitRequested');
  const own = request === undefined ? undefined : requested.parse(request.data);
  const quietUntil = Date.parse(events[0]?.metadata.at ?? '') + QUIET_SECONDS * 1000;
  const ends = events
    .filter(({ type }) => type === 'CommitSliceDeployed' || type === 'CommitCompleted')
    .filter(({ metadata }) => Date.parse(metadata.at) > quietUntil)
    .map(({ data }) => requested.parse(data));
  const isOwn = ({ commitSetId, attempt }: z.infer<typeof requested>): boolean =>
    own !== undefined && commitSetId === own.commitSetId && attempt >= own.attempt;
  return { others: ends.filter((end) => !isOwn(end)).length, own: ends.filter(isOwn).length };
}

const failed = z.object({ outcomes: z.array(z.object({ because: z.string().optional() })) });

/** As the product says it that a router has not answered in time, or that the answer to a change was not waited for. */
const LATE = /^(?:no result within \d+ ms|timed-out: |outcome-unknown: )/;

/** Why commits have failed, but for routers that were late: a machine that does much else may be too slow for a slice three times in a row. */
export async function failures({ edgeward }: SlicesLab): Promise<readonly string[]> {
  return (await edgeward.events())
    .filter(({ type }) => type === 'CommitFailed')
    .flatMap(({ data }) => failed.parse(data).outcomes)
    .flatMap(({ because }) => because ?? [])
    .filter((because) => !LATE.test(because));
}

export async function secondsUntil(what: string, condition: () => Promise<boolean>, seconds: number): Promise<number> {
  const began = performance.now();
  await waitUntil(what, condition, seconds);
  return (performance.now() - began) / 1000;
}
