import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type PreparedChange, type RouterDriver, RouterFailure } from '../../../../src/ports/routers.ts';
import type { HeldList } from '../../../../src/processes/ip-control/pushing/router-calls.ts';
import { pushTogether } from '../../../../src/processes/ip-control/pushing/push-together.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const OLD = ['192.0.2.1/32'];
const NEW = ['198.51.100.0/24', '2001:db8::/48'];

const STEPS = ['prepare', 'read', 'commit', 'confirm', 'replace', 'read again'] as const;
type Step = (typeof STEPS)[number];
/** What goes wrong, once: nothing is done, or it is done and its answer is lost. */
type Fault = Readonly<{ step: Step; how: 'not done' | 'answer lost' }>;
type Kind = 'holds changes back' | 'has no timer' | 'plain';
type Given = Readonly<{ kind: Kind; fault?: Fault; before?: HeldList; isGarbled?: boolean }>;

/** A router in memory. */
function routerOf({ kind, fault, before = OLD, isGarbled = false }: Given) {
  const calls: string[] = [];
  let held: HeldList = before;
  let left = fault;
  let garbled = isGarbled;
  let isBusy = false;
  const step = async (name: Step, work: () => void): Promise<void> => {
    calls.push(name);
    const isFaulty = left?.step === name;
    if (!isFaulty || left?.how === 'answer lost') work();
    if (!isFaulty) return;
    left = undefined;
    throw new RouterFailure('unreachable', `lost at ${name}`);
  };
  const replace = (prefixes: readonly string[]): void => {
    assert.not(isBusy, 'whoever prepares holds the router');
    held = prefixes;
    garbled = false;
  };
  const prepared = (prefixes: readonly string[]): PreparedChange => {
    const kept = held;
    isBusy = true;
    return {
      before: kept,
      commit: () => step('commit', () => void (held = prefixes)),
      read: async () => {
        await step('read', () => undefined);
        return held;
      },
      confirm: async () => {
        const isLost = left?.step === 'confirm' && left.how === 'not done';
        isBusy = false;
        // What is not confirmed is taken back.
        if (isLost) held = kept;
        await step('confirm', () => undefined);
      },
      undo: async () => {
        calls.push('undo');
        if (isBusy) held = kept;
        isBusy = false;
      },
    };
  };
  let reads = 0;
  const driver: RouterDriver = {
    read: async () => {
      assert.not(isBusy, 'whoever prepares holds the router');
      reads += 1;
      await step(reads > 1 ? 'read again' : 'read', () => undefined);
      if (garbled) throw new RouterFailure('unreadable-answer', 'line 1 is no canonical CIDR');
      return held;
    },
    replace: (_list, prefixes) => step('replace', () => replace(prefixes)),
    remove: () => step('replace', () => void (held = 'absent')),
    lists: () => Promise.reject(new Error('a push knows its list')),
    check: () => Promise.reject(new Error('a push checks by preparing')),
    close: () => Promise.reject(new Error('a push does not close a driver')),
    ...(kind === 'plain'
      ? {}
      : {
          prepare: async (_list: string, prefixes: readonly string[]) => {
            await step('prepare', () => undefined);
            return kind === 'has no timer' ? undefined : prepared(prefixes);
          },
        }),
  };
  return { driver, calls, held: () => held, isFree: () => !isBusy };
}

async function push(givens: Readonly<Record<string, Given>>, signal = new AbortController().signal) {
  const routers = Object.entries(givens).map(([router, given]) => ({ router, ...routerOf(given) }));
  const { outcomes } = await pushTogether(
    { routers, list: LIST, prefixes: NEW, last: () => OLD, timeoutMilliseconds: 30_000 },
    createManualClock(),
    signal,
  );
  for (const router of routers) assert.ok(router.isFree(), 'nobody holds a router any more');
  return { routers, outcomes };
}

test('all of them take it, and say how they took part', async () => {
  const { routers, outcomes } = await push({ junos: { kind: 'holds changes back' }, pull: { kind: 'plain' } });
  for (const router of routers) assert.equal(router.held(), NEW);
  const common = { result: 'confirmed', untouched: false, milliseconds: 0 };
  assert.equal(outcomes, [
    { router: 'junos', ...common, together: 'prepared' },
    { router: 'pull', ...common, together: 'compensated' },
  ]);
});

test('nothing is in force before all have checked it, and nothing is confirmed before all hold it', async () => {
  const order: string[] = [];
  const recording = (name: string, driver: RouterDriver): RouterDriver => ({
    ...driver,
    prepare: async (list, prefixes, signal) => {
      const prepared = await driver.prepare?.(list, prefixes, signal);
      order.push('prepare');
      return (
        prepared && {
          ...prepared,
          commit: (within) => prepared.commit(within).then(() => void order.push('commit')),
          confirm: (within) => prepared.confirm(within).then(() => void order.push('confirm')),
        }
      );
    },
    replace: (list, prefixes, signal) =>
      driver.replace(list, prefixes, signal).then(() => void order.push(`replace ${name}`)),
  });
  const some: readonly Readonly<[string, Kind]>[] = [
    ['a', 'holds changes back'],
    ['b', 'plain'],
    ['c', 'holds changes back'],
  ];
  const routers = some.map(([router, kind]) => ({ router, driver: recording(router, routerOf({ kind }).driver) }));
  const work = { routers, list: LIST, prefixes: NEW, last: () => OLD, timeoutMilliseconds: 30_000 };
  await pushTogether(work, createManualClock(), new AbortController().signal);
  assert.equal(order, ['prepare', 'prepare', 'prepare', 'commit', 'commit', 'replace b', 'confirm', 'confirm']);
});

