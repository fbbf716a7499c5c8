import { counted } from '../../domain/counted.ts';
import { type AddressRange, overlaps } from '../../addresses/range.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { type Command, type Decider, type Decision, type Refusal, refuse } from '../../kernel/decider.ts';
import { PersistentMap } from '../../kernel/persistent-map.ts';
import { subnetRange } from '../../domain/ip-control/address-ledger.ts';
import { type DirectoryEvent, directoryEvents } from '../../events/ip-control/directory.ts';
import { type CustomerSettings, listNameOf } from '../../events/ip-control/vocabulary.ts';
import { decideRestore, evolveRestore, type RestoreCommand, type Restored } from './restore.ts';

/** The one stream that guards what is unique across customers: names, and who has which addresses. It knows of a restored log, and of operators' secrets, too. */
export const DIRECTORY_ID = 'main';

export type Reservation = Readonly<{
  subnetId: number;
  customerId: number;
  cidr: string;
  regionId: number;
  asn: number;
  metro: string;
}>;

type Reserved = Reservation & Readonly<{ range: AddressRange }>;

export type DirectoryState = Readonly<{
  customers: ReadonlyMap<number, Readonly<{ name: string; listName: string; settings: CustomerSettings }>>;
  regions: ReadonlyMap<number, string>;
  subnets: PersistentMap<Reserved>;
  /** All reserved addresses. */
  space: RangeSet;
  /** The highest region number ever given: numbers are not used twice. */
  lastRegionId: number;
  /** The highest subnet number ever given: numbers are not used twice. */
  lastSubnetId: number;
  /** Not undefined while the log is one that was put back from an older copy. */
  restored: Restored | undefined;
  /** Of each secret that operators have stored: its last storing, or null when it was removed since. */
  secrets: ReadonlyMap<string, string | null>;
}>;

export type DirectoryCommand =
  | RestoreCommand
  | Command<'ReserveCustomerName', { name: string; settings: CustomerSettings }>
  | Command<'ReserveRegionName', { name: string }>
  | Command<'ReleaseRegionName', { regionId: number }>
  | Command<'ReserveSubnet', Omit<Reservation, 'subnetId'>>
  | Command<'ReleaseSubnetReservation', { subnetId: number }>
  | Command<'RecordSecretStored', { secretId: string; changeId: string }>
  | Command<'RecordSecretRemoved', { secretId: string }>;

/** Of code points. Not among them: control characters, lone surrogates, line and paragraph separators. */
const NAME = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,64}$/u;
const NAME_RULE = '1 to 64 characters, no space at either end and no control characters';
/** Regions and customers are named by number, too. Older ones may have such names. */
const DIGITS = /^\d+$/;
const NO_NUMBER = 'has something else than digits, as it would look like a number';
const ASN_MAX = 4_294_967_295;

/** The rules of the directory. */
export const directoryDecider = {
  category: 'directory',
  handles: directoryEvents.map(({ type }) => type),
  initial: {
    customers: new Map(),
    regions: new Map(),
    subnets: new PersistentMap(),
    space: RangeSet.empty,
    lastRegionId: 0,
    lastSubnetId: 0,
    restored: undefined,
    secrets: new Map(),
  },
  evolve,
  decide,
} as const satisfies Decider<DirectoryCommand, DirectoryState, DirectoryEvent> &
  Readonly<{ handles: readonly DirectoryEvent['type'][] }>;

function evolve(state: DirectoryState, event: DirectoryEvent & Readonly<{ revision: bigint }>): DirectoryState {
  switch (event.type) {
    case 'CustomerNameReserved':
      return { ...state, customers: new Map(state.customers).set(event.data.customerId, event.data) };
    case 'RegionNameReserved': {
      const { regionId, name } = event.data;
      const lastRegionId = Math.max(state.lastRegionId, regionId);
      return { ...state, lastRegionId, regions: new Map(state.regions).set(regionId, name) };
    }
    case 'RegionNameReleased': {
      const regions = new Map(state.regions);
      regions.delete(event.data.regionId);
      return { ...state, regions };
    }
    case 'SubnetReserved': {
      const { subnetId, cidr } = event.data;
      const reserved = { ...event.data, range: subnetRange(cidr) };
      return {
        ...state,
        subnets: state.subnets.with(subnetId, reserved),
        space: state.space.union(RangeSet.of(reserved.range)),
        lastSubnetId: Math.max(state.lastSubnetId, subnetId),
      };
    }
    case 'SubnetReservationReleased': {
      const released = state.subnets.get(event.data.subnetId);
      if (released === undefined) return state;
      const space = state.space.difference(RangeSet.of(released.range));
      return { ...state, space, subnets: state.subnets.without(released.subnetId) };
    }
    case 'SecretStored':
      return { ...state, secrets: new Map(state.secrets).set(event.data.secretId, event.data.changeId) };
    case 'SecretRemoved':
      return { ...state, secrets: new Map(state.secrets).set(event.data.secretId, null) };
    case 'RestoreBegan':
    case 'RestoreAccepted':
      return { ...state, restored: evolveRestore(state, event) };
  }
}

