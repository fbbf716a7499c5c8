import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemIds } from '../../src/adapters/ids.ts';
import { type Aggregate, type CommandContext, openAggregate } from '../../src/commands/aggregate.ts';
import { customerDecider, type CustomerCommand } from '../../src/commands/ip-control/customer.ts';
import type { CustomerState } from '../../src/commands/ip-control/customer-state.ts';
import { regionDecider } from '../../src/commands/ip-control/region.ts';
import { changedAddresses } from '../../src/domain/ip-control/address-ledger.ts';
import { UndecodableEvent, UnencodableEvent } from '../../src/events/codec.ts';
import { seal } from '../../src/events/hash-chain.ts';
import type { CustomerEvent } from '../../src/events/ip-control/customer.ts';
import { isRefusal } from '../../src/kernel/decider.ts';
import {
  AppendInDoubt,
  AppendTooLarge,
  type EventStore,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../src/ports/event-store.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../support/stores/embedded-log.ts';
import { plain } from '../specification.ts';
import {
  assigned,
  block,
  disable,
  disabled,
  enable,
  enabled,
  one,
  registered,
} from './ip-control/customer-examples.ts';

type Customers = Aggregate<CustomerCommand, CustomerState, CustomerEvent>;

const test = suite<{ log: EmbeddedLog }>('handle');
const context: CommandContext = { actor: 'token:t1', requestId: 'request-1' };
const STREAM = 'customer-7';

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
  await state.log.append(STREAM, registered(), assigned(1, '192.0.2.0/24'));
});
test.after.each((state) => state.log.close());

function customersOf(log: EmbeddedLog, changes: Parameters<EmbeddedLog['dependencies']>[0] = {}): Customers {
  return openAggregate(customerDecider, log.dependencies(changes));
}

async function done(answer: ReturnType<Customers['handle']>) {
  const handled = await answer;
  if (isRefusal(handled)) throw new Error(`refused: ${handled.because}`);
  return handled;
}

/** The code of a refusal, or what was recorded. */
async function outcomeOf(answer: ReturnType<Customers['handle']>): Promise<unknown> {
  const handled = await answer;
  return isRefusal(handled) ? handled.refused : handled.events.map(({ type, data }) => ({ type, data }));
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it was answered with success');
}

async function disabledNow(customers: Customers): Promise<readonly string[]> {
  const { state } = await customers.state(7);
  return state.phase === 'unregistered' ? [] : (state.ledger.get(1)?.disabled.toJSON() ?? []);
}

/** The store, with some calls of `append` going another way. */
function appending(
  store: EventStore,
  append: (next: EventStore['append'], ...call: Parameters<EventStore['append']>) => ReturnType<EventStore['append']>,
): EventStore {
  return {
    ...store,
    append: (...call) => append((stream, expected, events) => store.append(stream, expected, events), ...call),
  };
}

// One command

test('a command is recorded with who asked, on whose request, and when', async ({ log }) => {
  const { events, revision, position } = await done(customersOf(log).handle(7, disable(one('192.0.2.1')), context));
  const recorded = (await log.events(STREAM)).at(-1);
  assert.is(revision, 2n);
  assert.is(position, recorded?.position);
  assert.equal(recorded?.data, { regionId: 1, ranges: ['192.0.2.1'] });
  assert.is(recorded?.id, events[0]?.id);
  const { actor, at, schema, $correlationId, $causationId } = recorded!.metadata;
  assert.equal(
    { actor, at, schema, $correlationId, $causationId },
    {
      actor: 'token:t1',
      at: '2026-11-27T20:50:00.123+00:00',
      schema: 1,
      $correlationId: 'request-1',
      $causationId: 'request-1',
    },
  );
});

test('every event of a command says why it was asked for, where that was said', async ({ log }) => {
  const customers = customersOf(log);
  const because = { ...context, reason: 'line 1\nline 2 “DDoS”', ticket: 'NET-7' };
  await done(customers.handle(7, disable(one('192.0.2.1')), because));
  await done(customers.handle(7, disable(one('192.0.2.2')), { ...context, ticket: 'NET-8' }));
  const request = { regionId: 1, list: 'BLACKHOLE', commitSetId: 'c1', reason: 'operator' } as const;
  await done(customers.handle(7, { type: 'RequestCommit', data: request }, because));
  assert.equal(
    (await log.events(STREAM)).slice(-3).map(({ data }) => data),
    [
      { regionId: 1, ranges: ['192.0.2.1'], reason: 'line 1\nline 2 “DDoS”', ticket: 'NET-7' },
      { regionId: 1, ranges: ['192.0.2.2'], ticket: 'NET-8' },
      // Its own `reason` says what made it due.
      { ...request, attempt: 1, ticket: 'NET-7', because: 'line 1\nline 2 “DDoS”' },
    ],
  );
});

