import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RouterDriver, RouterFailure, type RouterFailureCode } from '../../src/ports/routers.ts';

/** A router that the contract may do anything to. */
export type RouterUnderTest = Readonly<{
  /** A driver of its own for the router. */
  open: () => RouterDriver;
  /** How many entries of one IP version the router takes in the time that a test may last. */
  capacity: number;
  /** How many random histories are tried. */
  runs: number;
  /** Puts entries under a list's name that the driver would never write, by the router's own means. */
  plantForeign: (list: string) => Promise<void>;
  /** What is another number after each change that the router was sent, such as how many those were. */
  changes: () => Promise<number>;
  stop: () => Promise<void>;
}>;

export const never = new AbortController().signal;

/** What every driver does, whatever it speaks. */
export function routerDriverContract(name: string, start: () => Promise<RouterUnderTest>): void {
  const test = suite<{ router: RouterUnderTest; driver: RouterDriver }>(name);

  test.before(async (context) => {
    context.router = await start();
    context.driver = context.router.open();
  });
  test.after(async ({ router, driver }) => {
    await driver?.close();
    await router?.stop();
  });

  test('a router that is there and may be written passes the check', async ({ driver, router }) => {
    const before = await router.changes();
    await driver.check(never);
    assert.is(await router.changes(), before);
  });

  test('a list that nobody made is absent', async ({ driver }) => {
    assert.is(await driver.read('Svc-NOBODY-BLACKHOLE', never), 'absent');
  });

  test('one entry', async ({ driver }) => {
    await driver.replace('Svc-ONE', ['192.0.2.7/32'], never);
    assert.equal(await driver.read('Svc-ONE', never), ['192.0.2.7/32']);
  });

  test('both IP versions, in canonical text and numeric order whatever the order given, every prefix once', async ({
    driver,
  }) => {
    const given = ['2001:DB8:0::/48', '198.51.100.0/24', '10.0.0.0/8', '9.0.0.0/8', '198.51.100.0/24', '2001:db8::/48'];
    await driver.replace('Svc-BOTH', given, never);
    assert.equal(await driver.read('Svc-BOTH', never), ['9.0.0.0/8', '10.0.0.0/8', '198.51.100.0/24', '2001:db8::/48']);
  });

  test('the extremes: all of it, the first and last hosts, IPv4-mapped addresses, nested blocks', async ({
    driver,
  }) => {
    const extremes = [
      '0.0.0.0/0',
      '0.0.0.0/32',
      '10.0.0.0/8',
      '10.0.0.0/9',
      '10.0.0.0/32',
      '255.255.255.255/32',
      '::/0',
      '::/128',
      '::ffff:10.0.0.0/104',
      '::ffff:10.0.0.1/128',
      '2001:db8::/32',
      'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128',
    ];
    await driver.replace('Svc-EXTREMES', extremes, never);
    assert.equal(await driver.read('Svc-EXTREMES', never), extremes);
  });

  test('what counts the changes sees each: without it nothing below could tell that none was sent', async ({
    driver,
    router,
  }) => {
    for (const prefixes of [['192.0.2.0/24'], ['192.0.2.0/25']]) {
      const before = await router.changes();
      await driver.replace('Svc-COUNTED', prefixes, never);
      assert.is.not(await router.changes(), before);
    }
    const before = await router.changes();
    await driver.remove('Svc-COUNTED', never);
    assert.is.not(await router.changes(), before);
  });

  test('equal content is not sent again', async ({ driver, router }) => {
    await driver.replace('Svc-EQUAL', ['192.0.2.0/24', '2001:db8::/48'], never);
    const before = await router.changes();
    await driver.replace('Svc-EQUAL', ['2001:db8::/48', '192.0.2.0/24'], never);
    assert.is(await router.changes(), before);
  });

  test('emptied, a list holds nothing; emptying it again sends nothing', async ({ driver, router }) => {
    await driver.replace('Svc-EMPTIED', ['192.0.2.0/24', '2001:db8::/48'], never);
    await driver.replace('Svc-EMPTIED', [], never);
    assert.is(entriesOf(await driver.read('Svc-EMPTIED', never)).length, 0);
    const before = await router.changes();
    await driver.replace('Svc-EMPTIED', [], never);
    assert.is(await router.changes(), before);
    await driver.replace('Svc-EMPTIED', ['192.0.2.0/25'], never);
    assert.equal(await driver.read('Svc-EMPTIED', never), ['192.0.2.0/25']);
  });

  test('one IP version goes, the other stays', async ({ driver }) => {
    await driver.replace('Svc-HALF', ['192.0.2.0/24', '2001:db8::/48'], never);
    await driver.replace('Svc-HALF', ['2001:db8::/48'], never);
    assert.equal(await driver.read('Svc-HALF', never), ['2001:db8::/48']);
    await driver.replace('Svc-HALF', ['192.0.2.0/24'], never);
    assert.equal(await driver.read('Svc-HALF', never), ['192.0.2.0/24']);
  });

  test('300 entries of each version, then 30 of them changed', async ({ driver }) => {
    const first = [...ipv4Hosts(300), ...ipv6Sites(300)];
    await driver.replace('Svc-300', first, never);
    assert.equal(await driver.read('Svc-300', never), first);
    const second = [...ipv4Hosts(300, 15), ...ipv6Sites(300, 15)];
    await driver.replace('Svc-300', second, never);
    assert.equal(await driver.read('Svc-300', never), second);
  });

  test('as many entries as the router takes, then none of them, then all', async ({ driver, router }) => {
    const all = ipv4Hosts(router.capacity);
    await driver.replace('Svc-FULL', all, never);
    assert.equal(await driver.read('Svc-FULL', never), all);
    await driver.replace('Svc-FULL', ipv4Hosts(3, router.capacity), never);
    assert.equal(await driver.read('Svc-FULL', never), ipv4Hosts(3, router.capacity));
    await driver.replace('Svc-FULL', all, never);
    assert.equal(await driver.read('Svc-FULL', never), all);
  });

  test('any content follows any other', async ({ driver, router }) => {
    const pool = [...ipv4Hosts(12), '10.0.0.0/24', '10.0.0.0/8', ...ipv6Sites(12), '2001:db8::/32'];
    const contents = fc.array(fc.subarray(pool), { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(contents, async (steps) => {
        for (const step of steps) {
          await driver.replace('Svc-ANY', step, never);
          assert.equal(new Set(entriesOf(await driver.read('Svc-ANY', never))), new Set(step));
        }
      }),
      { numRuns: router.runs },
    );
  });

  test('another list stays as it is, also one whose name begins the same', async ({ driver }) => {
    await driver.replace('Svc-OTHER', ['192.0.2.0/24'], never);
    await driver.replace('Svc-OTHER-2', ['198.51.100.0/24', '2001:db8::/48'], never);
    await driver.replace('Svc-OTHER', [], never);
    assert.equal(await driver.read('Svc-OTHER-2', never), ['198.51.100.0/24', '2001:db8::/48']);
  });

  test('entries that are not ours are seen as a difference, and removed', async ({ driver, router }) => {
    const ours = ['192.0.2.0/24', '203.0.113.0/24', '2001:db8::/48'];
    await driver.replace('Svc-FOREIGN', ours, never);
    await router.plantForeign('Svc-FOREIGN');
    assert.not.equal(await readAnyway(driver, 'Svc-FOREIGN'), ours);
    await driver.replace('Svc-FOREIGN', ours, never);
    assert.equal(await driver.read('Svc-FOREIGN', never), ours);
  });

  test('entries that are not ours go with an empty list, too', async ({ driver, router }) => {
    await router.plantForeign('Svc-FOREIGN-ONLY');
    await driver.replace('Svc-FOREIGN-ONLY', [], never);
    assert.is(entriesOf(await driver.read('Svc-FOREIGN-ONLY', never)).length, 0);
  });

  test('a list that is removed is absent; removing it again, or one that nobody made, sends nothing', async ({
    driver,
    router,
  }) => {
    await driver.replace('Svc-REMOVED', ['192.0.2.0/24', '2001:db8::/48'], never);
    await driver.replace('Svc-REMOVED-NOT', ['192.0.2.0/24'], never);
    await driver.remove('Svc-REMOVED', never);
    assert.is(await driver.read('Svc-REMOVED', never), 'absent');
    assert.equal(await driver.read('Svc-REMOVED-NOT', never), ['192.0.2.0/24']);
    const before = await router.changes();
    await driver.remove('Svc-REMOVED', never);
    await driver.remove('Svc-NEVER-MADE', never);
    assert.is(await router.changes(), before);
    await driver.replace('Svc-REMOVED', ['198.51.100.0/24'], never);
    assert.equal(await driver.read('Svc-REMOVED', never), ['198.51.100.0/24']);
  });

  test('the names of the lists are told, sorted, also of what others have put under our prefix', async ({
    driver,
    router,
  }) => {
    await driver.replace('Svc-NAMES-2', ['192.0.2.0/24'], never);
    await driver.replace('Svc-NAMES-1', ['2001:db8::/48'], never);
    await router.plantForeign('Svc-NAMES-3');
    const named = async (): Promise<readonly string[]> =>
      (await driver.lists(never)).filter((list) => list.startsWith('Svc-NAMES'));
    assert.equal(await named(), ['Svc-NAMES-1', 'Svc-NAMES-2', 'Svc-NAMES-3']);
    const before = await router.changes();
    const all = await driver.lists(never);
    assert.equal(all, [...all].sort());
    assert.is(await router.changes(), before);
    for (const list of await named()) await driver.remove(list, never);
    assert.equal(await named(), []);
  });

  test('a name may begin with "_" after our prefix', async ({ driver }) => {
    await driver.replace('Svc-_UNDERLINE', ['192.0.2.0/24'], never);
    assert.equal(await driver.read('Svc-_UNDERLINE', never), ['192.0.2.0/24']);
    assert.ok((await driver.lists(never)).includes('Svc-_UNDERLINE'));
    await driver.remove('Svc-_UNDERLINE', never);
    assert.is(await driver.read('Svc-_UNDERLINE', never), 'absent');
  });

  for (const [what, before] of [
    ['a list that is there', ['192.0.2.0/24', '2001:db8::/48']],
    ['a list that nobody made', 'absent'],
  ] as const) {
    test(`${what}: a prepared change is not in force; taken back, the list is what it was`, async ({ driver }) => {
      const list = `Svc-PREPARED-${before.length}`;
      if (before !== 'absent') await driver.replace(list, before, never);
      const prepared = await driver.prepare?.(list, ['198.51.100.0/24'], never);
      if (prepared === undefined) return;
      assert.equal(prepared.before, before);
      assert.equal(await prepared.read(never), before);
      await prepared.undo();
      assert.equal(await driver.read(list, never), before);
    });

    test(`${what}: in force for a while and taken back, it is what it was; kept, it is what it was to be`, async ({
      driver,
    }) => {
      const list = `Svc-TRIED-${before.length}`;
      if (before !== 'absent') await driver.replace(list, before, never);
      const tried = await driver.prepare?.(list, ['198.51.100.0/24'], never);
      if (tried === undefined) return;
      await tried.commit(never);
      assert.equal(await tried.read(never), ['198.51.100.0/24']);
      await tried.undo();
      assert.equal(await driver.read(list, never), before);
      const kept = await driver.prepare?.(list, ['198.51.100.0/24'], never);
      await kept?.commit(never);
      await kept?.confirm(never);
      await kept?.undo();
      assert.equal(await driver.read(list, never), ['198.51.100.0/24']);
    });
  }

  test('a prepared change to what the list holds already sends nothing', async ({ driver, router }) => {
    await driver.replace('Svc-PREPARED-EQUAL', ['192.0.2.0/24'], never);
    const before = await router.changes();
    const prepared = await driver.prepare?.('Svc-PREPARED-EQUAL', ['192.0.2.0/24'], never);
    await prepared?.commit(never);
    await prepared?.confirm(never);
    assert.is(await router.changes(), before);
    assert.equal(await driver.read('Svc-PREPARED-EQUAL', never), ['192.0.2.0/24']);
  });

  test('other changes wait for the end of a prepared one, and a closing driver does, too', async ({
    driver,
    router,
  }) => {
    const second = router.open();
    const prepared = await second.prepare?.('Svc-PREPARED-FIRST', ['192.0.2.0/24'], never);
    const next = begun(second.replace('Svc-PREPARED-NEXT', ['192.0.2.0/24'], never));
    const closing = begun(second.close());
    await prepared?.commit(never);
    await prepared?.confirm(never);
    await Promise.all([next, closing]);
    const entries = prepared === undefined ? 'absent' : ['192.0.2.0/24'];
    assert.equal(await driver.read('Svc-PREPARED-FIRST', never), entries);
    assert.equal(await driver.read('Svc-PREPARED-NEXT', never), ['192.0.2.0/24']);
  });

  for (const list of [
    'CUSTOMER-LIST',
    'svc-acme',
    'Svc-',
    'Svc--A',
    'Svc-../etc',
    'Svc-A/B',
    'Svc-A B',
    "Svc-A'",
    'Svc-A\n',
    `Svc-${'A'.repeat(125)}`,
  ]) {
    test(`the list ${JSON.stringify(list.slice(0, 20))} is not ours and is not touched`, async ({ driver, router }) => {
      const before = await router.changes();
      await fails('not-permitted', driver.replace(list, ['192.0.2.0/24'], never));
      await fails('not-permitted', driver.read(list, never));
      await fails('not-permitted', driver.remove(list, never));
      assert.is(await router.changes(), before);
    });
  }

  test('the longest name', async ({ driver }) => {
    const longest = `Svc-${'A'.repeat(124)}`;
    await driver.replace(longest, ['192.0.2.0/24'], never);
    assert.equal(await driver.read(longest, never), ['192.0.2.0/24']);
  });

  for (const prefix of [
    '192.0.2.1/24',
    '010.0.0.0/8',
    '192.0.2.0',
    '192.0.2.0/33',
    '2001:db8::/129',
    '192.0.2.0/24 le 32',
    'any',
    '',
  ]) {
    test(`${JSON.stringify(prefix)} is no prefix and is not sent`, async ({ driver, router }) => {
      const before = await router.changes();
      await fails('rejected', driver.replace('Svc-BAD-PREFIX', ['198.51.100.0/24', prefix], never));
      assert.is(await router.changes(), before);
      assert.is(await driver.read('Svc-BAD-PREFIX', never), 'absent');
    });
  }

  test('changes of several lists at once all arrive', async ({ driver }) => {
    const lists = Array.from({ length: 5 }, (_, at) => `Svc-AT-ONCE-${at}`);
    await Promise.all(lists.map((list, at) => driver.replace(list, ipv4Hosts(20, at * 20), never)));
    for (const [at, list] of lists.entries()) assert.equal(await driver.read(list, never), ipv4Hosts(20, at * 20));
  });

  test('changes of one list at once: the last one given is what it holds', async ({ driver }) => {
    await Promise.all([1, 2, 3].map((count) => driver.replace('Svc-LAST', ipv4Hosts(count), never)));
    assert.equal(await driver.read('Svc-LAST', never), ipv4Hosts(3));
  });

  test('two drivers change two lists of one router at once', async ({ driver, router }) => {
    const second = router.open();
    try {
      await Promise.all([
        driver.replace('Svc-FIRST-DRIVER', ipv4Hosts(100), never),
        second.replace('Svc-SECOND-DRIVER', ipv4Hosts(100, 100), never),
      ]);
      assert.equal(await second.read('Svc-FIRST-DRIVER', never), ipv4Hosts(100));
      assert.equal(await driver.read('Svc-SECOND-DRIVER', never), ipv4Hosts(100, 100));
    } finally {
      await second.close();
    }
  });

  test('stopped before it began, a change fails as timed-out and is not sent', async ({ driver, router }) => {
    const reason = new Error('the deployment was stopped');
    const before = await router.changes();
    const failure = await fails(
      'timed-out',
      driver.replace('Svc-STOPPED', ['192.0.2.0/24'], AbortSignal.abort(reason)),
    );
    assert.is(failure.cause, reason);
    await fails('timed-out', driver.read('Svc-STOPPED', AbortSignal.abort(reason)));
    await fails('timed-out', driver.check(AbortSignal.abort(reason)));
    assert.is(await router.changes(), before);
    assert.is(await driver.read('Svc-STOPPED', never), 'absent');
  });

  test('stopped while it waits behind another change, a change is not sent', async ({ driver }) => {
    const stop = new AbortController();
    const first = begun(driver.replace('Svc-AHEAD', ipv4Hosts(100), never));
    const second = begun(driver.replace('Svc-BEHIND', ipv4Hosts(1), stop.signal));
    stop.abort();
    await fails('timed-out', second);
    await first;
    assert.is(await driver.read('Svc-BEHIND', never), 'absent');
    assert.equal(await driver.read('Svc-AHEAD', never), ipv4Hosts(100));
  });

  test('a closed driver does nothing any more', async ({ router }) => {
    const driver = router.open();
    await driver.check(never);
    await driver.close();
    await driver.close();
    await fails('unreachable', driver.read('Svc-ONE', never));
    await fails('unreachable', driver.replace('Svc-ONE', [], never));
    await fails('unreachable', driver.check(never));
  });

  test('closing waits for what runs', async ({ driver, router }) => {
    const second = router.open();
    const change = begun(second.replace('Svc-CLOSING', ipv4Hosts(50), never));
    await second.close();
    assert.equal(await driver.read('Svc-CLOSING', never), ipv4Hosts(50));
    await change;
  });

  test.run();
}

/** Expects a RouterFailure with the given code, whose message says something. */
export async function fails(code: RouterFailureCode, call: Promise<unknown>): Promise<RouterFailure> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof RouterFailure)) {
    throw new Error(`expected the failure ${code}, got ${outcome instanceof Error ? outcome.stack : 'a success'}`);
  }
  assert.is(outcome.code, code, outcome.message);
  assert.ok(outcome.message.length > 10);
  return outcome;
}

/** A call that is waited for later: until then its failure is no end of the whole suite. */
function begun<T>(call: Promise<T>): Promise<T> {
  call.catch(() => undefined);
  return call;
}

/** Hosts from 10.0.0.0 on, one after the other: no two of them could be one block with others left out. */
export function ipv4Hosts(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const host = from + at;
    return `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}/32`;
  });
}

export function ipv6Sites(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, at) => `2001:db8:${(from + at + 1).toString(16)}::/48`);
}

/** What is read, with nothing for a list that is absent. */
export function entriesOf(read: readonly string[] | 'absent'): readonly string[] {
  return read === 'absent' ? [] : read;
}

/** For lists that may hold what a driver can't put into its answer at all. */
async function readAnyway(driver: RouterDriver, list: string): Promise<unknown> {
  try {
    return await driver.read(list, never);
  } catch (failure) {
    if (failure instanceof RouterFailure && failure.code === 'unreadable-answer') return failure.code;
    throw failure;
  }
}
