import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RouterDriver } from '../../../../src/ports/routers.ts';
import { fails, ipv4Hosts, never } from '../../../contracts/router-driver.ts';
import {
  CANDIDATE,
  CONFIRMED_1_0,
  CONFIRMED_1_1,
  NETCONF_1_0,
  NETCONF_1_1,
  type NetconfStandIn,
  openStandIn,
  refusal,
  STARTUP,
  type StandInBehaviour,
  startNetconfStandIn,
  VALIDATE,
} from '../../../support/routers/netconf-stand-in.ts';

const LIST = 'Svc-A';
const [OLD, NEXT] = [ipv4Hosts(3), ipv4Hosts(4)];
const EVERYTHING = [NETCONF_1_0, NETCONF_1_1, CANDIDATE, CONFIRMED_1_0, CONFIRMED_1_1, VALIDATE];
const OUTSIDE = 'Svc-A was sent, but its outcome was not seen';

type Given = Partial<StandInBehaviour> & Readonly<{ options?: Readonly<Record<string, string>> }>;
type Context = {
  start: (given?: Given) => Promise<Readonly<{ router: NetconfStandIn; driver: RouterDriver }>>;
  ends: (() => Promise<void>)[];
};

const netconf = suite<Context>('NETCONF driver, on a stand-in');

netconf.before.each((context) => {
  context.ends = [];
  context.start = async ({ options, ...behaviour } = {}) => {
    const router = await startNetconfStandIn({ capabilities: EVERYTHING, ...behaviour });
    const driver = openStandIn(router, options);
    context.ends.push(driver.close, router.stop);
    return { router, driver };
  };
});
netconf.after.each(async ({ ends }) => {
  for (const end of ends) await end();
});

netconf('the sequence of a change', async ({ start }) => {
  const { router, driver } = await start();
  await driver.replace(LIST, OLD, never);
  assert.equal(router.operations(), [
    'lock',
    'cancel-commit',
    'get-config',
    'discard-changes',
    'edit-config',
    'commit confirmed',
    'get-config',
    'commit',
    'unlock',
  ]);
  assert.equal(router.running(LIST), OLD);
});

netconf('equal content: looked at under the lock, nothing more', async ({ start }) => {
  const { router, driver } = await start();
  await driver.replace(LIST, OLD, never);
  const before = router.operations().length;
  await driver.replace(LIST, OLD, never);
  assert.equal(router.operations().slice(before), ['lock', 'cancel-commit', 'get-config', 'unlock']);
});

netconf('reading: under the lock, so that nothing that it shows is going to be taken back', async ({ start }) => {
  const { router, driver } = await start();
  assert.is(await driver.read(LIST, never), 'absent');
  assert.equal(router.operations(), ['lock', 'cancel-commit', 'get-config', 'unlock']);
});

netconf(
  'an old Junos: without names for commits that wait, the session that made them is what keeps them',
  async ({ start }) => {
    const { router, driver } = await start({
      capabilities: ['base:1.0', 'capability:candidate:1.0', 'capability:confirmed-commit:1.0'].map(
        (name) => `urn:ietf:params:xml:ns:netconf:${name}`,
      ),
    });
    await driver.replace(LIST, OLD, never);
    assert.equal(await driver.read(LIST, never), OLD);
    assert.equal(router.operations(), [
      'lock',
      'get-config',
      'discard-changes',
      'edit-config',
      'commit confirmed',
      'get-config',
      'commit',
      'unlock',
      'get-config',
    ]);
  },
);

netconf('a router that offers no commit that waits', async ({ start }) => {
  const { router, driver } = await start({ capabilities: [NETCONF_1_0, NETCONF_1_1, CANDIDATE] });
  await driver.replace(LIST, OLD, never);
  assert.equal(router.operations(), ['lock', 'get-config', 'discard-changes', 'edit-config', 'commit', 'unlock']);
});

netconf('a router without a candidate is left alone', async ({ start }) => {
  const { router, driver } = await start({ capabilities: [NETCONF_1_0, NETCONF_1_1] });
  assert.match((await fails('rejected', driver.check(never))).message, 'no candidate datastore');
  await fails('rejected', driver.replace(LIST, OLD, never));
  assert.equal(router.operations(), []);
});

