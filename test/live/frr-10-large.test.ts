import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { suite, test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RouterDriver } from '../../src/ports/routers.ts';
import { ipv4Hosts, ipv6Sites, never } from '../contracts/router-driver.ts';
import { type LabRouter, startFrr } from '../support/routers/frr.ts';
import { openFrr } from '../support/routers/frr-contract.ts';
import { type LabSshd, missingForSshd, startSshd } from '../support/routers/sshd.ts';
import { frrOfTrixie, missingForTrixie } from '../support/routers/trixie.ts';

const missing = missingForTrixie() ?? missingForSshd();
const MANY = 10_000;

if (missing === undefined) {
  const large = suite<{
    router: LabRouter;
    sshd: LabSshd;
    driver: RouterDriver;
    removeTemporary: () => Promise<void>;
  }>('large lists on frr 10 over SSH');

  large.before(async (context) => {
    const kind = await frrOfTrixie();
    context.router = await startFrr(kind);
    context.sshd = await startSshd();
    // Commands run below the other root, and keep their temporary files there.
    await mkdir(join(kind.root, context.sshd.temporary), { recursive: true });
    context.removeTemporary = () => rm(join(kind.root, dirname(context.sshd.temporary)), { recursive: true });
    context.driver = openFrr(context.router, context.sshd.options);
  });
  large.after(async ({ router, sshd, driver, removeTemporary }) => {
    await driver?.close();
    await removeTemporary?.();
    await sshd?.stop();
    await router?.stop();
  });

  for (const [what, prefixes] of [
    ['10,000 entries of each version', [...ipv4Hosts(MANY), ...ipv6Sites(MANY)]],
    ['1 in 100 of them changes', [...ipv4Hosts(MANY, 100), ...ipv6Sites(MANY, 100)]],
    ['all of them change', [...ipv4Hosts(MANY, 20_000), ...ipv6Sites(MANY, 20_000)]],
    ['all but a few go', [...ipv4Hosts(10, 20_000), ...ipv6Sites(10, 20_000)]],
    ['all come back', [...ipv4Hosts(MANY), ...ipv6Sites(MANY)]],
    ['none is left', []],
  ] as const) {
    large(what, async ({ driver }) => {
      const began = performance.now();
      await driver.replace('Svc-LARGE', prefixes, never);
      const changed = performance.now();
      const found = await driver.read('Svc-LARGE', never);
      const read = performance.now();
      console.log(`${what}: changed in ${Math.round(changed - began)} ms, read in ${Math.round(read - changed)} ms`);
      assert.equal(found, prefixes.length === 0 ? 'absent' : prefixes);
    });
  }

  large(
    'whoever looks while more changes than FRR commits at once sees nothing but old and new, and all that stays',
    async ({ driver, router }) => {
      const old = ipv4Hosts(6000);
      const next = ipv4Hosts(6000, 3000);
      await driver.replace('Svc-STEPS', old, never);
      const allowed = new Set([...old, ...next]);
      const staying = old.filter((prefix) => next.includes(prefix));
      const sizes = new Set<number>();
      const look = async (): Promise<void> => {
        const answer = await router.vtysh('-d', 'bgpd', '-c', 'show ip prefix-list Svc-STEPS json');
        const seen = new Set([...answer.matchAll(/"prefix":"([^"]+)"/g)].map(([, prefix = '']) => prefix));
        for (const prefix of seen) assert.ok(allowed.has(prefix), prefix);
        assert.is(staying.filter((prefix) => !seen.has(prefix)).length, 0);
        sizes.add(seen.size);
      };
      const over = driver.replace('Svc-STEPS', next, never).then(() => true);
      while (!(await Promise.race([over, look().then(() => false)])));
      assert.equal(await driver.read('Svc-STEPS', never), next);
      console.log(`seen on the way: lists of ${[...sizes].join(', ')} entries`);
    },
  );

  large.run();
} else {
  console.log(`skipped: large lists on frr 10, as this machine has no ${missing}`);
  test.skip('large lists on frr 10 over SSH');
}

test.run();