function decide(command: DirectoryCommand, state: DirectoryState): Decision<DirectoryEvent> {
  switch (command.type) {
    case 'ReserveCustomerName':
      return reserveCustomerName(command.data, state);
    case 'ReserveRegionName': {
      const { name } = command.data;
      if (!isName(name)) return refuse('bad-region-name', `a region name has ${NAME_RULE}.`, 'name');
      if (DIGITS.test(name)) return refuse('bad-region-name', `a region name ${NO_NUMBER}.`, 'name');
      if ([...state.regions.values()].includes(name))
        return refuse('region-name-taken', `region ${name} exists already.`, 'name');
      return [{ type: 'RegionNameReserved', data: { regionId: state.lastRegionId + 1, name } }];
    }
    case 'ReleaseRegionName':
      return releaseRegionName(command.data.regionId, state);
    case 'ReserveSubnet':
      return reserveSubnet(command.data, state);
    case 'ReleaseSubnetReservation':
      if (!state.subnets.has(command.data.subnetId)) return [];
      return [{ type: 'SubnetReservationReleased', data: command.data }];
    case 'RecordSecretStored':
      if (state.secrets.get(command.data.secretId) === command.data.changeId) return [];
      return [{ type: 'SecretStored', data: command.data }];
    case 'RecordSecretRemoved':
      return state.secrets.get(command.data.secretId) === null ? [] : [{ type: 'SecretRemoved', data: command.data }];
    case 'BeginRestore':
    case 'AcceptRestore':
      return decideRestore(command, state);
  }
}

function reserveCustomerName(
  { name, settings }: Readonly<{ name: string; settings: CustomerSettings }>,
  state: DirectoryState,
): Decision<DirectoryEvent> {
  const listName = listNameOf(name);
  if (!isName(name)) return refuse('bad-customer-name', `a customer name has ${NAME_RULE}.`, 'name');
  if (DIGITS.test(name)) return refuse('bad-customer-name', `a customer name ${NO_NUMBER}.`, 'name');
  if (listName === '') return refuse('bad-customer-name', 'a customer name needs one of A–Z, 0–9 or _.', 'name');
  for (const known of state.customers.values()) {
    if (known.name === name) return refuse('customer-name-taken', `customer ${name} exists already.`, 'name');
    if (known.listName === listName) {
      return refuse(
        'list-name-taken',
        `the prefix-lists of ${name} would have the names of those of customer ${known.name} (Svc-${listName}-…).`,
        'name',
      );
    }
  }
  return [{ type: 'CustomerNameReserved', data: { customerId: state.customers.size + 1, name, listName, settings } }];
}

function releaseRegionName(regionId: number, state: DirectoryState): Decision<DirectoryEvent> {
  const name = state.regions.get(regionId);
  if (name === undefined) return [];
  return subnetsRefusal(regionId, state) ?? [{ type: 'RegionNameReleased', data: { regionId, name } }];
}

/** Why the name of a region can't be released, where it has subnets. */
export function subnetsRefusal(
  regionId: number,
  { regions, subnets }: Pick<DirectoryState, 'regions' | 'subnets'>,
): Refusal | undefined {
  const used = [...subnets.values()].filter((subnet) => subnet.regionId === regionId).length;
  if (used === 0) return undefined;
  const because = `region ${regions.get(regionId) ?? regionId} has ${counted(used, 'subnet')}: remove them first.`;
  return refuse('region-in-use', because, 'region');
}

function reserveSubnet(subnet: Omit<Reservation, 'subnetId'>, state: DirectoryState): Decision<DirectoryEvent> {
  const { customerId, regionId, asn, metro, cidr } = subnet;
  if (!state.customers.has(customerId)) return refuse('customer-not-found', 'customer not found.', 'customer');
  if (!state.regions.has(regionId)) return refuse('region-not-found', 'region not found.', 'region');
  if (!Number.isInteger(asn) || asn < 1 || asn > ASN_MAX) {
    return refuse('bad-asn', `an ASN is a whole number from 1 to ${ASN_MAX} (RFC 6793).`, 'asn');
  }
  if (!isName(metro)) return refuse('bad-metro', `a metro has ${NAME_RULE}.`, 'metro');
  const range = subnetRange(cidr);
  if (!state.space.intersection(RangeSet.of(range)).isEmpty) {
    const other = [...state.subnets.values()].find((reserved) => overlaps(reserved.range, range));
    return refuse(
      'subnet-overlaps',
      `${cidr} overlaps ${other?.cidr ?? 'a subnet'} (subnet ${other?.subnetId ?? 0}).`,
      'cidr',
    );
  }
  return [{ type: 'SubnetReserved', data: { subnetId: state.lastSubnetId + 1, ...subnet } }];
}

function isName(text: string): boolean {
  return NAME.test(text) && text.trim() === text;
}
