import type { RestoreEvent, RestoreReason } from '../../events/ip-control/restore.ts';
import type { RangeSet } from '../../addresses/range-set.ts';
import { type Command, type Decision, refuse } from '../../kernel/decider.ts';

/** The log was put back from an older copy, and what routers hold beyond it is not accepted everywhere as wrong. */
export type Restored = Readonly<{
  /** Of the event with which it began, in the directory's stream. */
  revision: bigint;
  because: RestoreReason;
  /** Where the stream of each customer ended then; one that is not named had none. */
  customers: ReadonlyMap<number, bigint>;
  /** Regions whose routers are to hold what the log says again. */
  accepted: ReadonlySet<number>;
}>;

/** What the directory knows of it. */
export type RestoreState = Readonly<{ regions: ReadonlyMap<number, string>; restored: Restored | undefined }>;

export type RestoreCommand =
  | Command<
      'BeginRestore',
      { because: RestoreReason; customers: readonly Readonly<{ customerId: number; revision: number }>[] }
    >
  /** Of one region, or of all. */
  | Command<'AcceptRestore', { regionId: number | undefined }>;

/** Whether the routers of a region keep what the log does not explain. A region that is made while it lasts is no exception. */
export function isRestored({ restored }: Pick<RestoreState, 'restored'>, regionId: number): boolean {
  return restored !== undefined && !restored.accepted.has(regionId);
}

/**
 * What a router keeps beside what is wanted: everything that is present and that the log does not explain as removed. The log of an
 * older copy can't tell why it is there: it may be an address under attack.
 */
export function keptWhileRestored(present: RangeSet, wanted: RangeSet, explainedRemovals: RangeSet): RangeSet {
  return present.difference(wanted).difference(explainedRemovals);
}

/** The rules of beginning and accepting. */
export function decideRestore(command: RestoreCommand, state: RestoreState): Decision<RestoreEvent> {
  const { regions, restored } = state;
  switch (command.type) {
    case 'BeginRestore': {
      const { because, customers } = command.data;
      // An operator who says it again means the same copy; views that have seen more mean another one, unless nothing came between.
      if (restored !== undefined && (because === 'operator' || isSameCopy(restored, customers))) return [];
      return [{ type: 'RestoreBegan', data: { because, ...named(customers) } }];
    }
    case 'AcceptRestore': {
      const { regionId } = command.data;
      if (regionId !== undefined && !regions.has(regionId))
        return refuse('region-not-found', 'region not found.', 'region');
      if (restored === undefined) return [];
      const regionIds = regionId === undefined ? [...regions.keys()] : [regionId];
      const left = regionIds.filter((id) => isRestored(state, id));
      return left.length === 0 && regions.size > 0 ? [] : [{ type: 'RestoreAccepted', data: { regionIds: left } }];
    }
  }
}

/** What is left of it after an event; it is over when every region is accepted. */
export function evolveRestore(
  { regions, restored }: RestoreState,
  { type, data, revision }: RestoreEvent & Readonly<{ revision: bigint }>,
): Restored | undefined {
  if (type === 'RestoreBegan') {
    const customers = new Map(customersIn(data).map(({ customerId, revision: at }) => [customerId, BigInt(at)]));
    return { revision, because: data.because, customers, accepted: new Set() };
  }
  if (restored === undefined) return undefined;
  const accepted = new Set([...restored.accepted, ...data.regionIds]);
  return [...regions.keys()].every((regionId) => accepted.has(regionId)) ? undefined : { ...restored, accepted };
}

type StreamEnd = Readonly<{ customerId: number; revision: number }>;
type Began = (RestoreEvent & { type: 'RestoreBegan' })['data'];

/** Named one by one, more customers would not fit into one append; in runs, some 250,000 do. */
const NAMED_MAX = 10_000;

function named(customers: readonly StreamEnd[]): Pick<Began, 'customers' | 'customerRuns'> {
  if (customers.length <= NAMED_MAX) return { customers: [...customers] };
  const runs: number[][] = [];
  for (const { customerId, revision } of customers) {
    const run = runs.at(-1);
    if (run === undefined || (run[0] ?? 0) + run.length - 1 !== customerId) runs.push([customerId, revision]);
    else run.push(revision);
  }
  return { customers: [], customerRuns: runs };
}

function customersIn({ customers, customerRuns = [] }: Began): readonly StreamEnd[] {
  const inRuns = customerRuns.flatMap(([first = 0, ...revisions]) =>
    revisions.map((revision, index) => ({ customerId: first + index, revision })),
  );
  return [...customers, ...inRuns];
}

function isSameCopy(
  { customers: before, accepted }: Restored,
  customers: readonly Readonly<{ customerId: number; revision: number }>[],
): boolean {
  const isSame = customers.every(({ customerId, revision }) => before.get(customerId) === BigInt(revision));
  return isSame && accepted.size === 0 && customers.length === before.size;
}