netconf('the check changes nothing', async ({ start }) => {
  const { router, driver } = await start();
  await driver.check(never);
  assert.equal(router.operations(), ['lock', 'cancel-commit', 'get-config', 'unlock']);
});

netconf('validation as an operation of its own, where it is asked for and offered', async ({ start }) => {
  const first = await start({ options: { validation: 'before-commit' } });
  await first.driver.replace(LIST, OLD, never);
  assert.equal(first.router.operations().slice(4, 7), ['edit-config', 'validate', 'commit confirmed']);
  const second = await start({ options: { validation: 'before-commit' }, capabilities: [NETCONF_1_0, CANDIDATE] });
  await second.driver.replace(LIST, OLD, never);
  assert.not(second.router.operations().includes('validate'));
});

netconf('what runs is saved where that is something else, once for each change', async ({ start }) => {
  const { router, driver } = await start({ capabilities: [...EVERYTHING, STARTUP] });
  for (const content of [OLD, OLD, NEXT]) await driver.replace(LIST, content, never);
  assert.is(router.operations().filter((name) => name === 'copy-config').length, 2);
  const unsaved = await start({ capabilities: [...EVERYTHING, STARTUP], options: { save: 'false' } });
  await unsaved.driver.replace(LIST, OLD, never);
  assert.not(unsaved.router.operations().includes('copy-config'));
});

netconf('what could not be saved is saved when it is asked for again', async ({ start }) => {
  const { router, driver } = await start({
    capabilities: [...EVERYTHING, STARTUP],
    answer: (name, number) =>
      name === 'copy-config' && number <= 2 ? refusal('operation-failed', 'disk full') : undefined,
  });
  await fails('not-saved', driver.replace(LIST, OLD, never));
  assert.ok(driver.save);
  await fails('not-saved', driver.save(never));
  await driver.save(never);
  assert.is(router.operations().filter((name) => name === 'copy-config').length, 3);
  const { driver: unsaved } = await start({ options: { save: 'false' } });
  assert.is(unsaved.save, undefined);
});

netconf('a list that could not be saved is in force, and is saved with the next call', async ({ start }) => {
  const { router, driver } = await start({
    capabilities: [...EVERYTHING, STARTUP],
    answer: (name, number) =>
      name === 'copy-config' && number === 1 ? refusal('operation-failed', 'disk full') : undefined,
  });
  const failure = await fails('not-saved', driver.replace(LIST, OLD, never));
  assert.match(failure.message, /Svc-A is in force, and was not saved: .*disk full/);
  assert.equal(router.running(LIST), OLD);
  await driver.replace(LIST, OLD, never);
  assert.is(router.operations().at(-2), 'copy-config');
});

for (const [operation, text] of [
  ['edit-config', 'statement not found'],
  ['edit-config', 'mgd: statement has no contents; ignored'],
  ['commit confirmed', 'commit confirmed will be automatically rolled back in 1 minutes unless confirmed'],
  ['commit', "requires 'bgp' license"],
] as const) {
  netconf(`a warning that is known to be harmless passes: ${text}`, async ({ start }) => {
    const { router, driver } = await start({ remark: (name) => (name === operation ? warning(text) : '') });
    await driver.replace(LIST, OLD, never);
    assert.equal(router.running(LIST), OLD);
  });
}

for (const operation of ['edit-config', 'validate', 'commit confirmed'] as const) {
  netconf(`any other warning is a failure, and what was done is taken back: ${operation}`, async ({ start }) => {
    const { router, driver } = await start({
      remark: (name) => (name === operation ? warning('the fan is loud') : ''),
      options: { validation: 'before-commit' },
    });
    const failure = await fails('rejected', driver.replace(LIST, OLD, never));
    assert.match(failure.message, /Svc-A: the router warns, and option ignore_warnings.*the fan is loud/);
    assert.is(router.running(LIST), undefined);
    assert.equal(router.operations().slice(-3), ['cancel-commit', 'discard-changes', 'unlock']);
    assert.is(await driver.read(LIST, never), 'absent');
  });
}

netconf('a warning that an option names passes', async ({ start }) => {
  const { router, driver } = await start({
    remark: (name) => (name === 'commit confirmed' ? warning('the fan is loud') : ''),
    options: { ignore_warnings: '["fan is"]' },
  });
  await driver.replace(LIST, OLD, never);
  assert.equal(router.running(LIST), OLD);
});

