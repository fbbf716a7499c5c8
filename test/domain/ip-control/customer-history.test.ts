import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { contentOf } from '../../../src/domain/ip-control/commit-content.ts';
import {
  applyToHistory,
  contentProblem,
  type CustomerHistory,
  NO_HISTORY,
  regionsAt,
} from '../../../src/domain/ip-control/customer-history.ts';
import type { CommitSettled, CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import {
  assigned,
  commitCompleted,
  commitFailed,
  commitRequested,
  disabled,
  registered,
} from '../../commands/ip-control/customer-examples.ts';
import { plain } from '../../specification.ts';

function historyOf(...events: readonly CustomerEvent[]): CustomerHistory {
  return [registered(), assigned(1, '192.0.2.0/24'), ...events].reduce(applyToHistory, NO_HISTORY);
}

function at(...events: readonly CustomerEvent[]) {
  const [region] = regionsAt(historyOf(...events));
  return region && plain({ disabled: region.disabled, pending: region.pending, deployed: region.deployed });
}

function settledAs(prefixes: readonly string[]): CommitSettled {
  const event = commitCompleted();
  if (event.type !== 'CommitCompleted') throw new Error('a completed commit');
  return { ...event, data: { ...event.data, content: contentOf(prefixes) } };
}

test('history tells what was disabled, what was pending, and what was on all routers', () => {
  const one = disabled(['192.0.2.1']);
  assert.equal(at(), { disabled: [], pending: [], deployed: [] });
  assert.equal(at(one), { disabled: ['192.0.2.1'], pending: ['192.0.2.1'], deployed: [] });
  assert.equal(at(one, commitRequested()), { disabled: ['192.0.2.1'], pending: ['192.0.2.1'], deployed: [] });
  assert.equal(at(one, commitRequested(), commitFailed()), {
    disabled: ['192.0.2.1'],
    pending: ['192.0.2.1'],
    deployed: [],
  });
  assert.equal(at(one, commitRequested(), disabled(['192.0.2.9']), commitCompleted()), {
    disabled: ['192.0.2.1', '192.0.2.9'],
    pending: ['192.0.2.9'],
    deployed: ['192.0.2.1'],
  });
});

test('regions come in the order of their numbers', () => {
  const history = historyOf(assigned(2, '198.51.100.0/24', 12), assigned(3, '203.0.113.0/24', 3));
  assert.equal(
    regionsAt(history).map(({ regionId }) => regionId),
    [1, 3, 12],
  );
});

test('a commit that deployed what the events say has no problem', () => {
  const history = historyOf(disabled(['192.0.2.0-192.0.2.4']), commitRequested(), disabled(['192.0.2.9']));
  assert.is(contentProblem(history, settledAs(['192.0.2.0/30', '192.0.2.4/32'])), undefined);
});

test('one that deployed something else has, and so has one that nobody requested', () => {
  const history = historyOf(disabled(['192.0.2.0-192.0.2.4']), commitRequested());
  assert.match(contentProblem(history, settledAs(['192.0.2.0/29'])) ?? '', 'deployed other blocks than the events say');
  assert.match(contentProblem(history, settledAs(['192.0.2.4/32', '192.0.2.0/30'])) ?? '', 'other blocks');
  assert.match(contentProblem(historyOf(), settledAs([])) ?? '', 'was settled without having been requested');
});

test.run();
