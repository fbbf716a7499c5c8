import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  directoryDecider,
  type DirectoryCommand,
  type DirectoryState,
} from '../../../src/commands/ip-control/directory.ts';
import type { DirectoryEvent } from '../../../src/events/ip-control/directory.ts';
import { listNameOf, prefixListName } from '../../../src/events/ip-control/vocabulary.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { plain, specify, stateAfter } from '../../specification.ts';
import { SETTINGS } from './customer-examples.ts';

const { given } = specify(directoryDecider);

const reserveName = (name: string): DirectoryCommand => ({
  type: 'ReserveCustomerName',
  data: { name, settings: SETTINGS },
});
const nameReserved = (customerId: number, name: string, listName: string): DirectoryEvent => ({
  type: 'CustomerNameReserved',
  data: { customerId, name, listName, settings: SETTINGS },
});
const regionReserved = (regionId: number, name: string): DirectoryEvent => ({
  type: 'RegionNameReserved',
  data: { regionId, name },
});
const subnet = (cidr: string, changes: object = {}) => ({
  customerId: 1,
  cidr,
  regionId: 1,
  asn: 64_500,
  metro: 'AMS',
  ...changes,
});
const reserveSubnet = (cidr: string, changes: object = {}): DirectoryCommand => ({
  type: 'ReserveSubnet',
  data: subnet(cidr, changes),
});
const subnetReserved = (subnetId: number, cidr: string, changes: object = {}): DirectoryEvent => ({
  type: 'SubnetReserved',
  data: { subnetId, ...subnet(cidr, changes) },
});
const reservationReleased = (subnetId: number): DirectoryEvent => ({
  type: 'SubnetReservationReleased',
  data: { subnetId },
});

const acme = nameReserved(1, 'Acme Corp.', 'ACME-CORP');
const ams = regionReserved(1, 'ams');
const application = [acme, nameReserved(2, 'Globex', 'GLOBEX'), ams] as const;

// Regions that are no more

test('a region that no subnet uses can go: its name is free again, its number is not', () => {
  const released: DirectoryEvent = { type: 'RegionNameReleased', data: { regionId: 1, name: 'ams' } };
  const release: DirectoryCommand = { type: 'ReleaseRegionName', data: { regionId: 1 } };
  given(...application)
    .when(release)
    .yields(released);
  given(...application, subnetReserved(1, '192.0.2.0/24'))
    .when(release)
    .isRefused('region-in-use');
  given(...application, subnetReserved(1, '192.0.2.0/24'), reservationReleased(1))
    .when(release)
    .yields(released);
  given(...application, released)
    .when(release)
    .yieldsNothing();
  given(...application, released)
    .when({ type: 'ReserveRegionName', data: { name: 'ams' } })
    .yields(regionReserved(2, 'ams'));
  given(...application, released)
    .when(reserveSubnet('192.0.2.0/24'))
    .isRefused('region-not-found');
});

// Customer names

test('a customer gets the next number and the list name that its name makes', () => {
  given().when(reserveName('Acme Corp.')).yields(acme);
  given(acme)
    .when(reserveName('Globex'))
    .yields(nameReserved(2, 'Globex', 'GLOBEX'));
});

test('a list name is the name in upper case, every run of other characters one dash, none at either end', () => {
  const examples = {
    'Acme Corp.': 'ACME-CORP',
    acme_corp: 'ACME_CORP',
    '  --Édge & Söhne (2)!': 'DGE-S-HNE-2',
    'a/../b': 'A-B',
    'x\u0000y': 'X-Y',
    ß: 'SS',
    '…': '',
  };
  for (const [name, listName] of Object.entries(examples)) assert.is(listNameOf(name), listName);
  assert.is(prefixListName('ACME-CORP', 'BLACKHOLE'), 'Svc-ACME-CORP-BLACKHOLE');
  assert.is(prefixListName('ACME-CORP', 'SRC_WHITELIST'), 'Svc-ACME-CORP-SRC_WHITELIST');
});

test('every list name is made of the permitted characters only, and making it again changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 64 }), (name) => {
      const listName = listNameOf(name);
      assert.match(listName, /^([A-Z0-9_]+(-[A-Z0-9_]+)*)?$/);
      assert.is(listNameOf(listName), listName);
    }),
  );
});

test('a name is taken once', () => {
  given(acme).when(reserveName('Acme Corp.')).isRefused('customer-name-taken', 'customer Acme Corp. exists already.');
});

test('two names whose lists would collide are refused, and the message says which', () => {
  given(acme)
    .when(reserveName('ACME/corp'))
    .isRefused(
      'list-name-taken',
      'the prefix-lists of ACME/corp would have the names of those of customer Acme Corp. (Svc-ACME-CORP-…).',
    );
  given(acme).when(reserveName('acme corp')).isRefused('list-name-taken');
  given(acme)
    .when(reserveName('acme_corp'))
    .yields(nameReserved(2, 'acme_corp', 'ACME_CORP'));
});

