import { chmod, mkdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { suite, test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../src/adapters/clock.ts';
import { type BirdShell, createBirdShell } from '../../src/adapters/routers/bird/bird-shell.ts';
import { createLocalTransport } from '../../src/adapters/routers/shell/local-transport.ts';
import type { CommandTransport } from '../../src/adapters/routers/shell/remote-command.ts';
import type { RouterDriver } from '../../src/ports/routers.ts';
import { fails, ipv4Hosts, ipv6Sites, never } from '../contracts/router-driver.ts';
import { type LabBird, missingForBird, openBird, startBird } from '../support/routers/bird.ts';
import { waitUntil } from '../support/wait-until.ts';

const missing = missingForBird();
const OLD = [...ipv4Hosts(20), ...ipv6Sites(20)];
const NEXT = [...ipv4Hosts(20, 10), ...ipv6Sites(20, 10)];

type Context = { router: LabBird; driver: RouterDriver };

/** What the disturbed birdc is called for. */
const CHECK = 'case "$*" in *"configure check")';
const LOAD = 'case "$*" in *"configure timeout "*)';
const CONFIRM = 'case "$*" in *"configure confirm")';
/** Kills the script that calls, as a router that runs out of memory might. */
const KILL_THE_SCRIPT = 'kill -9 -$(ps -o pgid= -p $$ | tr -d " ")';

if (missing === undefined) {
  const bird = suite<Context>('bird when things go wrong');

  bird.before(async (context) => {
    context.router = await startBird();
    context.driver = openBird(context.router);
  });
  bird.after(async ({ router, driver }) => {
    await driver?.close();
    await router?.stop();
  });

  const fault = (name: string, work: (context: Context) => Promise<void>): void =>
    bird(name, async (context) => {
      const { router } = context;
      try {
        await work(context);
      } finally {
        await router.disturb('');
      }
      await waitUntil('no file of a change is left', async () => (await router.remains()).length === 0);
    });

  fault('routes follow the list as soon as it has changed', async ({ router, driver }) => {
    await driver.replace('Svc-ROUTES', ['192.0.2.0/24', '2001:db8:1::/48'], never);
    await router.configure(`
      protocol pipe { table source4; peer table chosen4; export filter { if net ~ 'Svc-ROUTES:4' then accept; reject; }; import none; }
      protocol pipe { table source6; peer table chosen6; export filter { if net ~ 'Svc-ROUTES:6' then accept; reject; }; import none; }`);
    const chosen = async (): Promise<readonly string[]> => {
      const tables = await Promise.all(['chosen4', 'chosen6'].map((table) => router.birdc('show route table', table)));
      return tables.flatMap((routes) => [...routes.matchAll(/^(\S+\/\d+) /gm)].map(([, prefix = '']) => prefix)).sort();
    };
    for (const prefixes of [
      ['192.0.2.0/24', '2001:db8:1::/48'],
      ['198.51.100.0/24', '203.0.113.7/32'],
      // A block is not its hosts.
      ['203.0.113.0/24', '2001:db8:2::/48'],
      [],
      ['192.0.2.0/24'],
    ]) {
      await driver.replace('Svc-ROUTES', prefixes, never);
      const expected = prefixes.filter((prefix) => prefix !== '203.0.113.0/24').sort();
      await waitUntil(`chosen are ${expected.join()}`, async () => (await chosen()).join() === expected.join());
    }
    await router.configure('');
  });

  fault('a set that BIRD refuses is not loaded, and the old file is in place again', async ({ router, driver }) => {
    await driver.replace('Svc-REFUSED', OLD, never);
    const before = await readFile(router.fileOf('Svc-REFUSED'), 'utf8');
    const loaded = await router.loaded();
    await router.disturb(`${CHECK} echo '8002 lists/Svc-REFUSED.conf:3:1 syntax error'; exit 1 ;; esac`);
    const failure = await fails('rejected', driver.replace('Svc-REFUSED', NEXT, never));
    assert.match(failure.message, 'Svc-REFUSED was not loaded: BIRD says: lists/Svc-REFUSED.conf:3:1 syntax error');
    await router.disturb('');
    assert.equal(await driver.read('Svc-REFUSED', never), OLD);
    assert.is(await readFile(router.fileOf('Svc-REFUSED'), 'utf8'), before);
    assert.is(await router.loaded(), loaded);
  });

  fault('a change that BIRD does not load after all takes nothing of others back', async ({ router, driver }) => {
    await driver.replace('Svc-NOT-LOADED', OLD, never);
    await router.configure('define OPERATOR = 7;');
    // As where somebody breaks another file between the check and the load.
    await router.disturb(`${LOAD} echo '8002 rest.conf:1:1 syntax error'; exit 1 ;; esac`);
    await fails('rejected', driver.replace('Svc-NOT-LOADED', NEXT, never));
    await router.disturb('');
    assert.equal(await driver.read('Svc-NOT-LOADED', never), OLD);
    assert.match(await router.birdc('eval OPERATOR'), /^7$/m);
    await router.configure('');
  });

  fault(
    'a configuration that is broken elsewhere: the message says where, nothing is changed',
    async ({ router, driver }) => {
      await driver.replace('Svc-BROKEN', OLD, never);
      const other = router.fileOf('other');
      await writeFile(other, 'protocol nonsense;\n');
      const failure = await fails('rejected', driver.replace('Svc-BROKEN', NEXT, never));
      assert.match(failure.message, /other\.conf:1:/);
      assert.match((await fails('rejected', driver.check(never))).message, /other\.conf:1:/);
      assert.equal(await driver.read('Svc-BROKEN', never), OLD);
      await unlink(other);
      await driver.replace('Svc-BROKEN', NEXT, never);
    },
  );

  fault(
    'a prepared change that BIRD refuses was never in place, and what is prepared is not',
    async ({ router, driver }) => {
      await driver.replace('Svc-PREPARED', OLD, never);
      const before = await readFile(router.fileOf('Svc-PREPARED'), 'utf8');
      const loaded = await router.loaded();
      await router.disturb(`${CHECK} echo '8002 lists/Svc-PREPARED.conf:3:1 syntax error'; exit 1 ;; esac`);
      const failure = await fails('rejected', driver.prepare?.('Svc-PREPARED', NEXT, never) ?? Promise.resolve());
      assert.match(failure.message, 'Svc-PREPARED would not be loaded: BIRD says: lists/Svc-PREPARED.conf:3:1');
      await router.disturb('');
      const prepared = await driver.prepare?.('Svc-PREPARED', NEXT, never);
      assert.is(await readFile(router.fileOf('Svc-PREPARED'), 'utf8'), before);
      assert.is(await router.loaded(), loaded);
      await prepared?.undo();
      assert.is(await readFile(router.fileOf('Svc-PREPARED'), 'utf8'), before);
    },
  );

  fault('a script that dies while it tries a change out leaves the old list', async ({ router, driver }) => {
    await driver.replace('Svc-TRYING', OLD, never);
    await router.disturb(`${CHECK} ${KILL_THE_SCRIPT} ;; esac`);
    const trying = await driver.prepare?.('Svc-TRYING', NEXT, never).catch((failure: unknown) => failure);
    assert.instance(trying, Error);
    await router.disturb('');
    assert.equal(await driver.read('Svc-TRYING', never), OLD);
    await driver.replace('Svc-TRYING', NEXT, never);
    assert.equal(await driver.read('Svc-TRYING', never), NEXT);
  });

  fault('a list that a filter names is not removed; once none does, it is', async ({ router, driver }) => {
    await driver.replace('Svc-IN-USE', OLD, never);
    await router.configure(`
      protocol pipe { table source4; peer table chosen4; export filter { if net ~ 'Svc-IN-USE:4' then accept; reject; }; import none; }`);
    await fails('rejected', driver.remove('Svc-IN-USE', never));
    assert.equal(await driver.read('Svc-IN-USE', never), OLD);
    await router.configure('');
    await driver.remove('Svc-IN-USE', never);
    assert.is(await driver.read('Svc-IN-USE', never), 'absent');
    assert.not(router.has('lists/Svc-IN-USE.conf'));
  });

  fault('a list that could not be made leaves no file', async ({ router, driver }) => {
    await router.disturb(`${LOAD} echo '8002 no'; exit 1 ;; esac`);
    await fails('rejected', driver.replace('Svc-NOT-MADE', OLD, never));
    assert.is(await driver.read('Svc-NOT-MADE', never), 'absent');
    assert.not(router.has('lists/Svc-NOT-MADE.conf'));
  });

  fault('a BIRD that loads something else than it was given is taken back', async ({ router, driver }) => {
    await driver.replace('Svc-OTHER', OLD, never);
    await router.disturb(`${LOAD} echo '0003 Reconfigured'; exit 0 ;; esac`);
    await fails('rejected', driver.replace('Svc-OTHER', NEXT, never));
    await router.disturb('');
    assert.equal(await driver.read('Svc-OTHER', never), OLD);
  });

  fault('a directory that BIRD does not include: the message says what is missing', async ({ router }) => {
    const elsewhere = `${router.options.directory}/elsewhere`;
    await mkdir(elsewhere);
    const driver = openBird(router, { transport: 'local', directory: elsewhere });
    const failure = await fails('rejected', driver.replace('Svc-ELSEWHERE', OLD, never));
    assert.match(failure.message, `its configuration must have include "${elsewhere}/*.conf";`);
    // Reading waits until the refused change is undone: BIRD's undo takes back whatever was loaded last, from any directory.
    assert.is(await driver.read('Svc-ELSEWHERE', never), 'absent');
    await driver.close();
    await rm(elsewhere, { recursive: true });
  });

  for (const [moment, disturbance, expected] of [
    ['before BIRD was asked', `${CHECK} ${KILL_THE_SCRIPT} ;; esac`, OLD],
    ['after BIRD has loaded it', `${LOAD} birdc "$@"; ${KILL_THE_SCRIPT} ;; esac`, OLD],
    ['before it was confirmed to BIRD', `${CONFIRM} ${KILL_THE_SCRIPT} ;; esac`, NEXT],
    ['after it was confirmed to BIRD', `${CONFIRM} birdc "$@"; ${KILL_THE_SCRIPT} ;; esac`, NEXT],
  ] as const) {
    fault(`a change that dies ${moment} is finished by whoever looks next`, async ({ router, driver }) => {
      await driver.replace('Svc-DIES', OLD, never);
      await router.disturb(disturbance);
      await fails('outcome-unknown', driver.replace('Svc-DIES', NEXT, never));
      await router.disturb('');
      assert.ok((await router.remains()).length > 0);
      assert.equal(await driver.read('Svc-DIES', never), expected);
      assert.equal(await router.remains(), []);
      // Nothing is pending any more: this would take it back.
      await router.birdc('configure confirm');
      assert.equal(await driver.read('Svc-DIES', never), expected);
      await driver.replace('Svc-DIES', NEXT, never);
      assert.equal(await driver.read('Svc-DIES', never), NEXT);
    });
  }

  fault('a change whose BIRD goes back by itself is no success', async ({ router, driver }) => {
    await driver.replace('Svc-TOO-LATE', OLD, never);
    await router.disturb(`${CONFIRM} birdc -s "$3" configure undo >/dev/null; birdc "$@"; exit ;; esac`);
    const outcome = await driver.replace('Svc-TOO-LATE', NEXT, never).then(
      () => 'done',
      () => 'failed',
    );
    await router.disturb('');
    assert.equal(await driver.read('Svc-TOO-LATE', never), outcome === 'done' ? NEXT : OLD);
  });

  fault('a session that falls silent after BIRD has loaded its change is undone', async ({ router, driver }) => {
    await driver.replace('Svc-SILENT', OLD, never);
    const { transport, shell } = openShell(router, { confirmSeconds: 60, sessionSeconds: 5 });
    const change = await shell.begin('Svc-SILENT', never);
    await change.upload(await anotherEdition(router, 'Svc-SILENT'));
    assert.is(await change.apply(), 'another edition');
    // Reading waits until the silent session has lost the lock.
    assert.equal(await driver.read('Svc-SILENT', never), OLD);
    change.abandon();
    await transport.close();
  });

  fault(
    'BIRD goes back by itself when nobody confirms; the file follows with the next look',
    async ({ router, driver }) => {
      await driver.replace('Svc-TIMER', OLD, never);
      const { transport, shell } = openShell(router, { confirmSeconds: 1 });
      const before = await router.birdc("eval 'Svc-TIMER:id'");
      const change = await shell.begin('Svc-TIMER', never);
      const next = await anotherEdition(router, 'Svc-TIMER');
      await change.upload(next);
      await router.disturb(`${LOAD} birdc "$@"; ${KILL_THE_SCRIPT} ;; esac`);
      await fails('outcome-unknown', change.apply());
      await router.disturb('');
      await waitUntil('BIRD has gone back', async () => (await router.birdc("eval 'Svc-TIMER:id'")) === before);
      assert.is(await readFile(router.fileOf('Svc-TIMER'), 'utf8'), next);
      assert.equal(await driver.read('Svc-TIMER', never), OLD);
      assert.is.not(await readFile(router.fileOf('Svc-TIMER'), 'utf8'), next);
      await transport.close();
    },
  );

  fault(
    'a change that is stopped while BIRD loads it has an unknown outcome, and is undone',
    async ({ router, driver }) => {
      await driver.replace('Svc-STOPPED', OLD, never);
      await router.disturb(`${LOAD} : >$run/loading; sleep 1 ;; esac`);
      const stop = new AbortController();
      const reason = new Error('the deployment takes too long');
      const outcome = fails('outcome-unknown', driver.replace('Svc-STOPPED', NEXT, stop.signal));
      await waitUntil('birdc was started', () => router.has('loading'));
      stop.abort(reason);
      assert.is((await outcome).cause, reason);
      assert.equal(await driver.read('Svc-STOPPED', never), OLD);
    },
  );

  fault('a file that was edited and not loaded is seen, and replaced', async ({ router, driver }) => {
    await driver.replace('Svc-EDITED', OLD, never);
    const file = router.fileOf('Svc-EDITED');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('10.0.0.3/32,\n', ''));
    assert.equal(await driver.read('Svc-EDITED', never), [
      ...OLD.filter((prefix) => prefix !== '10.0.0.3/32'),
      '# a file that edgeward did not write',
    ]);
    await driver.replace('Svc-EDITED', OLD, never);
    assert.equal(await driver.read('Svc-EDITED', never), OLD);
  });

  fault('an older file that was put back and not loaded is seen, and replaced', async ({ router, driver }) => {
    await driver.replace('Svc-RESTORED', OLD, never);
    const older = await readFile(router.fileOf('Svc-RESTORED'), 'utf8');
    await driver.replace('Svc-RESTORED', NEXT, never);
    await writeFile(router.fileOf('Svc-RESTORED'), older);
    assert.equal(await driver.read('Svc-RESTORED', never), [...OLD, '# a file that BIRD has not loaded']);
    await driver.replace('Svc-RESTORED', OLD, never);
    assert.equal(await driver.read('Svc-RESTORED', never), OLD);
  });

  fault('a file that was removed while BIRD uses it is seen, and made again', async ({ router, driver }) => {
    await driver.replace('Svc-REMOVED', OLD, never);
    await unlink(router.fileOf('Svc-REMOVED'));
    assert.equal(await driver.read('Svc-REMOVED', never), ['# used by BIRD, though its file is gone']);
    await driver.replace('Svc-REMOVED', OLD, never);
    assert.equal(await driver.read('Svc-REMOVED', never), OLD);
  });

  fault('BIRD that has died, and comes back with what was confirmed', async ({ router, driver }) => {
    await driver.replace('Svc-REBOOT', OLD, never);
    await router.kill();
    await fails('unreachable', driver.check(never));
    await fails('unreachable', driver.read('Svc-REBOOT', never));
    await fails('unreachable', driver.replace('Svc-REBOOT', NEXT, never));
    await router.start();
    await driver.check(never);
    assert.equal(await driver.read('Svc-REBOOT', never), OLD);
  });

  for (const [what, options, code, message] of [
    ['a birdc that is not there', { birdc: '/nowhere/birdc' }, 'bad-option', /no \/nowhere\/birdc.*option birdc/],
    ['a directory that is not there', { directory: '/nowhere' }, 'bad-option', /no directory \/nowhere/],
    ['a socket that is not there', { socket: '/nowhere/bird.ctl' }, 'unreachable', /option socket/],
    ['a prefix that is no program', { command_prefix: '["/nowhere"]' }, 'bad-option', /\/nowhere can't be started/],
    [
      'a user who may write nothing',
      { command_prefix: '["setpriv","--reuid=65534","--regid=65534","--clear-groups"]' },
      'not-permitted',
      /must be readable and writable/,
    ],
  ] as const) {
    fault(`${what}: the check says so, and so does every other call`, async ({ router }) => {
      await chmod(`${router.options.directory}/..`, 0o755);
      const driver = openBird(router, { transport: 'local', ...options });
      assert.match((await fails(code, driver.check(never))).message, message);
      assert.match((await fails(code, driver.read('Svc-A', never))).message, message);
      assert.match((await fails(code, driver.replace('Svc-A', OLD, never))).message, message);
      await driver.close();
    });
  }

  fault('a birdc that may only look', async ({ router }) => {
    await router.disturb('exec birdc -r "$@"');
    const driver = openBird(router);
    const failure = await fails('not-permitted', driver.check(never));
    assert.match(failure.message, 'Access denied');
    await driver.close();
  });

  bird.run();
} else {
  console.log(`skipped: bird when things go wrong, as this machine has no ${missing}`);
  test.skip('bird when things go wrong');
}

function openShell(
  { options }: LabBird,
  bounds: Readonly<{ confirmSeconds: number; sessionSeconds?: number }>,
): Readonly<{ transport: CommandTransport; shell: BirdShell }> {
  const { directory = '', socket = '', birdc = '' } = options;
  const transport = createLocalTransport();
  return {
    transport,
    shell: createBirdShell(transport, { prefix: [], birdc, socket, directory, ...bounds }, systemClock),
  };
}

/** A list's file as it is, but for its edition. */
async function anotherEdition(router: LabBird, list: string): Promise<string> {
  return (await readFile(router.fileOf(list), 'utf8')).replace(/"[^"]*"/, '"another edition"');
}

test.run();
