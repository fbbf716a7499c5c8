import { suite, test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RouterDriver } from '../../src/ports/routers.ts';
import { ipv4Hosts, never } from '../contracts/router-driver.ts';
import { type BgpLab, missingForBgp, ORIGINATED, startBgpLab } from '../support/routers/bgp.ts';
import { FRR_OF_THIS_MACHINE, type LabRouterKind, missingForFrr } from '../support/routers/frr.ts';
import { openFrr } from '../support/routers/frr-contract.ts';
import { frrOfTrixie, missingForTrixie } from '../support/routers/trixie.ts';
import { waitUntil } from '../support/wait-until.ts';

const LIST = 'Svc-ACME-BLACKHOLE';

/** What reaches a BGP neighbour of a router whose list the driver keeps. */
function announcementsOn(version: string, kind: () => Promise<LabRouterKind>): void {
  const bgp = suite<{ lab: BgpLab; driver: RouterDriver }>(`what a BGP neighbour hears from ${version}`);

  bgp.before(async (context) => {
    context.lab = await startBgpLab(await kind(), LIST);
    context.driver = openFrr(context.lab.router);
  });
  bgp.after(async ({ lab, driver }) => {
    await driver?.close();
    await lab?.stop();
  });

  const heard = async (lab: BgpLab, prefixes: readonly string[], what: string): Promise<void> => {
    const began = performance.now();
    const wanted = [...prefixes].sort().join();
    await waitUntil(`the neighbour has ${wanted || 'nothing'}`, async () => (await lab.learned()).join() === wanted);
    console.log(`${version}: ${what} after ${Math.round(performance.now() - began)} ms`);
  };

  bgp('nothing, as long as the list is missing', async ({ lab }) => {
    assert.equal(await lab.learned(), []);
  });

  for (const [what, prefixes] of [
    ['one prefix is announced', ['203.0.113.7/32']],
    ['another comes, IPv6 comes', ['203.0.113.7/32', '203.0.113.8/32', '2001:db8:7::/48']],
    ['the first goes, the others stay', ['203.0.113.8/32', '2001:db8:7::/48']],
    ['a block is not its hosts', ['203.0.113.0/24', '2001:db8:8::/48']],
    ['the list is empty', []],
    ['all', [...ORIGINATED.ip, ...ORIGINATED.ipv6]],
  ] as const) {
    bgp(`follows the list: ${what}`, async ({ lab, driver }) => {
      await driver.replace(LIST, prefixes, never);
      await heard(lab, prefixes, what);
    });
  }

  bgp('entries that somebody added to the list have no effect after the next change', async ({ lab, driver }) => {
    await driver.replace(LIST, ['203.0.113.7/32'], never);
    await lab.router.configure(`ip prefix-list ${LIST} seq 1000 permit any`);
    await heard(lab, ORIGINATED.ip, 'what somebody let out is announced');
    await driver.replace(LIST, ['203.0.113.7/32'], never);
    await heard(lab, ['203.0.113.7/32'], 'it is withdrawn');
  });

  bgp(
    'what stays in a list is not withdrawn for a moment, not even where the list is written anew',
    async ({ lab, driver }) => {
      await driver.replace(LIST, ['203.0.113.7/32', '203.0.113.8/32', ...ipv4Hosts(200)], never);
      await heard(lab, ['203.0.113.7/32', '203.0.113.8/32'], 'two of 202 are announced');
      const withdrawals = await lab.watchWithdrawals();
      await driver.replace(LIST, ['203.0.113.7/32', ...ipv4Hosts(10, 1000)], never);
      await heard(lab, ['203.0.113.7/32'], 'one of the two is withdrawn');
      assert.equal(await withdrawals(), ['203.0.113.8/32']);
    },
  );

  bgp('a list that was saved comes back with its router', async ({ lab, driver }) => {
    await driver.replace(LIST, ['203.0.113.7/32', '2001:db8:7::/48'], never);
    await heard(lab, ['203.0.113.7/32', '2001:db8:7::/48'], 'both are announced');
    await lab.router.restart();
    await heard(lab, ['203.0.113.7/32', '2001:db8:7::/48'], 'both are announced again');
    assert.equal(await driver.read(LIST, never), ['203.0.113.7/32', '2001:db8:7::/48']);
  });

  bgp('a list that was not saved comes back with the next change', async ({ lab }) => {
    const unsaved = openFrr(lab.router, { transport: 'local', write_memory: 'false' });
    await unsaved.replace(LIST, ['203.0.113.8/32'], never);
    await heard(lab, ['203.0.113.8/32'], 'it is announced');
    await lab.router.restart();
    await heard(lab, ['203.0.113.7/32', '2001:db8:7::/48'], 'what was saved is announced');
    await unsaved.replace(LIST, ['203.0.113.8/32'], never);
    await heard(lab, ['203.0.113.8/32'], 'it is announced again');
    await unsaved.close();
  });

  bgp.run();
}

const missing = missingForFrr() ?? missingForBgp();
if (missing === undefined) {
  announcementsOn('FRR 8', async () => FRR_OF_THIS_MACHINE);
} else {
  console.log(`skipped: what a BGP neighbour hears from FRR 8, as this machine has no ${missing}`);
  test.skip('what a BGP neighbour hears from FRR 8');
}

const missingForTen = missingForTrixie() ?? missingForBgp();
if (missingForTen === undefined) {
  announcementsOn('FRR 10', frrOfTrixie);
} else {
  console.log(`skipped: what a BGP neighbour hears from FRR 10, as this machine has no ${missingForTen}`);
  test.skip('what a BGP neighbour hears from FRR 10');
}

test.run();
