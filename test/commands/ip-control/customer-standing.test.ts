import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseRangeTexts } from '../../../src/addresses/range-text.ts';
import { type CustomerCommand, customerDecider } from '../../../src/commands/ip-control/customer.ts';
import { customerSnapshot } from '../../../src/commands/ip-control/customer-snapshot.ts';
import { type CustomerState, listedAddresses } from '../../../src/commands/ip-control/customer-state.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { listKind } from '../../../src/events/ip-control/vocabulary.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { specify } from '../../specification.ts';
import { assigned, commitCompleted, commitRequested, disabled, registered, released } from './customer-examples.ts';

const { given } = specify(customerDecider);

const disable: CustomerCommand = { type: 'DisableCustomer', data: {} };
const enable: CustomerCommand = { type: 'EnableCustomer', data: {} };
const remove = (force = false): CustomerCommand => ({ type: 'RemoveCustomer', data: { force } });
const is = (type: 'CustomerDisabled' | 'CustomerEnabled' | 'CustomerRemoved'): CustomerEvent => ({
  type,
  data: { customerId: 7 },
});
const issued: CustomerEvent = { type: 'ApiTokenIssued', data: { tokenId: 't1', label: '', sha256: 'ab' } };
const revoked: CustomerEvent = { type: 'ApiTokenRevoked', data: { tokenId: 't1', sha256: 'ab' } };
const requestCommit: CustomerCommand = {
  type: 'RequestCommit',
  data: { regionId: 1, list: 'BLACKHOLE', commitSetId: 'c9', reason: 'quiet' },
};

test('a customer is disabled and enabled again; asked twice, nothing is new', () => {
  given(registered()).when(disable).yields(is('CustomerDisabled'));
  given(registered(), is('CustomerDisabled')).when(disable).yieldsNothing();
  given(registered(), is('CustomerDisabled')).when(enable).yields(is('CustomerEnabled'));
  given(registered()).when(enable).yieldsNothing();
});

test('nothing is changed for a token that is disabled or revoked', () => {
  const history = [registered(), issued, assigned(1, '192.0.2.0/24')];
  const target = { mode: 'block', set: parseRangeTexts(['192.0.2.7']) } as const;
  const change = { action: 'disable', synchronous: false, target, tokenId: 't1' } as const;
  const command = { type: 'ChangeAddresses', data: change } as const;
  given(...history)
    .when(command)
    .yields(disabled(['192.0.2.7']));
  given(...history, revoked)
    .when(command)
    .isRefused('token-not-found');
  given(...history, { type: 'ApiTokenDisabled', data: { tokenId: 't1', sha256: 'ab' } })
    .when(command)
    .isRefused('token-not-found');
});

test('a disabled customer changes nothing by itself, and its commits go on', () => {
  const history = [registered(), assigned(1, '192.0.2.0/24'), disabled(['192.0.2.7']), is('CustomerDisabled')];
  const target = { mode: 'block', set: parseRangeTexts(['192.0.2.0-192.0.2.255']) } as const;
  for (const command of [
    { type: 'ChangeAddresses', data: { action: 'enable', synchronous: false, target } },
    { type: 'RemoveSourceWhitelist', data: { requestId: 'r1' } },
  ] as const)
    given(...history)
      .when(command)
      .isRefused('customer-disabled');
  given(...history)
    .when(requestCommit)
    .yields(commitRequested({ commitSetId: 'c9' }));
});

test('a customer with subnets is removed only by force, and everything that it has goes with it', () => {
  const history = [registered(), issued, assigned(1, '192.0.2.0/24'), disabled(['192.0.2.7'])];
  given(...history)
    .when(remove())
    .isRefused('customer-in-use');
  given(...history)
    .when(remove(true))
    .yields(revoked, released(1, '192.0.2.0/24', ['192.0.2.7']), is('CustomerRemoved'));
  given(registered(), issued).when(remove()).yields(revoked, is('CustomerRemoved'));
});