test('a name has 1 to 64 characters', () => {
  given()
    .when(reserveName('a'.repeat(64)))
    .yields(nameReserved(1, 'a'.repeat(64), 'A'.repeat(64)));
  given()
    .when(reserveName('a'.repeat(65)))
    .isRefused('bad-customer-name');
  given().when(reserveName('')).isRefused('bad-customer-name');
});

test('characters are counted as people count them, not as UTF-16 does', () => {
  const name = `a${'🦊'.repeat(63)}`;
  given()
    .when(reserveName(name))
    .yields(nameReserved(1, name, 'A'));
  given()
    .when(reserveName(`${name}🦊`))
    .isRefused('bad-customer-name');
});

test('a name has no space at either end, no control characters, and something that a list name can be made of', () => {
  for (const name of [
    ' Acme',
    'Acme ',
    'Ac\nme',
    'Ac\u001b[31mme',
    'Ac\u2028me',
    'Ac\u007fme',
    'Ac\ud800me',
    '…',
    '日本',
    '7',
    '007',
  ]) {
    given().when(reserveName(name)).isRefused('bad-customer-name');
  }
  given()
    .when(reserveName('7'))
    .isRefused('bad-customer-name', 'a customer name has something else than digits, as it would look like a number.');
  given()
    .when(reserveName('_'))
    .yields(nameReserved(1, '_', '_'));
});

// Regions

test('a region gets the next number', () => {
  given()
    .when({ type: 'ReserveRegionName', data: { name: 'ams' } })
    .yields(ams);
  given(ams)
    .when({ type: 'ReserveRegionName', data: { name: 'fra' } })
    .yields(regionReserved(2, 'fra'));
});

test('a region name is taken once, and follows the rules for names', () => {
  given(ams)
    .when({ type: 'ReserveRegionName', data: { name: 'ams' } })
    .isRefused('region-name-taken', 'region ams exists already.');
  for (const name of ['', ' ams', 'ams ', 'a\nms', 'a'.repeat(65), '7']) {
    given().when({ type: 'ReserveRegionName', data: { name } }).isRefused('bad-region-name');
  }
});

// Subnets

test('a subnet is reserved under the next number', () => {
  given(...application)
    .when(reserveSubnet('192.0.2.0/24'))
    .yields(subnetReserved(1, '192.0.2.0/24'));
  given(...application, subnetReserved(1, '192.0.2.0/24'))
    .when(reserveSubnet('2001:db8::/48', { customerId: 2 }))
    .yields(subnetReserved(2, '2001:db8::/48', { customerId: 2 }));
});

test('customer and region must be there', () => {
  given(...application)
    .when(reserveSubnet('192.0.2.0/24', { customerId: 3 }))
    .isRefused('customer-not-found', 'customer not found.');
  given(...application)
    .when(reserveSubnet('192.0.2.0/24', { regionId: 2 }))
    .isRefused('region-not-found', 'region not found.');
});

test('an autonomous system number has 32 bits and is not 0', () => {
  for (const asn of [0, -1, 1.5, Number.NaN, 4_294_967_296]) {
    given(...application)
      .when(reserveSubnet('192.0.2.0/24', { asn }))
      .isRefused('bad-asn');
  }
  given(...application)
    .when(reserveSubnet('192.0.2.0/24', { asn: 4_294_967_295 }))
    .yields(subnetReserved(1, '192.0.2.0/24', { asn: 4_294_967_295 }));
});

test('a metro is named', () => {
  given(...application)
    .when(reserveSubnet('192.0.2.0/24', { metro: '' }))
    .isRefused('bad-metro');
  given(...application)
    .when(reserveSubnet('192.0.2.0/24', { metro: 'x'.repeat(65) }))
    .isRefused('bad-metro');
});

test('no two subnets overlap, whoever owns them and wherever they are', () => {
  const taken = [
    ...application,
    regionReserved(2, 'fra'),
    subnetReserved(1, '192.0.2.0/24'),
    subnetReserved(2, '2001:db8::/48'),
  ];
  for (const cidr of [
    '192.0.2.0/24',
    '192.0.2.64/26',
    '192.0.2.255/32',
    '192.0.0.0/16',
    '0.0.0.0/0',
    '2001:db8::1/128',
    '::/0',
  ]) {
    given(...taken)
      .when(reserveSubnet(cidr, { customerId: 2, regionId: 2 }))
      .isRefused('subnet-overlaps');
  }
  given(...taken)
    .when(reserveSubnet('192.0.2.64/26'))
    .isRefused('subnet-overlaps', '192.0.2.64/26 overlaps 192.0.2.0/24 (subnet 1).');
});

