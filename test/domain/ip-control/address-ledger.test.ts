import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RangeSet } from '../../../src/addresses/range-set.ts';
import { RangeTextError, rangeTexts } from '../../../src/addresses/range-text.ts';
import type { AddressRange } from '../../../src/addresses/range.ts';
import {
  type AddressLedger,
  applyToLedger,
  changedAddresses,
  changedTexts,
  decodeLedger,
  EMPTY_LEDGER,
  encodeLedger,
  pendingAddresses,
  regionAddresses,
  subnetRange,
} from '../../../src/domain/ip-control/address-ledger.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
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
import { plain } from '../../specification.ts';

const ledgerOf = (...events: readonly CustomerEvent[]): AddressLedger => events.reduce(applyToLedger, EMPTY_LEDGER);
/** Without layers and terms where there are none. */
function regionOf(...events: readonly CustomerEvent[]) {
  const { layers, terms, ...region } = regionAddresses(ledgerOf(...events), 1);
  return plain({ ...region, ...(layers.length === 0 ? {} : { layers }), ...(terms.isEmpty ? {} : { terms }) });
}

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
    inDeployment: { captured: ['192.0.2.1'], content: ['192.0.2.1'], layers: [['192.0.2.1']] },
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
    layers: [[], ['192.0.2.1']],
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

/** What the commit under way carries, by age. */
function carried(...events: readonly CustomerEvent[]) {
  const { captured, layers } = regionAddresses(ledgerOf(assigned(1, '192.0.2.0/24'), ...events), 1).inDeployment ?? {};
  return { captured: captured?.toJSON(), layers: layers?.map((layer) => layer.toJSON()) };
}

test('what a commit carries is told apart by age: changed since the last capture, and before', () => {
  const first = [disabled(['192.0.2.0-192.0.2.99']), commitRequested()];
  const both = ['192.0.2.0-192.0.2.99', '192.0.2.200'];
  const newest = [['192.0.2.200'], ['192.0.2.0-192.0.2.99']];
  // A newer attempt while the first is under way, after it has failed, and once more without news.
  assert.equal(carried(...first, disabled(['192.0.2.200']), commitRequested({ attempt: 2 })), {
    captured: both,
    layers: newest,
  });
  const failed = [...first, commitFailed(), disabled(['192.0.2.200']), commitRequested({ attempt: 2 })];
  assert.equal(carried(...failed), { captured: both, layers: newest });
  const again = [...failed, commitFailed({ attempt: 2 }), commitRequested({ attempt: 3 })];
  assert.equal(carried(...again), { captured: both, layers: newest });
  // What is changed back is news, though it was under way before.
  assert.equal(carried(...first, commitFailed(), enabled(['192.0.2.7']), commitRequested({ attempt: 2 })).layers, [
    ['192.0.2.7'],
    ['192.0.2.0-192.0.2.99'],
  ]);
});

test('a ledger with parts of every age survives its JSON', () => {
  const events = [assigned(1, '192.0.2.0/24'), disabled(['192.0.2.1']), commitRequested(), commitFailed()];
  for (const more of [[], [disabled(['192.0.2.9']), commitRequested({ attempt: 2 })]]) {
    const ledger = ledgerOf(...events, ...more);
    const json: unknown = JSON.parse(JSON.stringify(encodeLedger(ledger)));
    const again = decodeLedger(json as ReturnType<typeof encodeLedger>, [{ cidr: '192.0.2.0/24', regionId: 1 }]);
    assert.equal(plain(regionAddresses(again, 1)), plain(regionAddresses(ledger, 1)));
  }
});

test('what is changed after much else is told apart from it, also where no commit came between', () => {
  const many = Array.from({ length: 100 }, (_, at) => `192.0.2.${at * 2}`);
  const after = [disabled(many), enabled(['192.0.2.0']), disabled(['192.0.2.255']), commitRequested()];
  assert.equal(carried(...after).layers, [['192.0.2.0', '192.0.2.255'], many]);
  const few = [disabled(many.slice(1)), disabled(['192.0.2.255']), commitRequested()];
  assert.equal(carried(...few).layers, [[...many.slice(1), '192.0.2.255']], 'of less all is one part');
});

test.run();