test('what is asked for again is not recorded again for another reason', async ({ log }) => {
  const customers = customersOf(log);
  await done(customers.handle(7, disable(one('192.0.2.1')), { ...context, reason: 'first' }));
  const again = await done(customers.handle(7, disable(one('192.0.2.1')), { ...context, reason: 'second' }));
  assert.equal(again.events, []);
});

test('the answer shows the state after the command', async ({ log }) => {
  const { state } = await done(customersOf(log).handle(7, disable(one('192.0.2.1')), context));
  assert.equal(state.phase === 'registered' && state.ledger.get(1)?.disabled.toJSON(), ['192.0.2.1']);
});

test('all events of one command are appended together', async ({ log }) => {
  await log.append(STREAM, assigned(2, '198.51.100.0/24', 2));
  const { events } = await done(customersOf(log).handle(7, disable(block('0.0.0.0/0')), context));
  assert.is(events.length, 2);
  assert.equal(
    (await log.events(STREAM)).slice(3).map(({ id }) => id),
    events.map(({ id }) => id),
  );
  await log.checkChain(STREAM);
});

test('nothing new, or a refusal, is recorded nowhere', async ({ log }) => {
  const customers = customersOf(log);
  assert.equal(await outcomeOf(customers.handle(7, enable(one('192.0.2.1')), context)), []);
  assert.is(await outcomeOf(customers.handle(7, enable(one('203.0.113.1')), context)), 'address-not-found');
  assert.is(await outcomeOf(customers.handle(8, enable(one('203.0.113.1')), context)), 'customer-not-found');
  assert.is((await log.events()).length, 2);
});

// Many commands at once

test('a hundred commands at once on one stream are all recorded, in the order in which they came', async ({ log }) => {
  const customers = customersOf(log);
  const texts = Array.from({ length: 100 }, (_, at) => `192.0.2.${at}`);
  const answers = await Promise.all(texts.map((text) => done(customers.handle(7, disable(one(text)), context))));
  assert.equal(
    answers.map(({ revision }) => revision),
    texts.map((_, at) => BigInt(at + 2)),
  );
  const recorded = await log.events(STREAM);
  assert.equal(
    recorded.slice(2).map(({ data }) => data),
    texts.map((text) => ({ regionId: 1, ranges: [text] })),
  );
  for (const [at, { events, position }] of answers.entries()) {
    assert.is(recorded[at + 2]?.id, events[0]?.id);
    assert.ok(position >= recorded[at + 2]!.position);
  }
  await log.checkChain(STREAM);
  assert.equal(await disabledNow(customers), ['192.0.2.0-192.0.2.99']);
});

test('of many equal commands at once one is recorded, and all are answered when it is durable', async ({ log }) => {
  const customers = customersOf(log);
  const answers = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const { events, position } = await done(customers.handle(7, disable(one('192.0.2.1')), context));
      const last = (await log.events(STREAM)).at(-1);
      assert.is(last?.revision, 2n, 'durable when answered');
      assert.is(position, last?.position, 'the position shows it');
      return events.length;
    }),
  );
  assert.equal(
    answers.filter((count) => count > 0),
    [1],
  );
});

test('two processes with fifty commands each on one stream: all are recorded, none twice', async ({ log }) => {
  const [here, there] = [customersOf(log), customersOf(log, { store: log.another() })];
  await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      done((at % 2 === 0 ? here : there).handle(7, disable(one(`192.0.2.${at}`)), context)),
    ),
  );
  assert.is((await log.events(STREAM)).length, 102);
  assert.equal(await disabledNow(here), ['192.0.2.0-192.0.2.99']);
  assert.equal(await disabledNow(there), ['192.0.2.0-192.0.2.99']);
  await log.checkChain(STREAM);
});

