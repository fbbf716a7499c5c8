import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type CustomerCommand, customerDecider } from '../../../src/commands/ip-control/customer.ts';
import { directoryDecider, type DirectoryCommand } from '../../../src/commands/ip-control/directory.ts';
import { Removals } from '../../../src/commands/ip-control/explained-removals.ts';
import { unexplained, wantedOn } from '../../../src/commands/ip-control/kept-lists.ts';
import { isRestored, keptWhileRestored } from '../../../src/commands/ip-control/restore.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { DirectoryEvent } from '../../../src/events/ip-control/directory.ts';
import type { ListKind } from '../../../src/events/ip-control/vocabulary.ts';
import { parseRangeTexts } from '../../../src/addresses/range-text.ts';
import { RangeSet } from '../../../src/addresses/range-set.ts';
import { cellRanges, combined, modelsOver, runsIn, runsOf } from '../../addresses/naive-model.ts';
import { specify, stateAfter } from '../../specification.ts';
import {
  assigned,
  block,
  disable,
  disabled,
  disabledFor,
  enable,
  enabled,
  MIDNIGHT,
  NOON,
  one,
  registered,
  released,
  termChanged,
  termEnded,
} from './customer-examples.ts';

const { given } = specify(directoryDecider);

const region = (regionId: number, name: string): DirectoryEvent => ({
  type: 'RegionNameReserved',
  data: { regionId, name },
});
const AMS = region(1, 'ams');
const FRA = region(2, 'fra');
const CUSTOMERS = [{ customerId: 7, revision: 12 }];
const because = (why: 'operator' | 'log-older-than-views', customers = CUSTOMERS) => ({ because: why, customers });
const began = (...said: Parameters<typeof because>): DirectoryEvent => ({
  type: 'RestoreBegan',
  data: because(...said),
});
const begin = (...said: Parameters<typeof because>): DirectoryCommand => ({
  type: 'BeginRestore',
  data: because(...said),
});
const accepted = (...regionIds: number[]): DirectoryEvent => ({ type: 'RestoreAccepted', data: { regionIds } });
const accept = (regionId?: number): DirectoryCommand => ({ type: 'AcceptRestore', data: { regionId } });

// Beginning

test('an operator says that the log was restored, and where each customer stands', () =>
  given(AMS).when(begin('operator')).yields(began('operator')));

test('said again while it lasts, that is nothing new, whatever has been recorded since', () =>
  given(AMS, began('operator'))
    .when(begin('operator', [{ customerId: 7, revision: 20 }]))
    .yieldsNothing());

test('very many customers are named in runs, within what a store takes at once, and are remembered the same', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => ({
    customerId: 1 + index + (index >> 10),
    revision: index % 997,
  }));
  const events = directoryDecider.decide(begin('operator', many), directoryDecider.initial);
  const [event, ...more] = 'refused' in events ? [] : events;
  if (event === undefined) throw new Error('it was refused');
  assert.is(more.length, 0);
  assert.ok(JSON.stringify(event.data).length < 512 * 1024, String(JSON.stringify(event.data).length));
  const { restored } = stateAfter(directoryDecider, event);
  assert.equal(
    [...(restored?.customers ?? [])],
    many.map(({ customerId, revision }) => [customerId, BigInt(revision)]),
  );
  given(event).when(begin('log-older-than-views', many)).yieldsNothing();
});

test('after it was accepted it can begin again', () =>
  given(AMS, began('operator'), accepted(1)).when(begin('operator')).yields(began('operator')));

test('views that have seen more than the log holds begin it by themselves', () =>
  given(AMS).when(begin('log-older-than-views')).yields(began('log-older-than-views')));

test('a second copy that is put back while it lasts begins it for all regions again', () =>
  given(AMS, FRA, began('operator'), accepted(1))
    .when(begin('log-older-than-views', [{ customerId: 7, revision: 20 }]))
    .yields(began('log-older-than-views', [{ customerId: 7, revision: 20 }])));

test('a server that died before its views were saved finds the same copy: nothing new', () =>
  given(AMS, began('log-older-than-views')).when(begin('log-older-than-views')).yieldsNothing());

// Accepting

test('accepted for one region, it goes on in the others', () => {
  given(AMS, FRA, began('operator')).when(accept(1)).yields(accepted(1));
  const state = stateAfter(directoryDecider, AMS, FRA, began('operator'), accepted(1));
  assert.equal([isRestored(state, 1), isRestored(state, 2)], [false, true]);
});

test('accepted for all regions that are left, it is over', () => {
  given(AMS, FRA, began('operator'), accepted(1)).when(accept()).yields(accepted(2));
  const state = stateAfter(directoryDecider, AMS, FRA, began('operator'), accepted(1), accepted(2));
  assert.is(state.restored, undefined);
});

