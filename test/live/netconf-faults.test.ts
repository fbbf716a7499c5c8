import { suite, test } from 'uvu';
import * as assert from 'uvu/assert';
import type { NetconfSession } from '../../src/adapters/routers/netconf/netconf-session.ts';
import {
  cancelCommit,
  COMMIT,
  commitForNow,
  editCandidate,
  LOCK_CANDIDATE,
  UNLOCK_CANDIDATE,
} from '../../src/adapters/routers/netconf/operations.ts';
import type { RouterDriver } from '../../src/ports/routers.ts';
import { fails, ipv4Hosts, never } from '../contracts/router-driver.ts';
import { type LabNetconfd, missingForNetconfd, openNetconf, startNetconfd } from '../support/routers/netconfd.ts';
import { configure, foreignJunos, isSettled } from '../support/routers/netconfd-contract.ts';

const missing = missingForNetconfd();
const [OLD, NEXT] = [ipv4Hosts(20), ipv4Hosts(20, 10)];

if (missing === undefined) {
  type Context = { router: LabNetconfd; driver: RouterDriver };
  const netconf = suite<Context>('a real NETCONF server when things go wrong');

  netconf.before(async (context) => {
    context.router = await startNetconfd();
    context.driver = openNetconf('junos', context.router, { lock_seconds: '1' });
  });
  netconf.after(async ({ driver, router }) => {
    await driver?.close();
    await router?.stop();
  });

  /** Another client, which is gone when the test is over. */
  const beside = (name: string, work: (context: Context & { other: NetconfSession }) => Promise<void>): void =>
    netconf(name, async (context) => {
      const other = await context.router.session();
      try {
        await work({ ...context, other });
      } finally {
        other.destroy();
      }
      assert.ok(await isSettled(context.router), 'something is left');
    });

  beside(
    'a lock that somebody else holds: the holder is named, nothing is changed, and reading goes on',
    async ({ router, driver, other }) => {
      await driver.replace('Svc-LOCKED', OLD, never);
      const before = await router.changes();
      await other.call(LOCK_CANDIDATE, never);
      const failure = await fails('locked', driver.replace('Svc-LOCKED', NEXT, never));
      assert.match(failure.message, /not to be had after 1 s: session \d+ \(root from 127\.0\.0\.1\) has locked it/);
      assert.match((await fails('locked', driver.check(never))).message, /root from 127\.0\.0\.1/);
      assert.equal(await driver.read('Svc-LOCKED', never), OLD);
      assert.is(await router.changes(), before);
      await other.call(UNLOCK_CANDIDATE, never);
      await driver.replace('Svc-LOCKED', NEXT, never);
    },
  );

  beside('a lock that somebody gives back in time is waited for', async ({ router, other }) => {
    const patient = openNetconf('junos', router, { lock_seconds: '60' });
    await other.call(LOCK_CANDIDATE, never);
    const change = patient.replace('Svc-PATIENT', OLD, never);
    await other.call(editCandidate(foreignJunos('CUSTOMER-OWN'), true), never);
    await other.call(COMMIT, never);
    await other.call(UNLOCK_CANDIDATE, never);
    await change;
    assert.equal(await patient.read('Svc-PATIENT', never), OLD);
    await patient.close();
  });

  beside('waiting for a lock ends with the signal', async ({ router, other }) => {
    const patient = openNetconf('junos', router, { lock_seconds: '60' });
    await other.call(LOCK_CANDIDATE, never);
    const stop = new AbortController();
    const reason = new Error('enough');
    const change = fails('timed-out', patient.replace('Svc-STOPPED', OLD, stop.signal));
    stop.abort(reason);
    assert.is((await change).cause, reason);
    await patient.close();
  });

  beside(
    'a driver that is new to the router does not believe what it reads while somebody keeps the lock',
    async ({ router, other }) => {
      const young = openNetconf('junos', router, { lock_seconds: '0' });
      await other.call(LOCK_CANDIDATE, never);
      await fails('locked', young.read('Svc-LOCKED', never));
      await other.call(UNLOCK_CANDIDATE, never);
      await young.read('Svc-LOCKED', never);
      await other.call(LOCK_CANDIDATE, never);
      await young.read('Svc-LOCKED', never);
      await young.close();
    },
  );

  beside(
    'changes that somebody has left in the candidate are not thrown away, unless an option says so',
    async ({ router, driver, other }) => {
      await driver.replace('Svc-DIRTY', OLD, never);
      await other.call(editCandidate(foreignJunos('CUSTOMER-OWN'), false), never);
      const failure = await fails('locked', driver.replace('Svc-DIRTY', NEXT, never));
      assert.match(failure.message, /somebody has left changes in it without a commit \(option discard_foreign/);
      assert.equal(await driver.read('Svc-DIRTY', never), OLD);
      const ruthless = openNetconf('junos', router, { discard_foreign: 'true' });
      await ruthless.replace('Svc-DIRTY', NEXT, never);
      assert.equal(await ruthless.read('Svc-DIRTY', never), NEXT);
      await ruthless.close();
    },
  );

  for (const [what, call] of [
    ['reads', (driver: RouterDriver) => driver.read('Svc-PENDING', never)],
    ['changes', (driver: RouterDriver) => driver.replace('Svc-PENDING', OLD, never)],
    ['checks', (driver: RouterDriver) => driver.check(never)],
  ] as const) {
    beside(
      `a commit of a process that has died is taken back by whoever ${what} next`,
      async ({ router, driver, other }) => {
        await driver.replace('Svc-PENDING', OLD, never);
        await other.call(LOCK_CANDIDATE, never);
        await other.call(editCandidate(foreignJunos('Svc-PENDING'), true), never);
        await other.call(commitForNow(600, 'edgeward'), never);
        other.destroy();
        const young = openNetconf('junos', router);
        await call(young);
        assert.equal(await young.read('Svc-PENDING', never), OLD);
        await young.close();
      },
    );
  }

  beside(
    'a commit of somebody else that waits for its confirmation is left alone',
    async ({ driver, other, router }) => {
      await driver.replace('Svc-THEIRS', OLD, never);
      await other.call(LOCK_CANDIDATE, never);
      await other.call(editCandidate(foreignJunos('CUSTOMER-OWN-2'), true), never);
      await other.call(commitForNow(600, 'somebody'), never);
      other.destroy();
      const failure = await fails('locked', driver.replace('Svc-THEIRS', NEXT, never));
      assert.match(failure.message, 'a commit of somebody else waits for its confirmation');
      const third = await router.session();
      await third.call(cancelCommit('somebody'), never);
      third.destroy();
      await driver.replace('Svc-THEIRS', NEXT, never);
    },
  );

  beside('two edgewards on one router, each with lists of its own', async ({ router }) => {
    const drivers = [1, 2, 3].map(() => openNetconf('junos', router, { lock_seconds: '60' }));
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        drivers.map((driver, at) => driver.replace(`Svc-MANY-${at}`, ipv4Hosts(10, at * 10 + round), never)),
      );
      for (const [at, driver] of drivers.entries())
        assert.equal(await driver.read(`Svc-MANY-${at}`, never), ipv4Hosts(10, at * 10 + round));
    }
    for (const driver of drivers) await driver.close();
  });

  beside('what somebody edits by hand is seen, and replaced', async ({ router, driver }) => {
    await driver.replace('Svc-BY-HAND', OLD, never);
    await configure(router, foreignJunos('Svc-BY-HAND'));
    const seen = await driver.read('Svc-BY-HAND', never);
    assert.ok(seen !== 'absent' && seen.includes('10.1.2.3/8') && seen.includes('apply-path interfaces <*>'));
    await driver.replace('Svc-BY-HAND', OLD, never);
    assert.equal(await driver.read('Svc-BY-HAND', never), OLD);
  });

  netconf('a server that dies, and comes back with what it has saved', async ({ router, driver }) => {
    await driver.replace('Svc-REBOOT', OLD, never);
    await router.kill();
    await fails('unreachable', driver.read('Svc-REBOOT', never));
    await fails('unreachable', driver.replace('Svc-REBOOT', NEXT, never));
    await router.start();
    assert.equal(await driver.read('Svc-REBOOT', never), OLD);
    await driver.replace('Svc-REBOOT', NEXT, never);
    assert.equal(await driver.read('Svc-REBOOT', never), NEXT);
  });

  netconf(
    'a server that loses an edit between its validation and its commit: it is seen before the confirmation',
    async ({ router, driver }) => {
      // netconfd does so, and answers ok to all of it.
      await driver.replace('Svc-VALIDATED', OLD, never);
      const careful = openNetconf('junos', router, { validation: 'before-commit' });
      const failure = await fails('rejected', careful.replace('Svc-VALIDATED', NEXT, never));
      assert.match(failure.message, /after a change to 20 that the router answered with ok; it was taken back/);
      assert.equal(await driver.read('Svc-VALIDATED', never), OLD);
      await careful.close();
    },
  );

  netconf.run();

  test('a server that does not know the model refuses the change, and holds nothing', async () => {
    const router = await startNetconfd({ modules: ['openconfig-shaped-routing-policy'] });
    for (const validation of ['with-edit', 'none']) {
      const driver = openNetconf('junos', router, { validation });
      assert.match((await fails('rejected', driver.replace('Svc-A', OLD, never))).message, 'unknown-namespace');
      assert.is(await driver.read('Svc-A', never), 'absent');
      await driver.close();
    }
    await router.stop();
  });

  test('a user who may read but not write', async () => {
    const router = await startNetconfd({ accessControl: 'enforcing', superuser: 'nobody' });
    const driver = openNetconf('junos', router);
    const failure = await fails('not-permitted', driver.replace('Svc-A', OLD, never));
    assert.match(failure.message, 'access-denied');
    await driver.close();
    await router.stop();
  });

  test('a server whose startup configuration is one of its own: what was changed is saved', async () => {
    const router = await startNetconfd({ startup: true });
    const driver = openNetconf('junos', router);
    await driver.replace('Svc-SAVED', OLD, never);
    await router.kill();
    await router.start();
    assert.equal(await driver.read('Svc-SAVED', never), OLD);
    await driver.close();
    await router.stop();
  });
} else {
  console.log(`skipped: a real NETCONF server when things go wrong, as this machine has no ${missing}`);
  test.skip('a real NETCONF server when things go wrong');
}

test.run();