test('streams do not disturb each other, even when only a few are kept in memory', async ({ log }) => {
  const customers = customersOf(log, { streamsMax: 2 });
  for (const id of [8, 9, 10, 11]) await log.append(`customer-${id}`, registered(), assigned(id, '192.0.2.0/24'));
  await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      done(customers.handle(7 + (at % 5), disable(one(`192.0.2.${at}`)), context)),
    ),
  );
  for (const id of [7, 8, 9, 10, 11]) {
    const recorded = await log.events(`customer-${id}`);
    assert.is(recorded.length, 22);
    await log.checkChain(`customer-${id}`);
  }
});

test('whatever two processes do at once, each event was true when it was recorded', async ({ log }) => {
  const flip = fc.record({ isHere: fc.boolean(), isDisable: fc.boolean(), host: fc.nat(5) });
  let next = 100;
  await fc.assert(
    fc.asyncProperty(fc.array(flip, { minLength: 10, maxLength: 60, size: 'max' }), async (flips) => {
      const stream = `customer-${(next += 1)}`;
      const id = next;
      await log.append(stream, registered(), assigned(1, '192.0.2.0/24'));
      const [here, there] = [customersOf(log), customersOf(log, { store: log.another() })];
      await Promise.all(
        flips.map(({ isHere, isDisable, host }) =>
          done((isHere ? here : there).handle(id, (isDisable ? disable : enable)(one(`192.0.2.${host}`)), context)),
        ),
      );
      const off = new Set<string>();
      for (const { type, data } of (await log.events(stream)).slice(2)) {
        const [text = ''] = 'ranges' in data && Array.isArray(data.ranges) ? data.ranges.map(String) : [];
        assert.is(off.has(text), type === 'AddressesEnabled');
        if (type === 'AddressesDisabled') off.add(text);
        else off.delete(text);
      }
      await log.checkChain(stream);
      assert.equal(plain((await here.state(id)).state), plain((await there.state(id)).state));
    }),
    { numRuns: 15 },
  );
});

// Another process was first

test('a command that loses the race is decided anew', async ({ log }) => {
  const customers = customersOf(log);
  await customers.state(7);
  await log.append(STREAM, disabled(['192.0.2.1']));
  assert.equal(await outcomeOf(customers.handle(7, disable(block('192.0.2.0/30')), context)), [
    disabled(['192.0.2.0', '192.0.2.2-192.0.2.3']),
  ]);
});