test('a region that is made while it lasts is no exception: its routers may hold lists of the part that is lost', () => {
  const state = stateAfter(directoryDecider, AMS, began('operator'), FRA);
  assert.ok(isRestored(state, 2));
});

test('without regions it can be accepted too', () => given(began('operator')).when(accept()).yields(accepted()));

test('where nothing is restored there is nothing to accept', () => {
  given(AMS).when(accept()).yieldsNothing();
  given(AMS, FRA, began('operator'), accepted(1)).when(accept(1)).yieldsNothing();
});

test('a region that does not exist can not be accepted', () =>
  given(AMS, began('operator')).when(accept(9)).isRefused('region-not-found', 'region not found.'));

// What is kept

test('kept is what is present, not wanted, and not explained as removed: address by address', () =>
  fc.assert(
    fc.property(modelsOver(3), ({ windows, models: [present = [], wanted = [], removed = []] }) => {
      const [has, wants, gone] = [present, wanted, removed].map((model) => RangeSet.from(cellRanges(windows, model)));
      const kept = keptWhileRestored(has ?? RangeSet.empty, wants ?? RangeSet.empty, gone ?? RangeSet.empty);
      const notWanted = combined(present, wanted, (isPresent, isWanted) => isPresent && !isWanted);
      const expected = combined(notWanted, removed, (isIn, isGone) => isIn && !isGone);
      assert.equal(runsIn(kept), runsOf(windows, expected));
    }),
  ));

test('a router gets what is wanted and keeps what the log does not explain, in the fewest blocks', () => {
  const keeping = { removals: parseRangeTexts(['192.0.2.9']), listed: parseRangeTexts(['192.0.2.1', '192.0.2.5']) };
  const held = ['192.0.2.0/32', '192.0.2.5/32', '192.0.2.9/32', '2001:db8::/64'];
  assert.equal(wantedOn(held, ['192.0.2.1/32'], keeping), {
    prefixes: ['192.0.2.0/31', '192.0.2.5/32', '2001:db8::/64'],
    kept: ['192.0.2.0/32', '2001:db8::/64'],
  });
  assert.equal(wantedOn('absent', ['192.0.2.1/32'], keeping), { prefixes: ['192.0.2.1/32'], kept: [] });
  assert.equal(wantedOn(held, ['192.0.2.1/32'], undefined), { prefixes: ['192.0.2.1/32'], kept: [] });
  assert.equal(unexplained(held, keeping), ['192.0.2.0/32', '2001:db8::/64']);
});

test('an entry that is no plain block can not be kept by a push, which is a problem that names it', () => {
  const keeping = { removals: RangeSet.empty, listed: RangeSet.empty };
  const held = ['192.0.2.0/24 le 32', '192.0.3.0/24'];
  const answer = wantedOn(held, [], keeping);
  assert.ok('problem' in answer && answer.problem.endsWith(': 192.0.2.0/24 le 32'), JSON.stringify(answer));
  assert.equal(unexplained(held, keeping), ['192.0.3.0/24', '192.0.2.0/24 le 32']);
});

// What a customer can do about it

const customer = specify(customerDecider);
const KNOWN = [registered(), assigned(1, '192.0.2.0/24')];
const kept = (router: string, ...ranges: string[]): CustomerEvent => ({
  type: 'AddressesKept',
  data: { regionId: 1, router, ranges },
});
const recordKept = (router: string, ...texts: string[]): CustomerCommand => ({
  type: 'RecordKept',
  data: { regionId: 1, router, set: parseRangeTexts(texts) },
});

test('what a router keeps is said once for each set, and once more when it is gone', () => {
  customer
    .given(...KNOWN)
    .when(recordKept('core1', '192.0.2.77'))
    .yields(kept('core1', '192.0.2.77'));
  customer
    .given(...KNOWN, kept('core1', '192.0.2.77'))
    .when(recordKept('core1', '192.0.2.77'))
    .yieldsNothing();
  customer
    .given(...KNOWN, kept('core1', '192.0.2.77'))
    .when(recordKept('core1'))
    .yields(kept('core1'));
  customer
    .given(...KNOWN)
    .when(recordKept('core1'))
    .yieldsNothing();
});

test('what a router keeps is told part by part where it is too much to be told at once', () => {
  const more: CustomerEvent = {
    type: 'AddressesKept',
    data: { regionId: 1, router: 'core1', ranges: ['192.0.2.79'], isMore: true },
  };
  const parts = customer.given(...KNOWN, kept('core1', '192.0.2.77'));
  const rest = { regionId: 1, router: 'core1', set: parseRangeTexts(['192.0.2.79']), isMore: true };
  parts.when({ type: 'RecordKept', data: rest }).yields(more);
  const all = customer.given(...KNOWN, kept('core1', '192.0.2.77'), more);
  all.when(recordKept('core1', '192.0.2.77', '192.0.2.79')).yieldsNothing();
  all.when({ type: 'RecordKept', data: rest }).yieldsNothing();
  all.when(enable(block('192.0.2.0/24'))).yields(enabled(['192.0.2.77', '192.0.2.79']));
});

