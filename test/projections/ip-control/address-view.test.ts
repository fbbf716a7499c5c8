import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { type AddressView, addressProjection } from '../../../src/projections/ip-control/address-view.ts';
import { subnetStatus } from '../../../src/domain/ip-control/subnet-status.ts';
import { foldViews, recordedInOrder } from '../../specification.ts';
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

const handles = new Set<string>(addressProjection.handles);
type Shown = Parameters<typeof addressProjection.keysOf>[0];

/** Customer 7's view after these events. */
function viewAfter(...events: readonly CustomerEvent[]): AddressView | undefined {
  const all: readonly RecordedEvent[] = recordedInOrder([registered(), ...events], '2026-11-27T12:00:00Z');
  return foldViews(
    addressProjection,
    all.filter((event): event is Shown => isHandled(handles, event)),
  ).get('7');
}

/** What is disabled and what is pending in the region of a subnet. */
function status(subnetId: number, ...events: readonly CustomerEvent[]) {
  const view = viewAfter(...events);
  const found = view && subnetStatus(view, subnetId);
  return found && { disabled: found.disabled.toJSON(), pending: found.pending.toJSON() };
}

const subnet = assigned(1, '192.0.2.0/24');

test('a new subnet is shown with nothing disabled and nothing pending', () => {
  assert.equal(viewAfter(subnet)?.subnets, [
    { subnetId: 1, cidr: '192.0.2.0/24', regionId: 1, asn: 64_500, metro: 'AMS' },
  ]);
  assert.equal(status(1, subnet), { disabled: [], pending: [] });
});

test('a subnet that is not there has no status', () => {
  assert.is(status(2, subnet), undefined);
  assert.is(viewAfter(), undefined);
});

test('what was changed is pending until its commit succeeds', () => {
  const changed = [subnet, disabled(['192.0.2.1-192.0.2.3']), enabled(['192.0.2.2'])];
  const expected = { disabled: ['192.0.2.1', '192.0.2.3'], pending: ['192.0.2.1-192.0.2.3'] };
  assert.equal(status(1, ...changed), expected);
  assert.equal(status(1, ...changed, commitRequested()), expected);
  assert.equal(status(1, ...changed, commitRequested(), commitFailed()), expected);
  assert.equal(status(1, ...changed, commitRequested(), commitCompleted()), { ...expected, pending: [] });
});

test('what changes during a deployment stays pending after it', () => {
  assert.equal(
    status(1, subnet, disabled(['192.0.2.1']), commitRequested(), disabled(['192.0.2.9']), commitCompleted()),
    { disabled: ['192.0.2.1', '192.0.2.9'], pending: ['192.0.2.9'] },
  );
});

test('subnets of one region share its sets, those of another have their own', () => {
  const events = [
    subnet,
    assigned(2, '198.51.100.0/24'),
    assigned(3, '203.0.113.0/24', 2),
    disabled(['192.0.2.1', '198.51.100.1']),
    disabled(['203.0.113.1'], 2),
  ];
  assert.equal(status(1, ...events), status(2, ...events));
  assert.equal(status(3, ...events), { disabled: ['203.0.113.1'], pending: ['203.0.113.1'] });
});

test('a released subnet is shown no more', () => {
  const view = viewAfter(subnet, disabled(['192.0.2.1']), released(1, '192.0.2.0/24', ['192.0.2.1']));
  assert.equal(view?.subnets, []);
  assert.is(view && subnetStatus(view, 1), undefined);
});

test('a commit of the other list changes nothing here', () => {
  const whitelist = { commitSetId: 'w1', regionId: 1, list: 'SRC_WHITELIST', attempt: 1 } as const;
  assert.equal(
    status(1, subnet, disabled(['192.0.2.1']), { type: 'CommitRequested', data: { ...whitelist, reason: 'quiet' } }),
    { disabled: ['192.0.2.1'], pending: ['192.0.2.1'] },
  );
});

test('events and views grow with ranges, not with addresses', () => {
  const view = viewAfter(assigned(1, '2001:db8::/32'), disabled(['2001:db8::-2001:db8:7fff:ffff:ffff:ffff:ffff:ffff']));
  const stored = JSON.stringify(view && addressProjection.stored?.encode(view));
  assert.ok(stored.length < 400, `${stored.length} characters`);
  const found = view && subnetStatus(view, 1);
  assert.is(found?.disabled.count(), 2n ** 95n);
});

test.run();