test('a command that loses the race may be refused then', async ({ log }) => {
  const regions = openAggregate(regionDecider, log.dependencies());
  const router = { router: 'core1', driver: 'file', options: {} };
  await log.append('region-1', { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
  await regions.state(1);
  await log.append('region-1', { type: 'RouterAdded', data: { regionId: 1, ...router, driver: 'bird' } });
  const answer = await regions.handle(1, { type: 'AddRouter', data: router }, context);
  assert.is(isRefusal(answer) && answer.refused, 'router-name-taken');
});

test('"nothing new" is not said on a state that another process has moved on', async ({ log }) => {
  const customers = customersOf(log);
  await done(customers.handle(7, disable(one('192.0.2.1')), context));
  await log.append(STREAM, enabled(['192.0.2.1']));
  assert.equal(await outcomeOf(customers.handle(7, disable(one('192.0.2.1')), context)), [disabled(['192.0.2.1'])]);
});

test('a refusal is not given on a state that another process has moved on', async ({ log }) => {
  const customers = customersOf(log);
  assert.is(await outcomeOf(customers.handle(7, disable(one('198.51.100.1')), context)), 'address-not-found');
  await log.append(STREAM, assigned(2, '198.51.100.0/24'));
  assert.equal(await outcomeOf(customers.handle(7, disable(one('198.51.100.1')), context)), [
    disabled(['198.51.100.1']),
  ]);
});

test('"nothing new" is not said while an append of our own is about to lose against another process', async ({
  log,
}) => {
  await log.append(STREAM, disabled(['192.0.2.1']));
  const customers = customersOf(log);
  await customers.state(7);
  await log.append(STREAM, enabled(['192.0.2.1']));
  const [nothingNew, losing] = [
    outcomeOf(customers.handle(7, disable(one('192.0.2.1')), context)),
    outcomeOf(customers.handle(7, disable(one('192.0.2.9')), context)),
  ];
  assert.equal(await nothingNew, [disabled(['192.0.2.1'])]);
  assert.equal(await losing, [disabled(['192.0.2.9'])]);
  await log.checkChain(STREAM);
});

test('the state is the one that the store has now', async ({ log }) => {
  const customers = customersOf(log);
  assert.equal(await disabledNow(customers), []);
  await log.append(STREAM, disabled(['192.0.2.1']));
  assert.equal(await disabledNow(customers), ['192.0.2.1']);
  const { revision, position } = await customers.state(7);
  assert.is(revision, 2n);
  assert.is(position, (await log.events(STREAM)).at(-1)?.position);
});

test('a stream that nobody has written to has the initial state', async ({ log }) => {
  assert.equal(await customersOf(log).state(99), { state: { phase: 'unregistered' }, revision: -1n, position: -1n });
});

test('a command that never wins is given up: the store is busy beyond its bound', async ({ log }) => {
  let tries = 0;
  const store = appending(log.store, (_next, stream, expected) => {
    tries += 1;
    return Promise.reject(new WrongExpectedRevision(stream, expected, expected + 1n));
  });
  const error = await rejection(customersOf(log, { store }).handle(7, disable(one('192.0.2.1')), context));
  assert.instance(error, StoreUnavailable);
  assert.ok(tries > 5 && tries <= 20);
});

// The store fails

test('when the store fails nobody is answered with success, and nothing of it is remembered', async ({ log }) => {
  let isBroken = true;
  const store = appending(log.store, (next, ...call) =>
    isBroken ? Promise.reject(new StoreUnavailable('the disk is full')) : next(...call),
  );
  const customers = customersOf(log, { store });
  const failing = [
    customers.handle(7, disable(one('192.0.2.1')), context),
    customers.handle(7, disable(one('192.0.2.2')), context),
    customers.handle(7, disable(one('192.0.2.1')), context),
    customers.handle(7, enable(one('192.0.2.2')), context),
  ];
  for (const answer of failing) assert.instance(await rejection(answer), StoreUnavailable);
  isBroken = false;
  assert.equal(await disabledNow(customers), []);
  assert.equal(await outcomeOf(customers.handle(7, disable(one('192.0.2.1')), context)), [disabled(['192.0.2.1'])]);
  assert.is((await log.events(STREAM)).length, 3);
  await log.checkChain(STREAM);
});

/** A store whose first append waits until it is let go, and then fails or goes on. */
function holdingFirst(store: EventStore, failure?: Error) {
  let appends = 0;
  let letGo: (() => void) | undefined;
  const isHeld = new Promise<void>((resolve) => (letGo = resolve));
  let arrived: (() => void) | undefined;
  const hasArrived = new Promise<void>((resolve) => (arrived = resolve));
  return {
    hasArrived,
    letGo: () => letGo?.(),
    store: appending(store, async (next, ...call) => {
      appends += 1;
      if (appends > 1) return next(...call);
      arrived?.();
      await isHeld;
      if (failure !== undefined) throw failure;
      return next(...call);
    }),
  };
}

test('what was decided on an append that failed is decided anew', async ({ log }) => {
  const { store, hasArrived, letGo } = holdingFirst(log.store, new StoreUnavailable('no answer'));
  const customers = customersOf(log, { store });
  const failing = rejection(customers.handle(7, disable(one('192.0.2.1')), context));
  await hasArrived;
  const resting = outcomeOf(customers.handle(7, disable(block('192.0.2.0/30')), context));
  letGo();
  assert.instance(await failing, StoreUnavailable);
  assert.equal(await resting, [disabled(['192.0.2.0-192.0.2.3'])]);
  await log.checkChain(STREAM);
});

test('what was decided on an append that lost is decided anew, even where the next revision is free', async ({
  log,
}) => {
  const { store, hasArrived, letGo } = holdingFirst(log.store);
  const customers = customersOf(log, { store });
  const losing = outcomeOf(customers.handle(7, disable(one('192.0.2.1')), context));
  await hasArrived;
  const resting = outcomeOf(customers.handle(7, enable(one('192.0.2.1')), context));
  await log.append(STREAM, disabled(['192.0.2.0-192.0.2.9']));
  letGo();
  assert.equal(await losing, []);
  assert.equal(await resting, [enabled(['192.0.2.1'])]);
  assert.is((await log.events(STREAM)).length, 4);
  await log.checkChain(STREAM);
});

test('what comes while an append is under way shares the next one', async ({ log }) => {
  const { store, hasArrived, letGo } = holdingFirst(log.store);
  const sizes: number[] = [];
  const customers = customersOf(log, {
    store: appending(store, (next, ...call) => {
      sizes.push(call[2].length);
      return next(...call);
    }),
  });
  const first = done(customers.handle(7, disable(one('192.0.2.0')), context));
  await hasArrived;
  const others = Array.from({ length: 99 }, (_, at) =>
    done(customers.handle(7, disable(one(`192.0.2.${at + 1}`)), context)),
  );
  letGo();
  await Promise.all([first, ...others]);
  assert.equal(sizes, [1, 99]);
});

test('what the store does not take at once it takes in parts', async ({ log }) => {
  const store = appending(log.store, (next, stream, expected, events) =>
    events.length > 3 ? Promise.reject(new AppendTooLarge(stream, events.length, 3)) : next(stream, expected, events),
  );
  const customers = customersOf(log, { store });
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) => done(customers.handle(7, disable(one(`192.0.2.${at}`)), context))),
  );
  assert.equal(
    answers.map(({ revision }) => revision),
    Array.from({ length: 10 }, (_, at) => BigInt(at + 2)),
  );
  await log.checkChain(STREAM);
});