for (const [tag, code] of [
  ['access-denied', 'not-permitted'],
  ['too-big', 'too-large'],
  ['invalid-value', 'rejected'],
] as const) {
  for (const operation of ['edit-config', 'validate', 'commit confirmed', 'commit'] as const) {
    netconf(`${operation} is refused with ${tag}: ${code}, and nothing is left of the change`, async ({ start }) => {
      const { router, driver } = await start({
        answer: (name) => (name === operation ? refusal(tag, 'no') : undefined),
        options: { validation: 'before-commit' },
      });
      const failure = await fails(code, driver.replace(LIST, OLD, never));
      assert.match(failure.message, new RegExp(`Svc-A: <[a-z-]+>: ${tag} no`));
      assert.is(router.running(LIST), undefined);
      assert.equal(router.operations().slice(-3), ['cancel-commit', 'discard-changes', 'unlock']);
    });
  }
}

for (const operation of ['edit-config', 'commit confirmed', 'commit'] as const) {
  netconf(`an error among the results of each routing engine is an error: ${operation}`, async ({ start }) => {
    const error = refusal('operation-failed', 'configuration check-out failed').content;
    const engine = `<commit-results><routing-engine><name>re1</name>${error}</routing-engine></commit-results>`;
    const { router, driver } = await start({
      answer: (name) => (name === operation ? { content: engine } : undefined),
    });
    const failure = await fails('rejected', driver.replace(LIST, OLD, never));
    assert.match(failure.message, /Svc-A: <[a-z-]+>: operation-failed configuration check-out failed/);
    assert.is(router.running(LIST), undefined);
  });
}

netconf(
  'a list in a part of the configuration that is switched off is not in use, whatever it holds',
  async ({ start }) => {
    const items = OLD.map((name) => `<prefix-list-item><name>${name}</name></prefix-list-item>`).join('');
    const list = `<prefix-list><name>${LIST}</name>${items}</prefix-list>`;
    const policies = `<policy-options inactive="inactive">${list}</policy-options>`;
    const { router, driver } = await start({
      answer: (name) =>
        name === 'get-config'
          ? {
              content: `<data><configuration xmlns="http://xml.juniper.net/xnm/1.1/xnm">${policies}</configuration></data>`,
            }
          : undefined,
    });
    assert.equal(await driver.read(LIST, never), [...OLD, 'inactive: all of policy-options']);
    await fails('rejected', driver.replace(LIST, OLD, never));
    assert.not(router.operations().includes('commit'));
  },
);

netconf('a router that does not let us leave in order is left by the end of the session', async ({ start }) => {
  const { router, driver } = await start({
    answer: (name) => (name === 'edit-config' || name === 'unlock' ? refusal('operation-failed', 'no') : undefined),
  });
  await fails('rejected', driver.replace(LIST, OLD, never));
  await fails('rejected', driver.replace(LIST, OLD, never));
  assert.is(router.sessions(), 2);
});

netconf('a router that answers ok and does nothing: it is seen before the confirmation', async ({ start }) => {
  const { router, driver } = await start({
    answer: (name) => (name === 'edit-config' ? { content: '<ok/>' } : undefined),
  });
  const failure = await fails('rejected', driver.replace(LIST, OLD, never));
  assert.match(failure.message, 'Svc-A is missing after a change to 3 that the router answered with ok');
  assert.not(router.operations().includes('commit'));
});

for (const operation of ['lock', 'cancel-commit', 'get-config', 'discard-changes', 'edit-config'] as const) {
  for (const given of ['cut', 'silence'] as const) {
    netconf(`${given} at ${operation}, before the commit: nothing was changed`, async ({ start }) => {
      const { router, driver } = await start({
        answer: (name) => (name === operation ? given : undefined),
        options: { answer_seconds: '1' },
      });
      await fails(given === 'cut' ? 'unreachable' : 'timed-out', driver.replace(LIST, OLD, never));
      assert.is(router.running(LIST), undefined);
    });
  }
}