test('what a router keeps can be enabled, though the log has it as enabled, once, and only where it is owned', () => {
  const before = [...KNOWN, kept('core1', '192.0.2.77'), kept('core2', '192.0.2.78', '198.51.100.1')];
  customer
    .given(...before)
    .when(enable(one('192.0.2.77')))
    .yields(enabled(['192.0.2.77']));
  customer
    .given(...before)
    .when(enable(block('0.0.0.0/0')))
    .yields(enabled(['192.0.2.77-192.0.2.78']));
  customer
    .given(...before, enabled(['192.0.2.77']))
    .when(enable(one('192.0.2.77')))
    .yieldsNothing();
  customer
    .given(...before, disabled(['192.0.2.77']))
    .when(recordKept('core1'))
    .yieldsNothing();
  customer
    .given(...before, kept('core1'))
    .when(enable(one('192.0.2.77')))
    .yieldsNothing();
  customer
    .given(...before)
    .when(enable(one('192.0.2.1')))
    .yieldsNothing();
});

test('what a router keeps can be disabled as any other address', () =>
  customer
    .given(...KNOWN, kept('core1', '192.0.2.77'))
    .when(disable(one('192.0.2.77')))
    .yields(disabled(['192.0.2.77'])));

// What explains a removal

function removals(list: ListKind, before: readonly CustomerEvent[], after: readonly CustomerEvent[]): string[] {
  const sum = new Removals(1, list);
  for (const event of before) sum.add(event, false);
  for (const event of after) sum.add(event, true);
  return sum.set.toJSON();
}

test('enabling explains, afterwards; before, in another region, or disabled again it does not', () => {
  const enabledBefore = [enabled(['192.0.2.1'])];
  assert.equal(removals('BLACKHOLE', enabledBefore, []), []);
  assert.equal(removals('BLACKHOLE', enabledBefore, [enabled(['192.0.2.2-192.0.2.4'])]), ['192.0.2.2-192.0.2.4']);
  assert.equal(removals('BLACKHOLE', [], [enabled(['192.0.2.2'], 2)]), []);
  assert.equal(removals('BLACKHOLE', [], [enabled(['192.0.2.2-192.0.2.3']), disabled(['192.0.2.2'])]), ['192.0.2.3']);
});

test('the end of a time explains where the time was said afterwards', () => {
  const before = [disabledFor(MIDNIGHT, ['192.0.2.1-192.0.2.3'])];
  assert.equal(removals('BLACKHOLE', before, [termEnded(['192.0.2.1-192.0.2.3'])]), []);
  const said = [disabledFor(MIDNIGHT, ['192.0.2.9']), termChanged(NOON, ['192.0.2.1'])];
  const ended = termEnded(['192.0.2.1', '192.0.2.2', '192.0.2.9']);
  assert.equal(removals('BLACKHOLE', before, [...said, ended]), ['192.0.2.1', '192.0.2.9']);
  assert.equal(removals('BLACKHOLE', before, [...said, ended, disabled(['192.0.2.9'])]), ['192.0.2.1']);
});

test('a subnet that is let go explains all of its addresses, whatever the log knew as disabled', () =>
  assert.equal(removals('BLACKHOLE', [], [released(1, '192.0.2.0/24', ['192.0.2.1'])]), ['192.0.2.0-192.0.2.255']));

const removed = (...regionIds: number[]): CustomerEvent => ({
  type: 'SourceWhitelistRemoved',
  data: { requestId: 'r1', regionIds },
});

test('the removal of a whitelist request explains its addresses, in its regions', () => {
  const evidence = { sha256: 'aa', bytes: 1, mediaType: 'image/png', fileName: 'a.png' } as const;
  const data = { requestId: 'r1', input: '8.8.8.8', prefixes: ['8.8.8.8/32'], evidence, autoApproved: true };
  const submitted: CustomerEvent = { type: 'SourceWhitelistSubmitted', data: { ...data, regionIds: [1, 2] } };
  assert.equal(removals('SRC_WHITELIST', [submitted], [removed(1, 2)]), ['8.8.8.8']);
  assert.equal(removals('SRC_WHITELIST', [submitted], [removed(2)]), []);
  assert.equal(removals('SRC_WHITELIST', [submitted, removed(1)], []), []);
  assert.equal(removals('BLACKHOLE', [submitted], [removed(1)]), []);
});

test.run();