test('a removed customer gets nothing any more, and what it had is taken off the routers', () => {
  const history = [
    registered(),
    assigned(1, '192.0.2.0/24'),
    disabled(['192.0.2.7']),
    commitRequested(),
    commitCompleted(),
    released(1, '192.0.2.0/24', ['192.0.2.7']),
    is('CustomerRemoved'),
  ];
  given(...history)
    .when(remove(true))
    .yieldsNothing();
  given(...history)
    .when({ type: 'IssueApiToken', data: { tokenId: 't2', label: '', sha256: 'cd' } })
    .isRefused('customer-not-found');
  given(...history)
    .when({ type: 'ChangeCustomerSettings', data: { changes: { trusted: true } } })
    .isRefused('customer-not-found');
  given(...history)
    .when(requestCommit)
    .yields(commitRequested({ commitSetId: 'c9' }));
});

test('whatever it had disabled or whitelisted: nothing of it is to be on a router, and a commit comes for each list that is not empty', () => {
  const hosts = fc.uniqueArray(fc.integer({ min: 0, max: 255 }), { maxLength: 20 });
  const scene = fc.record({
    first: hosts,
    second: hosts,
    whitelisted: fc.subarray([1, 2], { minLength: 0 }),
    isDeployed: fc.boolean(),
  });
  fc.assert(
    fc.property(scene, ({ first, second, whitelisted, isDeployed }) => {
      const history: CustomerEvent[] = [
        registered({ allowSourceWhitelist: true }),
        assigned(1, '192.0.2.0/24', 1),
        assigned(2, '198.51.100.0/24', 2),
        ...(first.length === 0 ? [] : [disabled(hostsOf('192.0.2', first), 1)]),
        ...(second.length === 0 ? [] : [disabled(hostsOf('198.51.100', second), 2)]),
        ...(whitelisted.length === 0 ? [] : [submitted(whitelisted)]),
        ...(isDeployed && first.length > 0 ? [commitRequested(), commitCompleted()] : []),
      ];
      const before = stateOf(history);
      const answer = customerDecider.decide(remove(true), before);
      assert.not.ok(isRefusal(answer));
      const after = stateOf([...history, ...(isRefusal(answer) ? [] : answer)]);
      assert.equal(customerSnapshot.decode(JSON.parse(JSON.stringify(customerSnapshot.encode(after)))), after);
      for (const regionId of [1, 2]) {
        for (const list of listKind.options) {
          if (before.phase === 'unregistered' || after.phase === 'unregistered') throw new Error('it is registered');
          assert.ok(listedAddresses(after, regionId, list).isEmpty, `${list} of region ${regionId} is empty`);
          const hadSomething = !listedAddresses(before, regionId, list).isEmpty;
          const data = { regionId, list, commitSetId: 'c9', reason: 'quiet' } as const;
          const commit = customerDecider.decide({ type: 'RequestCommit', data }, after);
          assert.is(
            !isRefusal(commit) && commit.length === 1,
            hadSomething,
            `a commit comes for ${list} of ${regionId}`,
          );
        }
      }
    }),
    { numRuns: 100 },
  );
});

function hostsOf(net: string, hosts: readonly number[]): string[] {
  return hosts.toSorted((a, b) => a - b).map((host) => `${net}.${host}`);
}

function submitted(regionIds: number[]): CustomerEvent {
  const evidence = { sha256: 'ab', bytes: 3, mediaType: 'application/pdf', fileName: 'a.pdf' } as const;
  const data = { requestId: 'r1', input: '203.0.113.9', prefixes: ['203.0.113.9/32'], regionIds, evidence };
  return { type: 'SourceWhitelistSubmitted', data: { ...data, autoApproved: true } };
}

function stateOf(events: readonly CustomerEvent[]): CustomerState {
  let state: CustomerState = customerDecider.initial;
  for (const [at, event] of events.entries()) state = customerDecider.evolve(state, { ...event, revision: BigInt(at) });
  return state;
}

test.run();
