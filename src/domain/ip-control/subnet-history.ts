import type { AddressRange } from '../../addresses/range.ts';
import type { RangeMap } from '../../addresses/range-map.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { isOfTypes, type RecordedEvent } from '../../kernel/event.ts';
import { epochMilliseconds } from '../instants.ts';
import { changedAddresses, pendingAddresses, regionAddresses, subnetRange } from './address-ledger.ts';
import { applyToHistory, type CustomerHistory, NO_HISTORY } from './customer-history.ts';
import type { SubnetOfCustomer } from './subnet-status.ts';

const SUBNET_CHANGES = [
  'SubnetAssigned',
  'AddressesDisabled',
  'DisabledTermChanged',
  'AddressesEnabled',
  'CommitRequested',
  'CommitCompleted',
  'CommitFailed',
] as const;
const isAboutSubnets = isOfTypes(SUBNET_CHANGES);

/** What happened to addresses of a subnet: the event, how many of them it was about, and by whom. */
export type SubnetChange = Readonly<{ type: (typeof SUBNET_CHANGES)[number]; addresses: bigint; actor: string }>;

/** An instant at which something happened to a subnet, and how the addresses of its customer and region were from then on. */
export type SubnetStep = Readonly<{
  at: string;
  changes: readonly SubnetChange[];
  /** What was enabled or disabled then. */
  changed: RangeSet;
  disabled: RangeSet;
  terms: RangeMap<string>;
  pending: RangeSet;
  /** What was on all routers. */
  deployed: RangeSet;
}>;

/** A subnet's steps, the oldest first, and what is folded on. */
export type SubnetHistory = Readonly<{ history: CustomerHistory; steps: readonly SubnetStep[] }>;

export const NO_SUBNET_HISTORY: SubnetHistory = { history: NO_HISTORY, steps: [] };

/** The newest steps are kept: each holds a state of its own, though their ranges are shared. */
export const STEPS_MAX = 1_000;

/** The history of a subnet after more events of its customer. */
export function applyToSubnetHistory(
  before: SubnetHistory,
  events: readonly RecordedEvent<CustomerEvent>[],
  subnet: Pick<SubnetOfCustomer, 'subnetId' | 'regionId' | 'cidr'>,
): SubnetHistory {
  const steps = [...before.steps];
  let { history } = before;
  for (const event of events) {
    const earlier = history;
    history = applyToHistory(history, event);
    const about = addressesOf(event, subnet, earlier, history);
    if (about === undefined) continue;
    const { at, actor } = event.metadata;
    const change = { type: about.type, addresses: about.addresses.countWithin(subnetRange(subnet.cidr)), actor };
    if (change.addresses === 0n) continue;
    const last = steps.at(-1);
    const changed = isCommit(about.type) ? RangeSet.empty : about.addresses;
    // What happens in one instant is one step: an address of the page names it by its instant.
    const isSame = last?.at === at;
    if (isSame) steps.pop();
    steps.push({
      at,
      changes: isSame ? [...last.changes, change] : [change],
      changed: isSame ? last.changed.union(changed) : changed,
      ...stateOf(history, subnet.regionId),
    });
  }
  return { history, steps: steps.slice(-STEPS_MAX) };
}

function stateOf(
  { ledger, deployed }: CustomerHistory,
  regionId: number,
): Pick<SubnetStep, 'disabled' | 'terms' | 'pending' | 'deployed'> {
  const region = regionAddresses(ledger, regionId);
  const { disabled, terms } = region;
  return {
    disabled,
    terms,
    pending: pendingAddresses(region),
    deployed: deployed.BLACKHOLE.get(regionId) ?? RangeSet.empty,
  };
}

function isCommit(type: SubnetChange['type']): boolean {
  return type === 'CommitRequested' || type === 'CommitCompleted' || type === 'CommitFailed';
}

type About = Readonly<{ type: SubnetChange['type']; addresses: RangeSet }>;

/** The addresses that an event is about; undefined where it is about none of this subnet's region. */
function addressesOf(
  event: CustomerEvent,
  { subnetId, regionId }: Pick<SubnetOfCustomer, 'subnetId' | 'regionId'>,
  before: CustomerHistory,
  after: CustomerHistory,
): About | undefined {
  if (!isAboutSubnets(event)) return undefined;
  const { type, data } = event;
  switch (type) {
    case 'SubnetAssigned':
      return data.subnetId === subnetId ? { type, addresses: RangeSet.of(subnetRange(data.cidr)) } : undefined;
    case 'AddressesDisabled':
    case 'DisabledTermChanged':
    case 'AddressesEnabled':
      return data.regionId === regionId ? { type, addresses: changedAddresses(data.ranges) } : undefined;
    case 'CommitRequested':
    case 'CommitCompleted':
    case 'CommitFailed': {
      if (data.regionId !== regionId || data.list !== 'BLACKHOLE') return undefined;
      const { ledger } = type === 'CommitRequested' ? after : before;
      const { inDeployment } = regionAddresses(ledger, regionId);
      return { type, addresses: inDeployment?.captured ?? RangeSet.empty };
    }
  }
}

/** The number of the step that shows how it was at an instant: the last one not after it; the first where all are. */
export function stepAt(steps: readonly SubnetStep[], instant: string): number {
  const asked = epochMilliseconds(instant);
  const later = steps.findIndex(({ at }) => epochMilliseconds(at) > asked);
  return later < 0 ? steps.length - 1 : Math.max(0, later - 1);
}

/** Since when all addresses of a range are as a step shows them; undefined where that was before the oldest step that is kept. */
export function unchangedSince(steps: readonly SubnetStep[], step: number, range: AddressRange): string | undefined {
  return steps.slice(0, step + 1).findLast(({ changed }) => changed.countWithin(range) > 0n)?.at;
}
