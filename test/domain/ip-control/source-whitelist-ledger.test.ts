import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  applyToWhitelist,
  decodeWhitelist,
  EMPTY_WHITELIST,
  encodeWhitelist,
  pendingWhitelist,
  rangeOfPrefixes,
  regionWhitelist,
  type SourceWhitelist,
  whitelistStatus,
} from '../../../src/domain/ip-control/source-whitelist-ledger.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { commitCompleted, commitRequested, disabled } from '../../commands/ip-control/customer-examples.ts';
import {
  approved,
  rangeOf,
  rejected,
  removed,
  submitted,
  whitelistCompleted,
  whitelistFailed,
  whitelistRequested,
} from '../../commands/ip-control/source-whitelist-examples.ts';
import { plain } from '../../specification.ts';

function after(...events: readonly CustomerEvent[]): SourceWhitelist {
  let whitelist = EMPTY_WHITELIST;
  for (const event of events) {
    whitelist = applyToWhitelist(whitelist, event);
    assert.equal(plain(decodeWhitelist(JSON.parse(JSON.stringify(encodeWhitelist(whitelist))))), plain(whitelist));
  }
  return whitelist;
}

function statuses(...events: readonly CustomerEvent[]): Readonly<Record<string, string>> {
  return Object.fromEntries([...after(...events).requests].map(([id, request]) => [id, whitelistStatus(request)]));
}

/** What one region's list is: the addresses that are to be on it, those that wait for a commit, those that a commit under way puts there. */
function region(regionId: number, ...events: readonly CustomerEvent[]) {
  const own = regionWhitelist(after(...events), regionId);
  return {
    live: own.live.toJSON(),
    pending: pendingWhitelist(own).toJSON(),
    content: own.inDeployment?.content.toJSON(),
  };
}

const inOne = submitted('8.8.8.1', {});
const inTwo = submitted('8.8.8.0/30', { regionIds: [1, 2] });
const live = [inTwo, approved('r1', [1, 2])] as const;
const both = (step: (commit: { regionId: number }) => CustomerEvent) => [step({ regionId: 1 }), step({ regionId: 2 })];

// Statuses

test('a request waits for its review, then for its deployment, or is rejected', () => {
  assert.equal(statuses(inOne), { r1: 'pending_review' });
  assert.equal(statuses(inOne, approved()), { r1: 'pending_deploy' });
  assert.equal(statuses(inOne, rejected()), { r1: 'rejected' });
  assert.equal(statuses(submitted('8.8.8.1', {}, true)), { r1: 'pending_deploy' });
});

test('a removed request is gone, whatever it was', () => {
  assert.equal(statuses(inOne, removed('r1', [])), {});
  assert.equal(statuses(inOne, rejected(), removed('r1', [])), {});
  assert.equal(statuses(...live, ...both(whitelistRequested), ...both(whitelistCompleted), removed('r1', [1, 2])), {});
});

test('a request is active when all of its regions have it', () => {
  const first = [...live, whitelistRequested()];
  assert.equal(statuses(...first), { r1: 'pending_deploy' });
  assert.equal(statuses(...first, whitelistCompleted()), { r1: 'pending_deploy' });
  const second = [...first, whitelistCompleted(), whitelistRequested({ regionId: 2 })];
  assert.equal(statuses(...second), { r1: 'pending_deploy' });
  assert.equal(statuses(...second, whitelistCompleted({ regionId: 2 })), { r1: 'active' });
});

test('one region that fails makes it failed, until the retry gets through', () => {
  const failed = [...live, ...both(whitelistRequested), whitelistCompleted(), whitelistFailed({ regionId: 2 })];
  assert.equal(statuses(...failed), { r1: 'failed' });
  const retried = [...failed, whitelistRequested({ regionId: 2, attempt: 2 })];
  assert.equal(statuses(...retried), { r1: 'failed' });
  assert.equal(statuses(...retried, whitelistFailed({ regionId: 2, attempt: 2 })), { r1: 'failed' });
  assert.equal(statuses(...retried, whitelistCompleted({ regionId: 2, attempt: 2 })), { r1: 'active' });
});

test('what was active stays active when a later commit fails', () => {
  const active = [inOne, approved(), whitelistRequested(), whitelistCompleted()];
  const later = [submitted('8.8.8.9', { requestId: 'r2' }, true), whitelistRequested({ commitSetId: 'w2' })];
  assert.equal(statuses(...active, ...later, whitelistFailed({ commitSetId: 'w2' })), { r1: 'active', r2: 'failed' });
});