test('when one would not take it, nothing is sent to any', async () => {
  const refusing: Given = { kind: 'holds changes back', fault: { step: 'prepare', how: 'not done' } };
  const { routers, outcomes } = await push({
    core1: refusing,
    core2: { kind: 'holds changes back' },
    pull: { kind: 'plain' },
  });
  for (const router of routers) {
    assert.equal(router.held(), OLD);
    assert.not(router.calls.some((call) => call === 'commit' || call === 'replace'));
  }
  assert.equal(
    outcomes.map(({ router, result, untouched, because }) => ({ router, result, untouched, because })),
    [
      { router: 'core1', result: 'failed', untouched: true, because: 'unreachable: lost at prepare' },
      { router: 'core2', result: 'failed', untouched: true, because: 'not sent, as core1 would not take it' },
      { router: 'pull', result: 'failed', untouched: true, because: 'not sent, as core1 would not take it' },
    ],
  );
});

test('when one has not taken it, the others go back to what they had', async () => {
  const { routers, outcomes } = await push({
    core1: { kind: 'holds changes back', before: 'absent' },
    pull1: { kind: 'plain', before: 'absent' },
    pull2: { kind: 'plain', fault: { step: 'replace', how: 'not done' } },
  });
  assert.equal(
    routers.map((router) => router.held()),
    ['absent', 'absent', OLD],
  );
  assert.equal(
    outcomes.map(({ result }) => result),
    ['failed', 'failed', 'failed'],
  );
  assert.is(outcomes[0]?.because, 'taken back, as pull2 did not take it');
});

test('those that hold it already are not touched, and do not go back', async () => {
  const { outcomes } = await push({
    core1: { kind: 'holds changes back', before: NEW },
    pull: { kind: 'plain', before: NEW },
  });
  assert.ok(outcomes.every(({ result, untouched }) => result === 'confirmed' && untouched));
});

test('a router without a timer takes part by having its old list put back', async () => {
  const { outcomes } = await push({ old: { kind: 'has no timer' }, core1: { kind: 'holds changes back' } });
  assert.equal(
    outcomes.map(({ together }) => together),
    ['compensated', 'prepared'],
  );
});

test('what can not be read as a list is replaced', async () => {
  for (const kind of ['plain', 'has no timer'] as const) {
    const { routers, outcomes } = await push({
      pull: { kind, isGarbled: true },
      core1: { kind: 'holds changes back' },
    });
    for (const router of routers) assert.equal(router.held(), NEW);
    assert.ok(outcomes.every(({ result, untouched }) => result === 'confirmed' && !untouched));
  }
});

test('where the others do not take it, a list that could not be read goes back to what the last commit put there', async () => {
  const { routers, outcomes } = await push({
    pull1: { kind: 'plain', isGarbled: true, before: ['10.0.0.0/8'] },
    pull2: { kind: 'plain', fault: { step: 'replace', how: 'not done' } },
  });
  assert.equal(
    routers.map((router) => router.held()),
    [OLD, OLD],
  );
  assert.is(outcomes[0]?.because, 'taken back, as pull2 did not take it');
});

test('when the program stops in the middle, what is not confirmed goes back', async () => {
  const { routers, outcomes } = await push(
    { core1: { kind: 'holds changes back' }, pull: { kind: 'plain' } },
    AbortSignal.abort(new Error('stopping')),
  );
  for (const router of routers) assert.equal(router.held(), OLD);
  assert.ok(outcomes.every(({ result }) => result !== 'confirmed'));
});

test('whatever goes wrong once, and wherever: all hold the new list or all hold the old one, and the outcomes say which', async () => {
  const kinds = fc.constantFrom<Kind>('holds changes back', 'has no timer', 'plain');
  const fault = fc.record<Fault>({
    step: fc.constantFrom(...STEPS),
    how: fc.constantFrom<Fault['how']>('not done', 'answer lost'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(kinds, { minLength: 1, maxLength: 5 }), fault, fc.nat(5), async (some, wrong, where) => {
      const named = some.map((kind, at): [string, Given] => [
        `r${at}`,
        at === where ? { kind, fault: wrong } : { kind },
      ]);
      const { routers, outcomes } = await push(Object.fromEntries(named));
      const contents = new Set(routers.map((router) => JSON.stringify(router.held())));
      assert.is(contents.size, 1, [...contents].join());
      const isNew = contents.has(JSON.stringify(NEW));
      for (const { result } of outcomes) assert.is(result === 'confirmed', isNew);
    }),
    { numRuns: 500 },
  );
});

test.run();