for (const operation of ['commit confirmed', 'commit'] as const) {
  for (const given of ['cut', 'silence'] as const) {
    netconf(`${given} at ${operation}: the outcome is unknown, until reading it decides`, async ({ start }) => {
      const { router, driver } = await start({
        answer: (name, number) => (name === operation && number === 1 ? given : undefined),
        options: { answer_seconds: '1' },
      });
      const failure = await fails('outcome-unknown', driver.replace(LIST, OLD, never));
      assert.match(failure.message, OUTSIDE);
      const found = await driver.read(LIST, never);
      // What waits for a confirmation that will not come is taken back by whoever looks.
      assert.is(found, 'absent');
      assert.is(router.running(LIST), undefined);
      await driver.replace(LIST, OLD, never);
      assert.equal(await driver.read(LIST, never), OLD);
    });
  }
}

/** Junos of old: a commit that waits has no name, and ends by its time, or when the router sees that its session has ended. */
const WITHOUT_NAMES = [NETCONF_1_0, CANDIDATE, CONFIRMED_1_0];

for (const operation of ['commit confirmed', 'commit'] as const) {
  netconf(
    `${operation} without an answer, and no name to take it back by: what is shown is no proof`,
    async ({ start }) => {
      const { router, driver } = await start({
        capabilities: WITHOUT_NAMES,
        answer: (name, number) => (name === operation && number === 1 ? 'cut' : undefined),
      });
      // As where the answer alone is lost: the list is in force, and the router may take it back later.
      await fails('outcome-unknown', driver.replace(LIST, OLD, never));
      await driver.check(never);
      const unread = await fails('locked', driver.read(LIST, never));
      assert.match(unread.message, /Svc-A: the router may still take back/);
      assert.is(await driver.read('Svc-OTHER', never), 'absent', 'other lists do not hang on it');
      await fails('locked', driver.prepare?.(LIST, OLD, never) ?? Promise.resolve());
      const before = router.operations().length;
      await driver.replace(LIST, OLD, never);
      assert.equal(router.operations().slice(before), [
        'lock',
        'get-config',
        'discard-changes',
        'edit-config',
        'commit confirmed',
        'get-config',
        'commit',
        'unlock',
      ]);
      assert.equal(await driver.read(LIST, never), OLD);
    },
  );
}

netconf('a change that is stopped after its commit was sent has an unknown outcome', async ({ start }) => {
  const stop = new AbortController();
  const reason = new Error('enough');
  const { driver } = await start({
    answer: (name) => {
      if (name !== 'commit confirmed') return undefined;
      stop.abort(reason);
      return 'silence';
    },
  });
  const failure = await fails('outcome-unknown', driver.replace(LIST, OLD, stop.signal));
  assert.is(failure.cause, reason);
});

netconf('a change that is stopped before its commit was sent is not made', async ({ start }) => {
  const stop = new AbortController();
  const { router, driver } = await start({
    answer: (name) => {
      if (name === 'edit-config') stop.abort();
      return undefined;
    },
  });
  await fails('timed-out', driver.replace(LIST, OLD, stop.signal));
  assert.not(router.operations().includes('commit confirmed'));
});

netconf('one session serves call after call', async ({ start }) => {
  const { router, driver } = await start();
  await driver.check(never);
  await Promise.all([driver.replace(LIST, OLD, never), driver.read(LIST, never), driver.read('Svc-B', never)]);
  assert.is(router.sessions(), 1);
});

netconf('a session that the router has ended meanwhile is opened again, unseen', async ({ start }) => {
  const { router, driver } = await start({
    answer: (name, number) => (name === 'lock' && number === 2 ? 'cut' : undefined),
  });
  await driver.replace(LIST, OLD, never);
  assert.equal(await driver.read(LIST, never), OLD);
  assert.is(router.sessions(), 2);
});

netconf('a list of more entries than the router takes is refused before anything is sent', async ({ start }) => {
  const { router, driver } = await start({ options: { max_entries: '3' } });
  const failure = await fails('too-large', driver.replace(LIST, NEXT, never));
  assert.match(failure.message, /4 entries, and option max_entries says that the router takes 3; nothing was sent/);
  assert.is(router.sessions(), 0);
  await driver.replace(LIST, OLD, never);
});

netconf('a lock that something holds that is no NETCONF session', async ({ start }) => {
  const held = `<rpc-error><error-type>protocol</error-type><error-tag>lock-denied</error-tag><error-severity>error</error-severity>
    <error-message>configuration database locked by: alice terminal p0</error-message>
    <error-info><session-id>0</session-id></error-info></rpc-error>`;
  const { driver } = await start({
    answer: (name) => (name === 'lock' ? { content: held } : undefined),
    options: { lock_seconds: '0' },
  });
  const failure = await fails('locked', driver.replace(LIST, OLD, never));
  assert.match(failure.message, /no NETCONF session has locked it.*alice terminal p0/);
});

