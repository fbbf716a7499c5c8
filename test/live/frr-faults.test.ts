import { chmod, readdir } from 'node:fs/promises';
import { suite, test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RouterDriver } from '../../src/ports/routers.ts';
import { fails, ipv4Hosts, ipv6Sites, never } from '../contracts/router-driver.ts';
import { FRR_OF_THIS_MACHINE, type LabRouter, missingForFrr, startFrr } from '../support/routers/frr.ts';
import { openFrr } from '../support/routers/frr-contract.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitUntil } from '../support/wait-until.ts';

const missing = missingForFrr();
const OLD = [...ipv4Hosts(20), ...ipv6Sites(20)];
const NEXT = [...ipv4Hosts(20, 10), ...ipv6Sites(20, 10)];

/** What the disturbed vtysh is called for. */
const APPLY = 'case "$*" in *" -C "*) ;; *" -f "*)';
const DRY_RUN = 'case "$*" in *" -C "*)';
const ONCE = ': >$run/disturbance';

if (missing === undefined) {
  const frr = suite<{
    router: LabRouter;
    driver: RouterDriver;
    temporary: string;
    removeTemporary: () => Promise<void>;
  }>('frr when things go wrong');

  frr.before(async (context) => {
    const folder = await temporaryFolder();
    context.temporary = folder.path;
    context.removeTemporary = folder.remove;
    process.env.TMPDIR = folder.path;
    context.router = await startFrr(FRR_OF_THIS_MACHINE);
    context.driver = openFrr(context.router);
  });
  frr.after(async ({ router, driver, removeTemporary }) => {
    await driver?.close();
    await router?.stop();
    await removeTemporary?.();
  });
  frr.after.each(async ({ router, temporary }) => {
    await router.disturb('');
    await waitUntil('no temporary file is left on the router', async () => (await readdir(temporary)).length === 0);
  });

  frr('a file that the dry run refuses is not applied', async ({ router, driver }) => {
    await driver.replace('Svc-DRY', OLD, never);
    const applied = await router.applied();
    await router.disturb(`${DRY_RUN} echo 'line 2: % Unknown command[4]: ip prefix-list'; exit 2 ;; esac`);
    const failure = await fails('rejected', driver.replace('Svc-DRY', NEXT, never));
    assert.match(failure.message, 'Unknown command');
    assert.is(await router.applied(), applied);
    assert.equal(await driver.read('Svc-DRY', never), OLD);
  });

  frr('a transaction that FRR rejects with exit code 0 is no success', async ({ router, driver }) => {
    await driver.replace('Svc-REJECTED', OLD, never);
    await router.disturb(`${APPLY} echo '% Configuration failed.'; exit 0 ;; esac`);
    const failure = await fails('rejected', driver.replace('Svc-REJECTED', NEXT, never));
    assert.match(
      failure.message,
      'Svc-REJECTED has 40 entries after a change to 40; the router said: % Configuration failed',
    );
    assert.equal(await driver.read('Svc-REJECTED', never), OLD);
  });

  frr('a vtysh that does nothing and says nothing is no success', async ({ router, driver }) => {
    await driver.replace('Svc-SILENT', OLD, never);
    await router.disturb(`${APPLY} exit 0 ;; esac`);
    await fails('rejected', driver.replace('Svc-SILENT', NEXT, never));
    await router.disturb('');
    await driver.replace('Svc-SILENT', NEXT, never);
    assert.equal(await driver.read('Svc-SILENT', never), NEXT);
  });

  frr('a configuration that somebody else has locked', async ({ router, driver }) => {
    await router.disturb(`${APPLY} echo '% command failed, could not lock running DS'; exit 1 ;; esac`);
    await fails('locked', driver.replace('Svc-LOCKED', NEXT, never));
  });

  frr('the half of a change that a killed vtysh leaves behind is made whole', async ({ router, driver }) => {
    await driver.replace('Svc-KILLED', OLD, never);
    // FRR commits what it has got when a vtysh dies; so the second half of the file never comes.
    await router.disturb(`${APPLY} ${ONCE}; for file; do :; done
      head -n 21 "$file" >$run/half; vtysh -N ${router.name} -f $run/half; exit 137 ;; esac`);
    await driver.replace('Svc-KILLED', NEXT, never);
    assert.equal(await driver.read('Svc-KILLED', never), NEXT);
  });

  frr('what only another daemon still holds is removed with it', async ({ router, driver }) => {
    await router.vtysh(
      '-d',
      'zebra',
      '-c',
      'configure terminal',
      '-c',
      'ip prefix-list Svc-DRIFT seq 5 permit 9.9.9.0/24',
    );
    await driver.replace('Svc-DRIFT', ['192.0.2.0/24'], never);
    const ofZebra = await router.vtysh('-d', 'zebra', '-c', 'show ip prefix-list Svc-DRIFT json');
    assert.match(ofZebra, '192.0.2.0/24');
    assert.not.match(ofZebra, '9.9.9.0/24');
  });

  frr('a change that another session spoils while it is loaded is made whole', async ({ router, driver }) => {
    // FRR 8 has one candidate configuration for all sessions: a commit that fails throws away what others have loaded.
    await driver.replace('Svc-SPOILT', OLD, never);
    const large = ipv4Hosts(250, 1000);
    const change = driver.replace('Svc-SPOILT', large, never);
    const spoil = async (): Promise<void> => {
      await router
        .configure('ip prefix-list OTHER seq 5 permit 192.0.2.0/24 ge 20 le 10')
        // That it is refused is what it is for.
        .catch(() => undefined);
    };
    const over = change.then(() => true);
    while (!(await Promise.race([over, spoil().then(() => false)])));
    assert.equal(await driver.read('Svc-SPOILT', never), large);
  });

  frr('whoever looks while a list changes sees the old or the new one', async ({ router, driver }) => {
    await driver.replace('Svc-WATCHED', OLD, never);
    const seen = new Set<string>();
    const look = async (): Promise<void> => {
      const [ip, ipv6] = await Promise.all(
        ['ip', 'ipv6'].map((family) => router.vtysh('-d', 'bgpd', '-c', `show ${family} prefix-list Svc-WATCHED json`)),
      );
      seen.add(entriesOf(ip));
      seen.add(entriesOf(ipv6));
    };
    const next = [...ipv4Hosts(200, 10), ...ipv6Sites(100, 10)];
    const over = driver.replace('Svc-WATCHED', next, never).then(() => true);
    while (!(await Promise.race([over, look().then(() => false)])));
    const whole = [OLD, next].flatMap((list) => [
      list.filter((prefix) => !prefix.includes(':')),
      list.filter((prefix) => prefix.includes(':')),
    ]);
    const texts = new Set(whole.map((list) => [...list].sort().join()));
    for (const text of seen) assert.ok(texts.has(text), `${text.split(',').length} entries`);
  });

  frr(
    'a change that is stopped while FRR loads it is not stopped: reading back waits for its end',
    async ({ router, driver }) => {
      await driver.replace('Svc-STOPPED', OLD, never);
      await router.disturb(`${APPLY} ${ONCE}; : >$run/loading; sleep 1 ;; esac`);
      const stop = new AbortController();
      const reason = new Error('the deployment takes too long');
      const change = driver.replace('Svc-STOPPED', NEXT, stop.signal);
      const outcome = fails('outcome-unknown', change);
      await waitUntil('vtysh was started', () => router.has('loading'));
      stop.abort(reason);
      assert.is((await outcome).cause, reason);
      assert.equal(await driver.read('Svc-STOPPED', never), NEXT);
    },
  );

  frr(
    'a shell that is killed while FRR loads a change: nobody knows, and reading back waits for its end',
    async ({ router, driver, temporary }) => {
      await driver.replace('Svc-SHELL', OLD, never);
      await router.disturb(`${APPLY} ${ONCE}; kill -9 $PPID; sleep 1 ;; esac`);
      await fails('outcome-unknown', driver.replace('Svc-SHELL', NEXT, never));
      assert.equal(await driver.read('Svc-SHELL', never), NEXT);
      assert.is((await readdir(temporary)).length, 1, "a shell that is killed can't tidy up");
      await driver.replace('Svc-SHELL', OLD, never);
      assert.is((await readdir(temporary)).length, 0, 'the next change does');
    },
  );

  frr('a list that takes longer than there is time is refused before anything is sent', async ({ router, driver }) => {
    await driver.replace('Svc-LARGE', OLD, never);
    const applied = await router.applied();
    const call = driver.replace('Svc-LARGE', ipv4Hosts(3000), never, { timeoutMilliseconds: 30_000 });
    const failure = await fails('too-large', call);
    assert.match(failure.message, /Svc-LARGE: FRR 8 needs about \d+ s to load \d+ entries; before FRR 9/);
    assert.match(failure.message, /\d+ s are left, so nothing was sent/);
    const asked = driver.prepare?.('Svc-LARGE', ipv4Hosts(3000), never, { timeoutMilliseconds: 30_000 });
    assert.ok(asked);
    const { possible } = await fails('too-large', asked);
    assert.ok(possible !== undefined && possible > 50 && possible < 3000, `${possible}`);
    assert.is(await driver.prepare?.('Svc-LARGE', ipv4Hosts(50), never, { timeoutMilliseconds: 30_000 }), undefined);
    assert.is(await router.applied(), applied, 'asking sends nothing');
    assert.equal(await driver.read('Svc-LARGE', never), OLD);
    await driver.replace('Svc-LARGE', ipv4Hosts(50), never, { timeoutMilliseconds: 30_000 });
  });

  frr('a list that could not be saved is in force, and is saved with the next call', async ({ router, driver }) => {
    await router.disturb('case "$*" in *"write memory"*) echo "Error: no space left"; exit 1 ;; esac');
    const failure = await fails('not-saved', driver.replace('Svc-UNSAVED', OLD, never));
    assert.match(failure.message, 'Svc-UNSAVED is in force, and was not saved: Error: no space left');
    assert.equal(await driver.read('Svc-UNSAVED', never), OLD);
    await router.disturb('');
    await driver.replace('Svc-UNSAVED', OLD, never);
    await router.restart();
    assert.equal(await driver.read('Svc-UNSAVED', never), OLD);
  });

  frr(
    'without write_memory a restart of FRR loses the list, and the next change brings it back',
    async ({ router }) => {
      const unsaved = openFrr(router, { transport: 'local', write_memory: 'false' });
      await unsaved.replace('Svc-UNSAVED-ON-PURPOSE', OLD, never);
      await router.restart();
      assert.is(await unsaved.read('Svc-UNSAVED-ON-PURPOSE', never), 'absent');
      await unsaved.replace('Svc-UNSAVED-ON-PURPOSE', OLD, never);
      assert.equal(await unsaved.read('Svc-UNSAVED-ON-PURPOSE', never), OLD);
      await unsaved.close();
    },
  );

  frr(
    'a daemon that dies while it is asked: it is not there, which says nothing of the list',
    async ({ router, driver }) => {
      await driver.replace('Svc-DYING', OLD, never);
      const dies = 'p=$(cat $run/bgpd.pid); kill -STOP $p; (sleep 1; kill -9 $p) >/dev/null 2>&1 &';
      await router.disturb(`case "$*" in *"show ip prefix-list"*) ${dies} ;; esac`);
      const failure = await fails('unreachable', driver.read('Svc-DYING', never));
      assert.match(failure.message, 'closing connection to bgpd because of an I/O error');
      await router.disturb('');
      await router.restart();
      assert.equal(await driver.read('Svc-DYING', never), OLD);
    },
  );

  frr('what a daemon has that does not answer is not written over', async ({ router, driver }) => {
    await router.configure('router bgp 65000');
    await router.vtysh('-c', 'write memory');
    await router.kill('bgpd');
    assert.ok(driver.save);
    const failure = await fails('not-saved', driver.save(never));
    assert.match(failure.message, 'bgpd does not answer');
    await router.restart();
    assert.match(await router.vtysh('-c', 'show running-config'), /^router bgp 65000$/m);
    await router.configure('no router bgp 65000');
    await driver.save(never);
    await router.restart();
    assert.not.match(await router.vtysh('-c', 'show running-config'), /^router bgp/m);
  });

  frr('a daemon that has died', async ({ router, driver }) => {
    await router.kill('bgpd');
    await fails('unreachable', driver.check(never));
    await fails('unreachable', driver.read('Svc-DRY', never));
    await fails('unreachable', driver.replace('Svc-DRY', OLD, never));
    await router.restart();
    await driver.check(never);
  });

  for (const [what, options, code, message] of [
    [
      'a vtysh that is not there',
      { vtysh: '/nowhere/vtysh' },
      'bad-option',
      /no \/nowhere\/vtysh on the router: option vtysh/,
    ],
    [
      'a pathspace that is not there',
      { pathspace: 'nowhere' },
      'bad-option',
      /\/var\/run\/frr\/nowhere.*option pathspace/,
    ],
    ['a daemon that does not run', { daemon: 'ospfd' }, 'unreachable', /option daemon/],
    ['a prefix that is no program', { command_prefix: '["/nowhere"]' }, 'bad-option', /\/nowhere can't be started/],
    [
      'a user who may not use vtysh',
      { command_prefix: '["setpriv","--reuid=65534","--regid=65534","--clear-groups"]' },
      'not-permitted',
      /groups frrvty and frr/,
    ],
    ['a prefix that ends before it begins', { command_prefix: '["false"]' }, 'rejected', /code 1/],
  ] as const) {
    frr(`${what}: the check says so, and so does every other call`, async ({ router }) => {
      const driver = openFrr(router, { transport: 'local', ...options });
      assert.match((await fails(code, driver.check(never))).message, message);
      assert.match((await fails(code, driver.read('Svc-A', never))).message, message);
      assert.match((await fails(code, driver.replace('Svc-A', OLD, never))).message, message);
      await driver.close();
    });
  }

  frr('a user of no privilege but its groups may do it all', async ({ router, temporary }) => {
    await chmod(temporary, 0o777);
    const user = '["setpriv","--reuid=65534","--regid=65534","--groups=frr,frrvty"]';
    const driver = openFrr(router, { transport: 'local', write_memory: 'false', command_prefix: user });
    await driver.check(never);
    await driver.replace('Svc-NOBODY', OLD, never);
    assert.equal(await driver.read('Svc-NOBODY', never), OLD);
    await driver.close();
  });

  frr.run();
} else {
  console.log(`skipped: frr when things go wrong, as this machine has no ${missing}`);
  test.skip('frr when things go wrong');
}

/** The prefixes in a daemon's answer, sorted. */
function entriesOf(answer: string | undefined): string {
  return [...(answer ?? '').matchAll(/"prefix":"([^"]+)"/g)]
    .map(([, prefix = '']) => prefix)
    .sort()
    .join();
}

test.run();
