import type { Aggregate } from '../../commands/aggregate.ts';
import type { CustomerState } from '../../commands/ip-control/customer-state.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import { endRegionRemoval } from '../../commands/ip-control/end-region-removal.ts';
import { DIRECTORY_ID, type DirectoryCommand, type DirectoryState } from '../../commands/ip-control/directory.ts';
import type { RegionState } from '../../commands/ip-control/region-state.ts';
import type { RegionCommand } from '../../commands/ip-control/region.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { DirectoryEvent } from '../../events/ip-control/directory.ts';
import type { OperatorSecretEvent } from '../../events/ip-control/operator-secrets.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';
import type { RestoreEvent } from '../../events/ip-control/restore.ts';
import type { CustomerSettings } from '../../events/ip-control/vocabulary.ts';
import type { Refusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type Duty, type Mark, markOf, type Perform, type Process, type Since } from '../../kernel/process.ts';

type Watched =
  | Exclude<DirectoryEvent, RestoreEvent | OperatorSecretEvent>
  | Extract<CustomerEvent, { type: 'CustomerRegistered' | 'SubnetAssigned' | 'SubnetReleased' }>
  | Extract<RegionEvent, { type: 'RegionCreated' | 'RegionRemovalBegan' | 'RegionRemovalCalledOff' }>;

/** A step in the directory whose counterpart in another stream is still missing. */
export type UnfinishedReservation =
  | Readonly<{ kind: 'customer'; customerId: number; name: string; listName: string; settings: CustomerSettings }>
  | Readonly<{ kind: 'region' | 'region-removal'; regionId: number; name: string }>
  | Readonly<{
      kind: 'subnet';
      subnetId: number;
      customerId: number;
      cidr: string;
      regionId: number;
      asn: number;
      metro: string;
    }>
  | Readonly<{ kind: 'release'; subnetId: number }>;

export type FinishReservationDuty = Duty<'FinishReservation', UnfinishedReservation>;

/** `begun`: when its first step was taken; absent in states of old. */
export type FinishReservationState = UnfinishedReservation & Readonly<{ begun?: Mark }>;

/** The one who began it is left to finish it, under the own name. */
const GRACE_MILLISECONDS = 3_000;

/** Completes what a command began in the directory and did not finish in the customer's or region's stream, or the other way round. */
export const finishReservations: Process<Watched, FinishReservationState, FinishReservationDuty> = {
  name: 'finish-reservations',
  version: 1,
  handles: [
    'CustomerNameReserved',
    'RegionNameReserved',
    'RegionNameReleased',
    'SubnetReserved',
    'SubnetReservationReleased',
    'CustomerRegistered',
    'SubnetAssigned',
    'SubnetReleased',
    'RegionCreated',
    'RegionRemovalBegan',
    'RegionRemovalCalledOff',
  ],
  keysOf: (event) => [keyOf(event)],
  evolve: (_state, event) => {
    const unfinished = evolve(event);
    return unfinished && { ...unfinished, begun: markOf(event) };
  },
  owed: ({ begun, ...data }, since) =>
    dueIn(begun, since) > 0 ? [] : [{ type: 'FinishReservation', id: dutyId(data), data }],
  wakesIn: ({ begun }, since) => dueIn(begun, since),
};

function dueIn(begun: Mark | undefined, since: Since): number {
  return begun === undefined ? 0 : GRACE_MILLISECONDS - since(begun);
}

function keyOf(event: RecordedEvent<Watched>): string {
  switch (event.type) {
    case 'CustomerNameReserved':
    case 'CustomerRegistered':
      return `customer/${event.data.customerId}`;
    case 'RegionNameReserved':
    case 'RegionNameReleased':
    case 'RegionCreated':
    case 'RegionRemovalBegan':
    case 'RegionRemovalCalledOff':
      return `region/${event.data.regionId}`;
    case 'SubnetReserved':
    case 'SubnetReservationReleased':
    case 'SubnetAssigned':
    case 'SubnetReleased':
      return `subnet/${event.data.subnetId}`;
  }
}

function evolve(event: RecordedEvent<Watched>): UnfinishedReservation | undefined {
  switch (event.type) {
    case 'CustomerNameReserved':
      return { kind: 'customer', ...event.data };
    case 'RegionNameReserved':
      return { kind: 'region', ...event.data };
    case 'RegionRemovalBegan':
      return { kind: 'region-removal', ...event.data };
    case 'SubnetReserved':
      return { kind: 'subnet', ...event.data };
    case 'SubnetReleased':
      return { kind: 'release', subnetId: event.data.subnetId };
    case 'CustomerRegistered':
    case 'RegionCreated':
    case 'RegionRemovalCalledOff':
    case 'RegionNameReleased':
    case 'SubnetAssigned':
    case 'SubnetReservationReleased':
      return undefined;
  }
}

function dutyId(state: UnfinishedReservation): string {
  switch (state.kind) {
    case 'customer':
      return `customer/${state.customerId}`;
    case 'region':
    case 'region-removal':
      return `${state.kind}/${state.regionId}`;
    case 'subnet':
    case 'release':
      return `${state.kind}/${state.subnetId}`;
  }
}

export type FinishReservationDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  regions: Aggregate<RegionCommand, RegionState, RegionEvent>;
  directory: Aggregate<DirectoryCommand, DirectoryState, DirectoryEvent>;
}>;

/** Takes the step that is missing; every one of them may be taken twice. */
export function performFinishReservation(dependencies: FinishReservationDependencies): Perform<FinishReservationDuty> {
  return async (duty) => {
    const answer = await finish(duty, dependencies);
    if ('refused' in answer) throw new Error(`reservation ${duty.id} could not be finished: ${answer.because}`);
  };
}

async function finish(
  { id, data }: FinishReservationDuty,
  { customers, regions, directory }: FinishReservationDependencies,
): Promise<Refusal | object> {
  const context = { actor: 'system:finish-reservations', requestId: id };
  switch (data.kind) {
    case 'customer': {
      const { customerId, name, listName, settings } = data;
      return customers.handle(
        customerId,
        { type: 'RegisterCustomer', data: { customerId, name, listName, settings } },
        context,
      );
    }
    case 'region': {
      const { regionId, name } = data;
      return regions.handle(regionId, { type: 'CreateRegion', data: { regionId, name } }, context);
    }
    case 'region-removal': {
      const kept = await endRegionRemoval(data.regionId, context, { directory, regions });
      // That it stays ends the removal as well.
      return kept === undefined || kept.refused === 'region-in-use' ? {} : kept;
    }
    case 'subnet': {
      const { customerId, subnetId, cidr, regionId, asn, metro } = data;
      // The reservation may have been released since the duty arose.
      if (!(await directory.state(DIRECTORY_ID)).state.subnets.has(subnetId)) return {};
      const { state } = await customers.state(customerId);
      if (state.phase === 'registered' && state.standing === 'removed') return releaseReservation(subnetId);
      return customers.handle(
        customerId,
        { type: 'AssignSubnet', data: { subnetId, cidr, regionId, asn, metro } },
        context,
      );
    }
    case 'release':
      return releaseReservation(data.subnetId);
  }

  function releaseReservation(subnetId: number): Promise<Refusal | object> {
    return directory.handle(DIRECTORY_ID, { type: 'ReleaseSubnetReservation', data: { subnetId } }, context);
  }
}
