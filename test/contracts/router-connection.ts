import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type PreparedChange, type RouterDriver, RouterFailure } from '../../src/ports/routers.ts';
import {
  type CuttingProxy,
  type Direction,
  startCuttingProxy,
  startSilentServer,
} from '../support/servers/cutting-proxy.ts';
import type { LabSshd } from '../support/routers/sshd.ts';
import { fails, ipv4Hosts, ipv6Sites, never } from './router-driver.ts';

/** A router that is reached over the network, and may be cut off. */
export type RemoteRouterUnderTest = Readonly<{
  /** The port on loopback that the router listens on. */
  port: number;
  /** What lets us in. */
  sshd: Pick<LabSshd, 'hang' | 'goOn' | 'started'>;
  /** A driver that connects to a port on loopback, which leads to the router. */
  openThrough: (port: number) => RouterDriver;
  withBadLogin: () => RouterDriver;
  withWrongHostKey: () => RouterDriver;
  /** Nothing is left on the router of changes that are over. */
  isClean: () => Promise<boolean>;
  stop: () => Promise<void>;
}>;

/** What every driver does that speaks to its router over a network. */
export function routerConnectionContract(name: string, start: () => Promise<RemoteRouterUnderTest>): void {
  const test = suite<{ router: RemoteRouterUnderTest; driver: RouterDriver }>(name);

  test.before(async (context) => {
    context.router = await start();
    context.driver = context.router.openThrough(context.router.port);
  });
  test.after(async ({ router, driver }) => {
    await driver?.close();
    await router?.stop();
  });

  test('a login that the router refuses', async ({ router }) => {
    await withDriver(router.withBadLogin(), async (driver) => {
      await fails('login-refused', driver.check(never));
      await fails('login-refused', driver.replace('Svc-A', ['192.0.2.0/24'], never));
    });
  });

  test('a host key that is not the pinned one: nothing is sent, no login is tried', async ({ router }) => {
    await withDriver(router.withWrongHostKey(), async (driver) => {
      const failure = await fails('host-key-mismatch', driver.check(never));
      assert.match(failure.message, /SHA256:/);
      await fails('host-key-mismatch', driver.replace('Svc-A', ['192.0.2.0/24'], never));
    });
  });

  test('a router that is not there, and then is', async ({ router }) => {
    const proxy = await startCuttingProxy(router.port);
    await proxy.stop();
    await withDriver(router.openThrough(proxy.port), async (driver) => {
      await fails('unreachable', driver.check(never));
      await fails('unreachable', driver.read('Svc-A', never));
      await fails('unreachable', driver.replace('Svc-A', ['192.0.2.0/24'], never));
    });
  });

  test('a router that takes the connection and says nothing: the signal ends the wait', async ({ router }) => {
    const silent = await startSilentServer();
    try {
      await withDriver(router.openThrough(silent.port), async (driver) => {
        const stop = new AbortController();
        const reason = new Error('enough');
        const check = driver.check(stop.signal);
        await silent.connected;
        stop.abort(reason);
        const failure = await fails('timed-out', check);
        assert.is(failure.cause, reason);
      });
    } finally {
      await silent.stop();
    }
  });

  test('what hangs on the router and heeds no signal holds up no later try, and each says what it waited for', async ({
    router: { openThrough, port, sshd },
  }) => {
    await withDriver(openThrough(port), async (driver) => {
      await driver.replace('Svc-HUNG', contentOf(0), never);
      await withDriver(openThrough(port), async (hung) => {
        await sshd.hang();
        for (let tries = 0; tries < MORE_TRIES_THAN_PLACES; tries += 1) {
          const started = await sshd.started();
          const within = AbortSignal.timeout(TRY_MILLISECONDS);
          const failure = await fails('timed-out', hung.replace('Svc-HUNG', contentOf(10), within));
          assert.match(
            failure.message,
            /had not answered( <hello>)? when the wait was stopped; no change was put in force/,
          );
          assert.is(failure.cause, within.reason);
          assert.is(await sshd.started(), started + 1, `try ${tries} is one of its own`);
        }
        await sshd.goOn();
        assert.equal(await hung.read('Svc-HUNG', never), contentOf(0));
        await hung.replace('Svc-HUNG', contentOf(10), never);
        assert.equal(await driver.read('Svc-HUNG', never), contentOf(10));
      });
    });
  });

  test('a connection that is lost between two calls is made again', async ({ router }) => {
    const proxy = await startCuttingProxy(router.port);
    await withDriver(router.openThrough(proxy.port), async (driver) => {
      await driver.replace('Svc-AGAIN', ['192.0.2.0/24'], never);
      await proxy.stop();
      await fails('unreachable', driver.read('Svc-AGAIN', never));
      const restarted = await startCuttingProxy(router.port, 'to router', Number.POSITIVE_INFINITY, proxy.port);
      try {
        assert.equal(await driver.read('Svc-AGAIN', never), ['192.0.2.0/24']);
      } finally {
        await restarted.stop();
      }
    });
  });

  for (const [what, step] of [
    ['was prepared', async () => undefined],
    ['is in force for a while', async (prepared: PreparedChange) => prepared.commit(never)],
  ] as const) {
    test(`a change that ${what} goes back when the connection is lost, and the next one works`, async ({
      router,
      driver,
    }) => {
      await driver.replace('Svc-HELD-BACK', contentOf(0), never);
      const proxy = await startCuttingProxy(router.port);
      await withDriver(router.openThrough(proxy.port), async (through) => {
        const prepared = await through.prepare?.('Svc-HELD-BACK', contentOf(15), never);
        if (prepared !== undefined) await step(prepared);
        await proxy.stop();
        await prepared?.undo();
      });
      assert.equal(await driver.read('Svc-HELD-BACK', never), contentOf(0));
      await driver.replace('Svc-HELD-BACK', contentOf(15), never);
      assert.equal(await driver.read('Svc-HELD-BACK', never), contentOf(15));
      assert.ok(await router.isClean());
    });
  }

  for (const direction of ['to router', 'from router'] as const) {
    test(`a change whose connection is cut, bytes counted ${direction}: the list is the old or the new one, and the next change works`, async ({
      router,
      driver,
    }) => {
      const [odd, even] = [contentOf(0), contentOf(15)];
      await driver.replace('Svc-CUT', odd, never);
      const bytes = await bytesOfChange(router, direction, even);
      const outcomes = new Set<string>();
      let old = even;
      for (const share of CUTS) {
        const next = old === even ? odd : even;
        const outcome = await changeThroughCut(router, direction, Math.floor(bytes * share), next);
        const found = await driver.read('Svc-CUT', never);
        assert.ok(isOneOf(found, CONTENTS[outcome](old, next)), `cut at ${share}: ${outcome}, but the list is another`);
        await driver.replace('Svc-CUT', next, never);
        assert.equal(await driver.read('Svc-CUT', never), next);
        assert.ok(await router.isClean(), `cut at ${share}: something is left on the router`);
        outcomes.add(outcome);
        old = next;
      }
      assert.ok(outcomes.has('unreachable'), [...outcomes].join());
    });
  }

  test('a change that is stopped once it was sent has an unknown outcome, and reading back waits for it', async ({
    router,
    driver,
  }) => {
    const [old, next] = [contentOf(0), contentOf(20)];
    await driver.replace('Svc-STOPPED-LATE', old, never);
    const bytes = await bytesOfChange(router, 'from router', contentOf(10));
    // Growing shares of the conversation are let through, until the stop comes after the point of no return.
    for (const share of CUTS) {
      const proxy = await startCuttingProxy(router.port, 'from router', Math.floor(bytes * share));
      const stop = new AbortController();
      const reason = new Error('the deployment takes too long');
      const failure = await withDriver(router.openThrough(proxy.port), async (through) => {
        void proxy.cut.then(() => stop.abort(reason));
        return failureOf(through.replace('Svc-STOPPED-LATE', next, stop.signal));
      });
      await proxy.stop();
      const found = await driver.read('Svc-STOPPED-LATE', never);
      assert.ok(isOneOf(found, [old, next]));
      if (failure === undefined || failure.code === 'outcome-unknown') break;
      assert.equal(found, old, `${failure.code} must mean that nothing was changed`);
    }
    await driver.replace('Svc-STOPPED-LATE', old, never);
    assert.equal(await driver.read('Svc-STOPPED-LATE', never), old);
  });

  test.run();
}