test('neighbours do not overlap, and IPv4 and IPv6 never do', () => {
  const taken = [...application, subnetReserved(1, '192.0.2.0/24')];
  given(...taken)
    .when(reserveSubnet('192.0.3.0/24'))
    .yields(subnetReserved(2, '192.0.3.0/24'));
  given(...taken)
    .when(reserveSubnet('192.0.1.0/24'))
    .yields(subnetReserved(2, '192.0.1.0/24'));
  given(...taken)
    .when(reserveSubnet('::ffff:0:0/96'))
    .yields(subnetReserved(2, '::ffff:0:0/96'));
});

test('a released block can be reserved again, under another number', () => {
  const released = [...application, subnetReserved(1, '192.0.2.0/24'), reservationReleased(1)];
  given(...released)
    .when(reserveSubnet('192.0.2.0/25'))
    .yields(subnetReserved(2, '192.0.2.0/25'));
});

test('a reservation is released once', () => {
  given(...application, subnetReserved(1, '192.0.2.0/24'))
    .when({ type: 'ReleaseSubnetReservation', data: { subnetId: 1 } })
    .yields(reservationReleased(1));
  given(...application, subnetReserved(1, '192.0.2.0/24'), reservationReleased(1))
    .when({ type: 'ReleaseSubnetReservation', data: { subnetId: 1 } })
    .yieldsNothing();
  given(...application)
    .when({ type: 'ReleaseSubnetReservation', data: { subnetId: 1 } })
    .yieldsNothing();
});

test('a block is granted exactly when it has no address in common with any that is reserved', () => {
  const length = fc.integer({ min: 24, max: 32 });
  const cidr = fc.tuple(fc.nat(255), length).map(([host, bits]) => ({ first: host & -(1 << (32 - bits)), bits }));
  const wish = fc.oneof(
    fc.record({ cidr, release: fc.constant(false) }),
    fc.record({ cidr, release: fc.constant(true) }),
  );
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 40, size: 'max' }), (wishes) => {
      const taken = new Map<number, Readonly<{ first: number; last: number }>>();
      let state: DirectoryState = stateAfter(directoryDecider, ...application);
      for (const {
        cidr: { first, bits },
        release,
      } of wishes) {
        const last = first + (1 << (32 - bits)) - 1;
        const overlapping = [...taken].find(([, other]) => other.first <= last && first <= other.last);
        const command: DirectoryCommand =
          release && overlapping !== undefined
            ? { type: 'ReleaseSubnetReservation', data: { subnetId: overlapping[0] } }
            : reserveSubnet(`192.0.2.${first}/${bits}`);
        const answer = directoryDecider.decide(command, state);
        if (command.type === 'ReserveSubnet') assert.is(isRefusal(answer), overlapping !== undefined);
        if (isRefusal(answer)) continue;
        for (const event of answer) {
          state = directoryDecider.evolve(state, { ...event, revision: 0n });
          if (event.type === 'SubnetReserved') taken.set(event.data.subnetId, { first, last });
          if (event.type === 'SubnetReservationReleased') taken.delete(event.data.subnetId);
        }
      }
      const addresses = [...taken.values()].reduce((sum, range) => sum + range.last - range.first + 1, 0);
      assert.is(state.space.count(), BigInt(addresses));
      assert.is(state.subnets.size, taken.size);
      assert.equal(plain([...state.subnets.values()].map(({ subnetId }) => subnetId).sort((a, b) => a - b)), [
        ...taken.keys(),
      ]);
    }),
  );
});

// Secrets of operators

const stored = (changeId: string, secretId = 'core1-key'): DirectoryEvent => ({
  type: 'SecretStored',
  data: { secretId, changeId },
});
const removed: DirectoryEvent = { type: 'SecretRemoved', data: { secretId: 'core1-key' } };
const recordStored = (changeId: string): DirectoryCommand => ({
  type: 'RecordSecretStored',
  data: { secretId: 'core1-key', changeId },
});
const recordRemoved: DirectoryCommand = { type: 'RecordSecretRemoved', data: { secretId: 'core1-key' } };

test('each storing of a secret is told once', () => {
  given().when(recordStored('k1')).yields(stored('k1'));
  given(stored('k1')).when(recordStored('k1')).yieldsNothing();
  given(stored('k1')).when(recordStored('k2')).yields(stored('k2'));
  given(stored('k1'), removed).when(recordStored('k1')).yields(stored('k1'));
});

test('so is its removal, also of one that was stored before such things were told', () => {
  given(stored('k1')).when(recordRemoved).yields(removed);
  given(stored('k1'), removed).when(recordRemoved).yieldsNothing();
  given(stored('k1', 'another')).when(recordRemoved).yields(removed);
  given(stored('k1'), removed, stored('k2')).when(recordRemoved).yields(removed);
});

test.run();
