// The accounts of docs/routers.md on FRR with the file modes of its Debian package: what `router test` says of saving is what happens.
import { chmod, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RouterDriver } from '../../src/ports/routers.ts';
import { fails, never } from '../contracts/router-driver.ts';
import { FRR_OF_THIS_MACHINE, type LabRouter, missingForFrr, startFrr } from '../support/routers/frr.ts';
import { openFrr } from '../support/routers/frr-contract.ts';
import { runProgram } from '../support/servers/run-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const missing = missingForFrr();
const LIST = 'Svc-ACCOUNT';

/** An account that is in the groups which the documentation names, and in no other. */
const MEMBER = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--groups=frr,frrvty'];
/** What `sudo -n -u frr` makes of an account. */
const FRR_ITSELF = ['setpriv', '--reuid=frr', '--regid=frr', '--init-groups'];

type Context = {
  router: LabRouter;
  etc: string;
  removeTemporary: () => Promise<void>;
  open: (prefix: readonly string[]) => RouterDriver;
};

if (missing === undefined) {
  const frr = suite<Context>('frr with the file modes of its package');

  frr.before(async (context) => {
    const { path, remove } = await temporaryFolder();
    await chmod(path, 0o1777);
    process.env.TMPDIR = path;
    context.removeTemporary = remove;
  });
  frr.after(({ removeTemporary }) => removeTemporary());
  frr.before.each(async (context) => {
    const router = await startFrr(FRR_OF_THIS_MACHINE);
    context.router = router;
    context.etc = `/etc/frr/${router.name}`;
    await chmod(context.etc, 0o750);
    await runProgram(['sh', '-c', 'chmod 0640 "$0"/*.conf', context.etc]);
    context.open = (prefix) => openFrr(router, { transport: 'local', command_prefix: JSON.stringify(prefix) });
  });
  frr.after.each(({ router }) => router.stop());

  const isKept = (context: Context, prefix: readonly string[]): Promise<void> =>
    using(context.open(prefix), async (driver) => {
      await driver.check(never);
      await driver.replace(LIST, ['192.0.2.0/24'], never);
      await context.router.restart();
      assert.equal(await driver.read(LIST, never), ['192.0.2.0/24']);
      await driver.remove(LIST, never);
      await context.router.restart();
      assert.is(await driver.read(LIST, never), 'absent');
    });

  frr(
    'a member of the groups, without watchfrr: the list is in force, and each call says that it is not saved',
    async (context) => {
      const { router, open } = context;
      await using(open(MEMBER), async (driver) => {
        const refused = await fails('not-saved', driver.check(never));
        assert.match(refused.message, `${context.etc} and its frr.conf can't be written by this user, and watchfrr`);
        const replaced = await fails('not-saved', driver.replace(LIST, ['192.0.2.0/24'], never));
        assert.match(replaced.message, /Svc-ACCOUNT is in force, and was not saved: .*Permission denied/);
        assert.equal(await driver.read(LIST, never), ['192.0.2.0/24']);
        assert.ok(driver.save);
        await fails('not-saved', driver.save(never));
        await router.restart();
        assert.is(await driver.read(LIST, never), 'absent');
      });
    },
  );

  frr('a removal that could not be saved is one until FRR starts again', async ({ router, open }) => {
    await using(open(['env']), (driver) => driver.replace(LIST, ['192.0.2.0/24'], never));
    await using(open(MEMBER), async (driver) => {
      const failure = await fails('not-saved', driver.remove(LIST, never));
      assert.match(failure.message, /Svc-ACCOUNT is gone from what runs, and that was not saved: .*Permission denied/);
      assert.is(await driver.read(LIST, never), 'absent');
      await router.restart();
      assert.equal(await driver.read(LIST, never), ['192.0.2.0/24']);
    });
  });

  frr('a member of the groups, under watchfrr as the package starts it', async (context) => {
    const { router, open, etc } = context;
    const watch = ['/usr/lib/frr/watchfrr', '-d', '--dry', '-N', router.name, 'zebra', 'bgpd'];
    await runProgram(['sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh', 'ip', 'netns', 'exec', router.name, ...watch]);
    await using(open(MEMBER), async (driver) => {
      await driver.check(never);
      await driver.replace(LIST, ['192.0.2.0/24'], never);
    });
    assert.match(await readFile(join(etc, 'frr.conf'), 'utf8'), `ip prefix-list ${LIST} seq 5 permit 192.0.2.0/24`);
  });

  frr('commands that run as frr, without watchfrr', (context) => isKept(context, FRR_ITSELF));

  frr('a member of the groups who may write the directory', async (context) => {
    await chmod(context.etc, 0o2770);
    await isKept(context, MEMBER);
  });

  frr('a router without vtysh.conf, of which vtysh says so with every command', async (context) => {
    await unlink(join(context.etc, 'vtysh.conf'));
    await isKept(context, FRR_ITSELF);
  });

  frr('where each daemon writes a file of its own', async (context) => {
    await writeFile(join(context.etc, 'vtysh.conf'), 'no service integrated-vtysh-config\n');
    await using(context.open(MEMBER), async (driver) => {
      await driver.check(never);
      await driver.replace(LIST, ['192.0.2.0/24'], never);
      assert.ok(driver.save);
      await driver.save(never);
    });
    assert.match(await readFile(join(context.etc, 'bgpd.conf'), 'utf8'), `ip prefix-list ${LIST} seq 5 permit`);
  });

  frr.run();
} else {
  console.log(`skipped: frr with the file modes of its package, as this machine has no ${missing}`);
  test.skip('frr with the file modes of its package');
}

async function using(driver: RouterDriver, work: (driver: RouterDriver) => Promise<void>): Promise<void> {
  try {
    await work(driver);
  } finally {
    await driver.close();
  }
}

test.run();