const MORE_TRIES_THAN_PLACES = 7;
/** A place is free again a few seconds after its program was let go of. */
const TRY_MILLISECONDS = 1500;

/** Places to cut at, as shares of the bytes of a whole change. */
const CUTS = [0, 0.3, 0.6, 0.75, 0.85, 0.9, 0.94, 0.97, 0.985, 0.995];

/** What a list may hold after an outcome. */
const CONTENTS = {
  unreachable: (old: readonly string[], _next: readonly string[]) => [old],
  'outcome-unknown': (old: readonly string[], next: readonly string[]) => [old, next],
  done: (_old: readonly string[], next: readonly string[]) => [next],
} as const;

async function withDriver<T>(driver: RouterDriver, work: (driver: RouterDriver) => Promise<T>): Promise<T> {
  try {
    return await work(driver);
  } finally {
    await driver.close();
  }
}

function contentOf(from: number): readonly string[] {
  return [...ipv4Hosts(30, from), ...ipv6Sites(30, from)];
}

/** How many bytes a whole change sends in one direction, login and all. */
async function bytesOfChange(
  router: RemoteRouterUnderTest,
  direction: Direction,
  prefixes: readonly string[],
): Promise<number> {
  const proxy = await startCuttingProxy(router.port);
  await withDriver(router.openThrough(proxy.port), (driver) => driver.replace('Svc-CUT', prefixes, never));
  await proxy.stop();
  return proxy.passed[direction];
}

async function changeThroughCut(
  router: RemoteRouterUnderTest,
  direction: Direction,
  bytes: number,
  prefixes: readonly string[],
): Promise<keyof typeof CONTENTS> {
  const proxy: CuttingProxy = await startCuttingProxy(router.port, direction, bytes);
  try {
    return await withDriver(router.openThrough(proxy.port), async (driver) => {
      const failure = await failureOf(driver.replace('Svc-CUT', prefixes, never));
      // A list that is in force and could not be saved is there.
      if (failure === undefined || failure.code === 'not-saved') return 'done';
      if (failure.code === 'unreachable' || failure.code === 'outcome-unknown') return failure.code;
      throw failure;
    });
  } finally {
    await proxy.stop();
  }
}

async function failureOf(call: Promise<unknown>): Promise<RouterFailure | undefined> {
  try {
    await call;
    return undefined;
  } catch (failure) {
    if (failure instanceof RouterFailure) return failure;
    throw failure;
  }
}

function isOneOf(found: readonly string[] | 'absent', contents: readonly (readonly string[])[]): boolean {
  return contents.some((content) => JSON.stringify(content) === JSON.stringify(found));
}
