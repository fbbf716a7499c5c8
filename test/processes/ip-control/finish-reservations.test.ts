import { test } from 'uvu';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { DirectoryEvent } from '../../../src/events/ip-control/directory.ts';
import type { RegionEvent } from '../../../src/events/ip-control/region.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { finishReservations } from '../../../src/processes/ip-control/finish-reservations.ts';
import { recordedInOrder, specifyProcess } from '../../specification.ts';
import { assigned, registered, released, SETTINGS } from '../../commands/ip-control/customer-examples.ts';

const NOW = '2026-11-27T12:00:00Z';
/** The one who began it has had time to finish it. */
const LATER = '2026-11-27T12:00:03Z';
const handles = new Set<string>(finishReservations.handles);
type Watched = Parameters<typeof finishReservations.keysOf>[0];

function given(...events: readonly (CustomerEvent | DirectoryEvent | RegionEvent)[]) {
  const all: readonly RecordedEvent[] = recordedInOrder(events, NOW);
  return specifyProcess(finishReservations).given(
    ...all.filter((event): event is Watched => isHandled(handles, event)),
  );
}

const customer = { customerId: 7, name: 'Acme Corp.', listName: 'ACME-CORP', settings: SETTINGS };
const region = { regionId: 1, name: 'ams' };
const subnet = { subnetId: 1, customerId: 7, cidr: '192.0.2.0/24', regionId: 1, asn: 64_500, metro: 'AMS' };
const nameReserved: DirectoryEvent = { type: 'CustomerNameReserved', data: customer };
const regionReserved: DirectoryEvent = { type: 'RegionNameReserved', data: region };
const subnetReserved: DirectoryEvent = { type: 'SubnetReserved', data: subnet };
const reservationReleased: DirectoryEvent = { type: 'SubnetReservationReleased', data: { subnetId: 1 } };
const regionCreated: RegionEvent = { type: 'RegionCreated', data: region };

test('a reserved customer name owes the customer', () => {
  given(nameReserved)
    .at(LATER)
    .owes({ type: 'FinishReservation', data: { kind: 'customer', ...customer } });
  given(nameReserved, registered()).isOver();
});

test('the one who began it is left to finish it, for a moment', () => {
  given(nameReserved).at('2026-11-27T12:00:02Z').owesNothing();
  given(nameReserved).wakesAt(LATER);
});

test('a reserved region name owes the region', () => {
  given(regionReserved)
    .at(LATER)
    .owes({ type: 'FinishReservation', data: { kind: 'region', ...region } });
  given(regionReserved, regionCreated).isOver();
});

test('a reserved subnet owes its assignment', () => {
  given(subnetReserved)
    .at(LATER)
    .owes({ type: 'FinishReservation', data: { kind: 'subnet', ...subnet } });
  given(subnetReserved, assigned(1, '192.0.2.0/24')).isOver();
});

test('a released subnet owes the release of its addresses', () => {
  given(subnetReserved, assigned(1, '192.0.2.0/24'), released(1, '192.0.2.0/24'))
    .at(LATER)
    .owes({ type: 'FinishReservation', data: { kind: 'release', subnetId: 1 } });
  given(subnetReserved, assigned(1, '192.0.2.0/24'), released(1, '192.0.2.0/24'), reservationReleased).isOver();
});

test('a reservation that was released before it came to anything owes nothing', () => {
  given(subnetReserved, reservationReleased).isOver();
});

test('a removal of a region that has begun owes its end', () => {
  const begun: RegionEvent = { type: 'RegionRemovalBegan', data: region };
  given(regionReserved, regionCreated, begun)
    .at(LATER)
    .owes({ type: 'FinishReservation', data: { kind: 'region-removal', ...region } });
  given(regionReserved, regionCreated, begun, { type: 'RegionNameReleased', data: region }).isOver();
  given(regionReserved, regionCreated, begun, { type: 'RegionRemovalCalledOff', data: region }).isOver();
});

test.run();