test('an event that can not be written fails its own command, not those beside it', async ({ log }) => {
  const customers = customersOf(log);
  const wrong: CustomerCommand = { type: 'ChangeCustomerSettings', data: { changes: { rateLimitPerMinute: -1 } } };
  const [before, failing, after, nothingNew] = [
    outcomeOf(customers.handle(7, disable(one('192.0.2.1')), context)),
    rejection(customers.handle(7, wrong, context)),
    outcomeOf(customers.handle(7, disable(one('192.0.2.2')), context)),
    outcomeOf(customers.handle(7, enable(one('192.0.2.3')), context)),
  ];
  assert.equal(await before, [disabled(['192.0.2.1'])]);
  assert.instance(await failing, UnencodableEvent);
  assert.equal(await after, [disabled(['192.0.2.2'])]);
  assert.equal(await nothingNew, []);
  await log.checkChain(STREAM);
});

test('a command that finds too many before it is refused by the store, and the others are not', async ({ log }) => {
  const { store, letGo } = holdingFirst(log.store);
  const customers = customersOf(log, { store });
  await customers.state(7);
  const commands = Array.from({ length: 10_001 }, (_, at) =>
    customers.handle(7, (at % 2 === 0 ? disable : enable)(one('192.0.2.1')), context),
  );
  assert.instance(await rejection(commands[10_000]!), StoreUnavailable);
  letGo();
  const answers = await Promise.all(commands.slice(0, 10_000).map(done));
  assert.is(answers.at(-1)?.revision, 10_001n);
});

test('an append that was recorded although its answer was lost counts as what it is', async ({ log }) => {
  let appends = 0;
  const store = appending(log.store, async (next, ...call) => {
    appends += 1;
    const appended = await next(...call);
    if (appends === 1) throw new StoreUnavailable('the answer was lost');
    return appended;
  });
  const customers = customersOf(log, { store });
  assert.instance(await rejection(customers.handle(7, disable(one('192.0.2.1')), context)), StoreUnavailable);
  assert.equal(await outcomeOf(customers.handle(7, disable(one('192.0.2.1')), context)), []);
});

test('an event that can not be written is an error, and changes nothing here either', async ({ log }) => {
  const customers = customersOf(log);
  const wrong: CustomerCommand = { type: 'ChangeCustomerSettings', data: { changes: { rateLimitPerMinute: -1 } } };
  assert.instance(await rejection(customers.handle(7, wrong, context)), UnencodableEvent);
  const { state, revision } = await customers.state(7);
  assert.is(state.phase === 'registered' && state.settings.rateLimitPerMinute, 60);
  assert.is(revision, 1n);
  assert.is((await done(customers.handle(7, disable(one('192.0.2.1')), context))).revision, 2n);
});

test('an event that the rules can not digest is an error, and changes nothing here either', async ({ log }) => {
  const customers = customersOf(log);
  const wrong: CustomerCommand = {
    type: 'AssignSubnet',
    data: { subnetId: 5, cidr: 'not a block', regionId: 1, asn: 64_500, metro: 'AMS' },
  };
  assert.match(String(await rejection(customers.handle(7, wrong, context))), 'broken invariant');
  assert.is((await customers.state(7)).revision, 1n);
  assert.is((await done(customers.handle(7, disable(one('192.0.2.1')), context))).revision, 2n);
  await log.checkChain(STREAM);
});