// Changes that are held back until all routers are ready

const PREPARED = ['lock', 'cancel-commit', 'get-config', 'discard-changes', 'edit-config'];
const TAKEN_BACK = ['cancel-commit', 'discard-changes', 'unlock'];

netconf('a prepared change is in the candidate, under the lock, until it is kept', async ({ start }) => {
  const { router, driver } = await start();
  const prepared = await driver.prepare?.(LIST, OLD, never);
  assert.ok(prepared);
  assert.is(prepared.before, 'absent');
  assert.equal(router.operations(), PREPARED);
  assert.equal(router.running(LIST), undefined);
  await prepared.commit(never);
  assert.equal(await prepared.read(never), OLD);
  await prepared.confirm(never);
  assert.equal(router.operations().slice(PREPARED.length), ['commit confirmed', 'get-config', 'commit', 'unlock']);
  assert.equal(router.running(LIST), OLD);
});

for (const [what, isCommitted, then] of [
  ['before its commit', false, TAKEN_BACK],
  ['while it is in force for a while', true, ['commit confirmed', ...TAKEN_BACK]],
] as const) {
  netconf(`a prepared change that is taken back ${what} leaves nothing`, async ({ start }) => {
    const { router, driver } = await start();
    const prepared = await driver.prepare?.(LIST, OLD, never);
    if (isCommitted) await prepared?.commit(never);
    await prepared?.undo();
    assert.equal(router.operations().slice(PREPARED.length), then);
    assert.equal(router.running(LIST), undefined);
  });
}

netconf(
  'a prepared change that is taken back where commits that wait have no name: what is shown is no proof until another one is kept',
  async ({ start }) => {
    const { driver } = await start({ capabilities: WITHOUT_NAMES });
    const prepared = await driver.prepare?.(LIST, OLD, never);
    assert.ok(prepared);
    await prepared.commit(never);
    assert.equal(await prepared.read(never), OLD);
    await prepared.undo();
    await fails('locked', driver.read(LIST, never));
    await driver.replace(LIST, OLD, never);
    assert.equal(await driver.read(LIST, never), OLD);
  },
);

netconf('one that is kept there is read at once, and so is one that never was in force', async ({ start }) => {
  const { driver } = await start({ capabilities: WITHOUT_NAMES });
  const undone = await driver.prepare?.(LIST, OLD, never);
  await undone?.undo();
  assert.is(await driver.read(LIST, never), 'absent');
  const kept = await driver.prepare?.(LIST, OLD, never);
  await kept?.commit(never);
  await kept?.confirm(never);
  assert.equal(await driver.read(LIST, never), OLD);
});

netconf('a prepared change whose confirmation the router refuses is taken back', async ({ start }) => {
  const { router, driver } = await start({
    answer: (name) => (name === 'commit' ? refusal('operation-failed', 'no') : undefined),
  });
  const prepared = await driver.prepare?.(LIST, OLD, never);
  assert.ok(prepared);
  await prepared.commit(never);
  await fails('rejected', prepared.confirm(never));
  await prepared.undo();
  assert.equal(router.operations().slice(-3), TAKEN_BACK);
  assert.equal(router.running(LIST), undefined);
});

netconf('what can not be prepared: no lock is kept, and the router says why', async ({ start }) => {
  const { router, driver } = await start({
    answer: (name) => (name === 'edit-config' ? refusal('operation-failed', 'no such thing') : undefined),
  });
  const preparing = driver.prepare?.(LIST, OLD, never) ?? Promise.resolve();
  assert.match((await fails('rejected', preparing)).message, 'no such thing');
  assert.equal(router.operations(), [...PREPARED, ...TAKEN_BACK]);
});

netconf('a router that offers no commit that waits can not hold a change back', async ({ start }) => {
  const { router, driver } = await start({ capabilities: [NETCONF_1_0, NETCONF_1_1, CANDIDATE] });
  assert.is(await driver.prepare?.(LIST, OLD, never), undefined);
  assert.equal(router.operations(), []);
});

function warning(text: string): string {
  return refusal('x', text, 'warning').content;
}

netconf.run();
