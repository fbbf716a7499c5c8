import { test } from 'uvu';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { ListKind } from '../../../src/events/ip-control/vocabulary.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { quietPeriod } from '../../../src/processes/ip-control/quiet-period.ts';
import { recordedInOrder, specifyProcess } from '../../specification.ts';
import { disabled } from '../../commands/ip-control/customer-examples.ts';
import {
  approved,
  rejected,
  removed,
  submitted,
  whitelistCompleted,
  whitelistFailed,
  whitelistRequested,
} from '../../commands/ip-control/source-whitelist-examples.ts';

const process = quietPeriod({ quietMilliseconds: 120_000, retryMilliseconds: [60_000, 300_000] });
const handles = new Set<string>(process.handles);

/** One event a minute, from 12:00 on. */
function given(...events: readonly CustomerEvent[]) {
  const all: readonly RecordedEvent[] = recordedInOrder(events, '2026-11-27T12:00:00Z', 60);
  type Watched = Parameters<typeof process.keysOf>[0];
  return specifyProcess(process).given(...all.filter((event): event is Watched => isHandled(handles, event)));
}

const at = (minute: string): string => `2026-11-27T12:${minute}Z`;

const commit = (regionId: number, list: ListKind = 'SRC_WHITELIST', reason: 'quiet' | 'retry' = 'quiet') =>
  ({ type: 'RequestCommit', data: { customerId: 7, regionId, list, reason } }) as const;

test('a request that waits for its review, or is declined, owes nothing', () => {
  given(submitted('8.8.8.1')).isOver();
  given(submitted('8.8.8.1'), rejected()).isOver();
  given(submitted('8.8.8.1'), removed('r1', [])).isOver();
});

test('an approved request owes a commit of each of its regions, two minutes later', () => {
  const two = given(submitted('8.8.8.1', { regionIds: [1, 2] }), approved('r1', [1, 2]));
  two.at(at('02:59')).owesNothing();
  two.wakesAt(at('03:00'));
  two.at(at('03:00')).owes(commit(1), commit(2));
});

test('what needs no review owes it from its submission on', () => {
  given(submitted('8.8.8.1', {}, true))
    .at(at('01:59'))
    .owesNothing();
  given(submitted('8.8.8.1', {}, true))
    .at(at('02:00'))
    .owes(commit(1));
});

test('every change of the list begins the quiet period anew, in its own region', () => {
  const busy = given(
    submitted('8.8.8.1', { regionIds: [1, 2] }, true),
    submitted('8.8.8.9', { requestId: 'r2', regionIds: [2] }, true),
  );
  busy.at(at('02:30')).owes(commit(1));
  busy.at(at('03:00')).owes(commit(1), commit(2));
});

test('removing an approved request owes a commit of all of its regions', () => {
  const live = [submitted('8.8.8.1', { regionIds: [1, 2] }, true), whitelistRequested(), whitelistCompleted()];
  given(...live, whitelistRequested({ regionId: 2 }), whitelistCompleted({ regionId: 2 })).isOver();
  given(...live, whitelistRequested({ regionId: 2 }), whitelistCompleted({ regionId: 2 }), removed('r1', [1, 2]))
    .at(at('07:00'))
    .owes(commit(1), commit(2));
});

test('removing what is being deployed owes a commit once that is over', () => {
  const running = [submitted('8.8.8.1', {}, true), whitelistRequested(), removed()];
  given(...running)
    .at(at('30:00'))
    .owesNothing();
  given(...running, whitelistCompleted())
    .at(at('04:00'))
    .owes(commit(1));
});

test('a failed commit is tried again by itself', () => {
  const failed = given(submitted('8.8.8.1', {}, true), whitelistRequested(), whitelistFailed());
  failed.at(at('02:59')).owesNothing();
  failed.at(at('03:00')).owes(commit(1, 'SRC_WHITELIST', 'retry'));
});

test('neither list of a region waits for the other', () => {
  given(submitted('8.8.8.1', {}, true), disabled(['192.0.2.1']))
    .at(at('02:00'))
    .owes(commit(1));
  given(submitted('8.8.8.1', {}, true), disabled(['192.0.2.1']))
    .at(at('03:00'))
    .owes(commit(1), commit(1, 'BLACKHOLE'));
  given(disabled(['192.0.2.1']), submitted('8.8.8.1', {}, true))
    .at(at('02:00'))
    .owes(commit(1, 'BLACKHOLE'));
  given(submitted('8.8.8.1', {}, true), whitelistRequested(), disabled(['192.0.2.1']))
    .at(at('04:00'))
    .owes(commit(1, 'BLACKHOLE'));
});

test.run();
