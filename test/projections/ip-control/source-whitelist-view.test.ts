import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { newestFirst, whitelistStatus } from '../../../src/domain/ip-control/source-whitelist-ledger.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { whitelistRequestProjection } from '../../../src/projections/ip-control/source-whitelist-request-view.ts';
import { sourceWhitelistProjection } from '../../../src/projections/ip-control/source-whitelist-view.ts';
import { foldViews, recordedInOrder, specifyProjection } from '../../specification.ts';
import { commitCompleted, commitRequested } from '../../commands/ip-control/customer-examples.ts';
import {
  approved,
  evidence,
  rejected,
  removed,
  submitted,
  whitelistCompleted,
  whitelistRequested,
} from '../../commands/ip-control/source-whitelist-examples.ts';

/** One event a minute, from 12:00 on, of customer 7. */
const recorded = (...events: readonly CustomerEvent[]): readonly RecordedEvent[] =>
  recordedInOrder(events, '2026-11-27T12:00:00Z', 60);

function listOf(...events: readonly CustomerEvent[]): readonly string[] | undefined {
  type Shown = Parameters<typeof sourceWhitelistProjection.keysOf>[0];
  const handles = new Set<string>(sourceWhitelistProjection.handles);
  const shown = recorded(...events).filter((event): event is Shown => isHandled(handles, event));
  const view = foldViews(sourceWhitelistProjection, shown).get('7');
  return (
    view && newestFirst(view).map((request) => `${request.submittedAt} ${request.input} ${whitelistStatus(request)}`)
  );
}

test('a customer’s requests are listed newest first, rejected ones too, removed ones not', () => {
  assert.equal(
    listOf(
      submitted('8.8.8.1', {}, true),
      submitted('8.8.8.2', { requestId: 'r2' }),
      submitted('8.8.8.3', { requestId: 'r3' }),
      rejected('r2'),
      whitelistRequested(),
      whitelistCompleted(),
      removed('r3', []),
    ),
    ['2026-11-27T12:01:00.000+00:00 8.8.8.2 rejected', '2026-11-27T12:00:00.000+00:00 8.8.8.1 active'],
  );
});

test('a customer that never submitted has no view; commits of the other list make none', () => {
  assert.is(listOf(commitRequested(), commitCompleted()), undefined);
});

test('a customer that removed everything has an empty list', () => {
  assert.equal(listOf(submitted('8.8.8.1'), removed('r1', [])), []);
});

// What people did with one request

const requests = (...events: readonly CustomerEvent[]) => {
  type Shown = Parameters<typeof whitelistRequestProjection.keysOf>[0];
  const handles = new Set<string>(whitelistRequestProjection.handles);
  return specifyProjection(whitelistRequestProjection).given(
    ...recorded(...events).filter((event): event is Shown => isHandled(handles, event)),
  );
};

const at = (minute: string) => ({ at: `2026-11-27T12:${minute}:00.000+00:00`, by: 'system:specification' });

const shown = {
  requestId: 'r1',
  customerId: 7,
  input: '8.8.8.0-8.8.8.2',
  prefixes: ['8.8.8.0/31', '8.8.8.2/32'],
  regionIds: [1, 2],
  evidence: evidence(),
  autoApproved: false,
  submitted: at('00'),
  decided: null,
  removed: null,
};

const submission = submitted('8.8.8.0-8.8.8.2', { regionIds: [1, 2] });

test('a request is shown with its evidence, and with who submitted it and when', () => {
  requests(submission).shows('r1', shown);
  requests(submission).shows('r2', undefined);
});

test('a decision is shown with who took it, when, and why not', () => {
  requests(submission, approved('r1', [1, 2])).shows('r1', { ...shown, decided: { ...at('01'), outcome: 'approved' } });
  requests(submission, rejected('r1', 'no contract')).shows('r1', {
    ...shown,
    decided: { ...at('01'), outcome: 'rejected', reason: 'no contract' },
  });
});

test('a removed request stays, for audit', () => {
  requests(submission, approved('r1', [1, 2]), removed('r1', [1, 2])).shows('r1', {
    ...shown,
    decided: { ...at('01'), outcome: 'approved' },
    removed: at('02'),
  });
});

test.run();