test('an event that does not belong into the stream stops whoever reads it', async ({ log }) => {
  await log.append(STREAM, { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
  assert.match(
    String(await rejection(customersOf(log).state(7))),
    'customer-7: an event of type RegionCreated does not belong here',
  );
});

// Time

test('the instants of a stream never run backwards, even when the clock does', async ({ log }) => {
  const customers = customersOf(log);
  await done(customers.handle(7, disable(one('192.0.2.1')), context));
  log.clock.setWallClock('2026-11-27T20:49:00Z');
  await done(customers.handle(7, disable(one('192.0.2.2')), context));
  await done(customersOf(log).handle(7, disable(one('192.0.2.3')), context));
  log.clock.setWallClock('2026-11-27T20:51:00Z');
  await done(customers.handle(7, disable(one('192.0.2.4')), context));
  assert.equal(
    (await log.events(STREAM)).slice(2).map(({ metadata }) => metadata.at.slice(11, 23)),
    ['20:50:00.123', '20:50:00.123', '20:50:00.123', '20:51:00.000'],
  );
});

// Snapshots

async function disableOneByOne(customers: Customers, from: number, to: number): Promise<void> {
  for (let host = from; host < to; host += 1) await done(customers.handle(7, disable(one(`192.0.2.${host}`)), context));
}

/** A store that counts the events it reads. */
function counting(store: EventStore): EventStore & Readonly<{ readCount: () => number }> {
  let count = 0;
  return {
    ...store,
    read: async function* (stream, after) {
      for await (const page of store.read(stream, after)) {
        count += page.length;
        yield page;
      }
    },
    readCount: () => count,
  };
}

test('a snapshot spares the reading of what came before it', async ({ log }) => {
  await disableOneByOne(customersOf(log, { snapshotEvery: 10 }), 0, 25);
  assert.ok((log.kept.get(STREAM)?.revision ?? -1n) >= 15n);
  const store = counting(log.store);
  const resumed = customersOf(log, { store, snapshotEvery: 10 });
  assert.equal(await disabledNow(resumed), ['192.0.2.0-192.0.2.24']);
  assert.ok(store.readCount() <= 12, `read ${store.readCount()} of 27`);
  await done(resumed.handle(7, disable(one('192.0.2.25')), context));
  await log.checkChain(STREAM);
  assert.equal(plain((await resumed.state(7)).state), plain((await customersOf(log).state(7)).state));
});

test('snapshots are kept under load as well, when commands never stop to come', async ({ log }) => {
  const customers = customersOf(log, { snapshotEvery: 10 });
  let isUnderLoad = true;
  const worker = async (): Promise<void> => {
    for (let round = 0; round < 100; round += 1) {
      await done(customers.handle(7, disable(block('192.0.2.0/24')), context));
      await done(customers.handle(7, enable(block('192.0.2.0/24')), context));
      // The others go on before this one stops: there is always an append under way.
      if (round === 90 && isUnderLoad) {
        isUnderLoad = false;
        assert.ok(log.kept.has(STREAM), 'a snapshot was kept');
      }
    }
  };
  await Promise.all([worker(), worker(), worker()]);
  assert.equal(plain((await customersOf(log).state(7)).state), plain((await customers.state(7)).state));
});

const SPOILT: Readonly<Record<string, (log: EmbeddedLog) => void>> = {
  'that was deleted': (log: EmbeddedLog) => void log.kept.delete(STREAM),
  'that is no JSON': (log: EmbeddedLog) => change(log, { json: '{"customerId":7,' }),
  'that is of another shape': (log: EmbeddedLog) => change(log, { json: '{"customerId":7}' }),
  'of another version': (log: EmbeddedLog) => change(log, { version: 0, json: '{}' }),
  'that is newer than the log': (log: EmbeddedLog) => change(log, { revision: 1_000n }),
  'of another history': (log: EmbeddedLog) =>
    change(log, {
      hash: 'ab'.repeat(32),
      json: (log.kept.get(STREAM)?.json ?? '').replace('"allowSynchronous":false', '"allowSynchronous":true'),
    }),
};

for (const [what, spoil] of Object.entries(SPOILT)) {
  test(`a snapshot ${what} costs time, nothing else`, async ({ log }) => {
    await disableOneByOne(customersOf(log, { snapshotEvery: 10 }), 0, 25);
    const expected = plain((await customersOf(log).state(7)).state);
    spoil(log);
    const customers = customersOf(log);
    assert.equal(plain((await customers.state(7)).state), expected);
    await done(customers.handle(7, enable(one('192.0.2.3')), context));
    await log.checkChain(STREAM);
  });
}

function change(log: EmbeddedLog, changes: object): void {
  const kept = log.kept.get(STREAM);
  assert.ok(kept !== undefined, 'there is a snapshot to spoil');
  if (kept !== undefined) log.kept.set(STREAM, { ...kept, ...changes });
}

test('a stream whose chain is broken is not decided on: the event is named', async ({ log }) => {
  const by = { actor: 'system:test', correlationId: 'x', causationId: 'x', at: log.clock.nowText() };
  const sealing = { ...by, stream: 'customer-8', ids: systemIds, schemaOf: log.codec.schemaOf };
  await log.store.append('customer-8', -1n, [
    ...seal([registered()], { ...sealing, previousHash: '' }),
    ...seal([assigned(1, '192.0.2.0/24')], { ...sealing, previousHash: 'of another event' }),
  ]);
  const customers = customersOf(log);
  for (const work of [customers.state(8), customers.handle(8, disable(one('192.0.2.1')), context)]) {
    const error = await rejection(work);
    assert.instance(error, UndecodableEvent);
    assert.match(String(error), /revision 1 of customer-8\): it does not follow/);
  }
});

test('a snapshot that can not be kept is no failure of the command', async ({ log }) => {
  const snapshots = { ...log.dependencies().snapshots, save: () => Promise.reject(new Error('the disk is full')) };
  await disableOneByOne(customersOf(log, { snapshotEvery: 5, snapshots }), 0, 12);
  assert.is((await log.events(STREAM)).length, 14);
  assert.ok(log.lines.some(({ level, message }) => level === 'warn' && message.includes('snapshot')));
});

test('a snapshot that can not be read is no failure either', async ({ log }) => {
  const snapshots = { ...log.dependencies().snapshots, load: () => Promise.reject(new Error('no such file')) };
  assert.equal(await disabledNow(customersOf(log, { snapshots })), []);
});

test('ranges of recorded events are the ones that were decided', async ({ log }) => {
  const { events } = await done(customersOf(log).handle(7, disable(block('192.0.2.0/25')), context));
  const [event] = events;
  assert.is(event?.type === 'AddressesDisabled' && changedAddresses(event.data.ranges).count(), 128n);
});

test('while nobody can say whether a change was made, nothing is answered of its stream that it could belie', async ({
  log,
}) => {
  let held: (() => Promise<unknown>) | undefined;
  let isAway = true;
  const { append } = log.store;
  const store: EventStore = {
    ...log.store,
    append: (stream, expected, events) => {
      if (!isAway) return append(stream, expected, events);
      held ??= () => append(stream, expected, events);
      return Promise.reject(new AppendInDoubt('no majority has it'));
    },
  };
  const customers = customersOf(log, { store });
  const failure = await failed(customers.handle(7, disable(one('192.0.2.1')), context));
  assert.instance(failure, AppendInDoubt);
  for (const asked of [
    () => customers.handle(7, enable(one('192.0.2.1')), context),
    () => customers.handle(7, disable(one('203.0.113.1')), context),
    () => customers.state(7),
  ])
    assert.instance(await failed(asked()), AppendInDoubt);
  // It comes into effect, as where a majority is back; then it is known.
  await held?.();
  isAway = false;
  assert.equal((await done(customers.handle(7, disable(one('192.0.2.1')), context))).events, []);
  assert.equal((await done(customers.handle(7, enable(one('192.0.2.1')), context))).events.length, 1);
  await log.checkChain(STREAM);
});

test('a change in doubt whose place another one has taken was not made, and is decided again', async ({ log }) => {
  let isFirst = true;
  const { append } = log.store;
  const store: EventStore = {
    ...log.store,
    append: (stream, expected, events) => {
      if (!isFirst) return append(stream, expected, events);
      isFirst = false;
      return Promise.reject(new AppendInDoubt('the leader is gone'));
    },
  };
  const customers = customersOf(log, { store });
  assert.instance(await failed(customers.handle(7, disable(one('192.0.2.1')), context)), AppendInDoubt);
  await done(customersOf(log).handle(7, disable(one('192.0.2.2')), context));
  assert.is((await done(customers.handle(7, disable(one('192.0.2.1')), context))).events.length, 1);
  await log.checkChain(STREAM);
});

function failed(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.run();
