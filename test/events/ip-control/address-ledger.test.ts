import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type AddressLedger,
  applyToLedger,
  changedAddresses,
  changedTexts,
  EMPTY_LEDGER,
  pendingAddresses,
  regionAddresses,
  subnetRange,
} from '../../../src/events/ip-control/address-ledger.ts';
import { decodeLedger, encodeLedger } from '../../../src/events/ip-control/address-ledger-json.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { AddressRange } from '../../../src/kernel/addresses/address-range.ts';
import { RangeSet } from '../../../src/kernel/addresses/range-set.ts';
import { RangeTextError, rangeTexts } from '../../../src/kernel/addresses/range-text.ts';
import { plain } from '../../specification.ts';
import {
  assigned,
  commitCompleted,
  commitFailed,
  commitRequested,
  disabled,
  enabled,
  registered,
  released,
} from '../../commands/ip-control/customer-examples.ts';

const ledgerOf = (...events: readonly CustomerEvent[]): AddressLedger => events.reduce(applyToLedger, EMPTY_LEDGER);
const regionOf = (...events: readonly CustomerEvent[]) => plain(regionAddresses(ledgerOf(...events), 1));

test('a region of which nothing is known is empty', () => {
  assert.equal(regionOf(), { owned: [], disabled: [], touched: [] });
});

test('each address event means one thing', () => {
  const subnet = assigned(1, '192.0.2.0/30');
  const owned = ['192.0.2.0-192.0.2.3'];
  assert.equal(regionOf(subnet), { owned, disabled: [], touched: [] });
  assert.equal(regionOf(subnet, disabled(['192.0.2.1'])), { owned, disabled: ['192.0.2.1'], touched: ['192.0.2.1'] });
  assert.equal(regionOf(subnet, disabled(['192.0.2.1']), enabled(['192.0.2.1'])), {
    owned,
    disabled: [],
    touched: ['192.0.2.1'],
  });
  assert.equal(regionOf(subnet, disabled(['192.0.2.1']), commitRequested()), {
    owned,
    disabled: ['192.0.2.1'],
    touched: [],
    inDeployment: { captured: ['192.0.2.1'], content: ['192.0.2.1'] },
  });
  assert.equal(regionOf(subnet, disabled(['192.0.2.1']), commitRequested(), commitCompleted()), {
    owned,
    disabled: ['192.0.2.1'],
    touched: [],
  });
  assert.equal(regionOf(subnet, disabled(['192.0.2.1']), commitRequested(), commitFailed()), {
    owned,
    disabled: ['192.0.2.1'],
    touched: ['192.0.2.1'],
  });
  assert.equal(regionOf(subnet, disabled(['192.0.2.1']), released(1, '192.0.2.0/30', ['192.0.2.1'])), {
    owned: [],
    disabled: [],
    touched: ['192.0.2.1'],
  });
});

test('pending is what was touched and what is being deployed', () => {
  const ledger = ledgerOf(
    assigned(1, '192.0.2.0/24'),
    disabled(['192.0.2.1']),
    commitRequested(),
    disabled(['192.0.2.2']),
  );
  assert.equal(pendingAddresses(regionAddresses(ledger, 1)).toJSON(), ['192.0.2.1-192.0.2.2']);
});

test('events that are not about addresses give the same ledger', () => {
  const ledger = ledgerOf(assigned(1, '192.0.2.0/24'));
  const others: readonly CustomerEvent[] = [
    registered(),
    { type: 'CustomerSettingsChanged', data: { changes: {} } },
    { type: 'WebhookSecretRotated', data: { secretId: 's' } },
    { type: 'ApiTokenIssued', data: { tokenId: 't', label: '', sha256: '' } },
    { type: 'ApiTokenRevoked', data: { tokenId: 't', sha256: '' } },
  ];
  for (const event of others) assert.is(applyToLedger(ledger, event), ledger, event.type);
});

test('a ledger survives JSON, given the subnets', () => {
  const events = [
    assigned(1, '192.0.2.0/24'),
    assigned(2, '2001:db8::/48', 2),
    disabled(['192.0.2.1-192.0.2.9']),
    commitRequested(),
    disabled(['192.0.2.20']),
    disabled(['2001:db8::7'], 2),
  ];
  const ledger = ledgerOf(...events);
  const subnets = [
    { cidr: '192.0.2.0/24', regionId: 1 },
    { cidr: '2001:db8::/48', regionId: 2 },
  ];
  const back = decodeLedger(JSON.parse(JSON.stringify(encodeLedger(ledger))), subnets);
  assert.equal(plain(back), plain(ledger));
});

test('range texts of events are read as what they spell, however often', () => {
  const many = Array.from({ length: 40 }, (_, at) => `10.0.0.${at * 2}`);
  for (const texts of [['192.0.2.1', '192.0.2.4-192.0.2.9'], many]) {
    assert.equal(changedAddresses(texts).toJSON(), texts);
    assert.equal(changedAddresses(texts).toJSON(), texts);
  }
});

test('the texts of a set spell it, and many of them need not be read again', () => {
  for (const count of [1, 40]) {
    const set = RangeSet.of(
      ...Array.from({ length: count }, (_, at): AddressRange => ({ version: 4, first: at * 2, last: at * 2 })),
    );
    const texts = changedTexts(set);
    assert.equal(texts, rangeTexts(set));
    assert.ok(changedAddresses(texts).equals(set));
    if (count > 1) assert.is(changedAddresses(texts), set);
  }
});

test('damaged texts are not read as something else', () => {
  assert.throws(
    () => changedAddresses(['192.0.2.1-']),
    (error: unknown) => error instanceof RangeTextError,
  );
  assert.throws(() => subnetRange('192.0.2.0'), 'broken invariant');
});

test.run();