test('what is approved while a deployment runs is not part of it', () => {
  const running = [
    submitted('8.8.8.1', {}, true),
    whitelistRequested(),
    submitted('8.8.8.9', { requestId: 'r2' }, true),
  ];
  assert.equal(statuses(...running), { r1: 'pending_deploy', r2: 'pending_deploy' });
  assert.equal(statuses(...running, whitelistCompleted()), { r1: 'active', r2: 'pending_deploy' });
  assert.equal(statuses(...running, whitelistFailed()), { r1: 'failed', r2: 'pending_deploy' });
});

test('the same again, removed and submitted anew while a deployment runs, waits for the next one', () => {
  const again = [
    submitted('8.8.8.1', {}, true),
    whitelistRequested(),
    removed(),
    submitted('8.8.8.1', { requestId: 'r2' }, true),
    whitelistCompleted(),
  ];
  assert.equal(statuses(...again), { r2: 'pending_deploy' });
  assert.equal(region(1, ...again), { live: ['8.8.8.1'], pending: ['8.8.8.1'], content: undefined });
});

// Lists

test('nothing is to be on routers before it is approved', () => {
  assert.equal(region(1, inTwo), { live: [], pending: [], content: undefined });
  assert.equal(region(1, inTwo, rejected()), { live: [], pending: [], content: undefined });
  const approvedTwo = { live: ['8.8.8.0-8.8.8.3'], pending: ['8.8.8.0-8.8.8.3'], content: undefined };
  assert.equal(region(1, ...live), approvedTwo);
  assert.equal(region(2, ...live), approvedTwo);
  assert.equal(region(3, ...live), { live: [], pending: [], content: undefined });
});

test('a commit carries what is live when it is requested, and is pending until it succeeds', () => {
  const requested = [...live, whitelistRequested()];
  const own = ['8.8.8.0-8.8.8.3'];
  assert.equal(region(1, ...requested), { live: own, pending: own, content: own });
  assert.equal(region(2, ...requested), { live: own, pending: own, content: undefined });
  assert.equal(region(1, ...requested, whitelistFailed()), { live: own, pending: own, content: undefined });
  assert.equal(region(1, ...requested, whitelistCompleted()), { live: own, pending: [], content: undefined });
});

test('everything that came or went since the last success is pending', () => {
  const second = submitted('8.8.8.9', { requestId: 'r2' }, true);
  const busy = [...live, second, removed('r1', [1, 2])];
  assert.equal(region(1, ...busy), { live: ['8.8.8.9'], pending: ['8.8.8.0-8.8.8.3', '8.8.8.9'], content: undefined });
  const running = [...live, whitelistRequested(), second];
  assert.equal(region(1, ...running).pending, ['8.8.8.0-8.8.8.3', '8.8.8.9']);
  assert.equal(region(1, ...running, whitelistFailed()).pending, ['8.8.8.0-8.8.8.3', '8.8.8.9']);
  assert.equal(region(1, ...running, whitelistCompleted()).pending, ['8.8.8.9']);
});

test('what is removed while it is being deployed leaves with the next commit', () => {
  const own = ['8.8.8.0-8.8.8.3'];
  const running = [...live, whitelistRequested(), removed('r1', [1, 2])];
  assert.equal(region(1, ...running), { live: [], pending: own, content: own });
  const completed = [...running, whitelistCompleted()];
  assert.equal(region(1, ...completed), { live: [], pending: own, content: undefined });
  const next = [...completed, whitelistRequested({ commitSetId: 'w2' })];
  assert.equal(region(1, ...next), { live: [], pending: own, content: [] });
  assert.equal(region(1, ...next, whitelistCompleted({ commitSetId: 'w2' })), {
    live: [],
    pending: [],
    content: undefined,
  });
});

test('the blackhole list is nothing to the whitelist', () => {
  const whitelist = after(...live);
  for (const event of [disabled(['192.0.2.1']), commitRequested(), commitCompleted()])
    assert.is(applyToWhitelist(whitelist, event), whitelist);
});

// Addresses

test('minimal CIDRs in order spell their range', () => {
  assert.equal(rangeOfPrefixes(['8.8.8.1/32', '8.8.8.2/31', '8.8.8.4/32']), rangeOf('8.8.8.1-8.8.8.4'));
  assert.equal(rangeOfPrefixes(['8.8.8.0/24']), rangeOf('8.8.8.0/24'));
  assert.throws(() => rangeOfPrefixes([]), /broken invariant/);
  assert.throws(() => rangeOfPrefixes(['8.8.8.1']), /broken invariant/);
  assert.throws(() => rangeOfPrefixes(['8.8.8.4/32', '8.8.8.1/32']), /broken invariant/);
});

test.run();
