import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CommitSettled, CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import {
  applyToHistory,
  contentProblem,
  type CustomerHistory,
  NO_HISTORY,
  regionsAt,
} from '../../../src/domain/ip-control/customer-history.ts';
import { plain } from '../../specification.ts';
import { assigned, commitRequested, disabled } from '../../commands/ip-control/customer-examples.ts';
import {
  removed,
  submitted,
  trusted,
  whitelistCompleted,
  whitelistFailed,
  whitelistRequested,
} from '../../commands/ip-control/source-whitelist-examples.ts';

function after(...events: readonly CustomerEvent[]): CustomerHistory {
  return events.reduce(applyToHistory, NO_HISTORY);
}

function settled(event: CustomerEvent): CommitSettled {
  if (event.type !== 'CommitCompleted' && event.type !== 'CommitFailed') throw new Error('a commit that was settled');
  return event;
}

const own = ['8.8.8.0-8.8.8.3'];
const live = [trusted(), submitted('8.8.8.0/30', {}, true)] as const;
const nothing = { regionId: 1, disabled: [], terms: [], pending: [], deployed: [] };

test('each region tells what was whitelisted, pending and deployed, beside what was disabled', () => {
  assert.equal(plain(regionsAt(after(...live))), [
    { ...nothing, whitelist: { live: own, pending: own, deployed: [] } },
  ]);
  const deployed = [...live, whitelistRequested(), whitelistCompleted()];
  assert.equal(plain(regionsAt(after(...deployed))), [
    { ...nothing, whitelist: { live: own, pending: [], deployed: own } },
  ]);
  assert.equal(plain(regionsAt(after(...deployed, removed()))), [
    { ...nothing, whitelist: { live: [], pending: own, deployed: own } },
  ]);
});

test('a failed commit deploys nothing', () => {
  assert.equal(plain(regionsAt(after(...live, whitelistRequested(), whitelistFailed()))), [
    { ...nothing, whitelist: { live: own, pending: own, deployed: [] } },
  ]);
});

test('the lists of a region are told apart', () => {
  const both = after(...live, assigned(1, '192.0.2.0/24'), disabled(['192.0.2.1']), commitRequested());
  assert.equal(plain(regionsAt(both)), [
    {
      regionId: 1,
      disabled: ['192.0.2.1'],
      terms: [],
      pending: ['192.0.2.1'],
      deployed: [],
      whitelist: { live: own, pending: own, deployed: [] },
    },
  ]);
});

test('a commit that says other blocks than the events is found', () => {
  const requested = after(...live, whitelistRequested());
  for (const settle of [whitelistCompleted, whitelistFailed]) {
    assert.is(contentProblem(requested, settled(settle({}, ['8.8.8.0/30']))), undefined);
    assert.match(String(contentProblem(requested, settled(settle({}, ['8.8.8.0/29'])))), 'deployed other blocks');
    assert.match(String(contentProblem(requested, settled(settle({}, [])))), 'deployed other blocks');
  }
  assert.match(
    String(contentProblem(after(...live), settled(whitelistCompleted({}, ['8.8.8.0/30'])))),
    'without having been requested',
  );
});

test.run();
