import { spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { killed, startBoundProcess } from '../servers/bound-process.ts';
import { type LabRouter, type LabRouterKind, startFrr } from './frr.ts';
import { createNamespace, labName, removeNamespace } from './netns.ts';
import { runProgram } from '../servers/run-program.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { waitUntil } from '../wait-until.ts';

/** A router with a BGP neighbour, each in a network of its own, joined by a cable. */
export type BgpLab = Readonly<{
  router: LabRouter;
  /** The prefixes that the neighbour has from the router, sorted. */
  learned: () => Promise<readonly string[]>;
  /** Writes down which prefixes the neighbour hears to be withdrawn, until it is asked for them. */
  watchWithdrawals: () => Promise<() => Promise<readonly string[]>>;
  stop: () => Promise<void>;
}>;

/** What the router would announce if its list permitted it. */
export const ORIGINATED = {
  ip: ['203.0.113.0/24', '203.0.113.7/32', '203.0.113.8/32'],
  ipv6: ['2001:db8:7::/48', '2001:db8:8::/48'],
} as const;

export function missingForBgp(): string | undefined {
  return spawnSync('gobgpd', ['--version']).status === 0 ? undefined : 'gobgpd (package gobgpd)';
}

/** `list` is the prefix-list that decides what the router announces to its neighbour. */
export async function startBgpLab(kind: LabRouterKind, list: string): Promise<BgpLab> {
  const folder = await temporaryFolder();
  const neighbour = labName();
  const killAtExit = (): void => removeNamespace(neighbour);
  process.once('exit', killAtExit);
  await createNamespace(neighbour);
  const router = await startFrr(kind, routerConfiguration(list));
  await joinByCable(router.name, neighbour);
  const config = join(folder.path, 'gobgpd.toml');
  await writeFile(config, neighbourConfiguration());
  const inside = (...words: readonly string[]): readonly string[] => ['ip', 'netns', 'exec', neighbour, ...words];
  const daemon = startBoundProcess(inside('gobgpd', '-f', config, '--api-hosts', '127.0.0.1:50051'));

  const learned = async (): Promise<readonly string[]> => {
    const tables = await Promise.all(
      ['ipv4', 'ipv6'].map((family) => runProgram(inside('gobgp', 'global', 'rib', '-a', family, '-j'))),
    );
    return tables.flatMap((table) => Object.keys(JSON.parse(table))).sort();
  };
  await waitUntil('the neighbours speak BGP', async () => {
    const neighbours = await runProgram(inside('gobgp', 'neighbor')).catch(() => '');
    return /Establ/.test(neighbours);
  });
  return {
    router,
    learned,
    watchWithdrawals: () => watchWithdrawals(inside('gobgp', 'monitor', 'global', 'rib', '--current')),
    stop: async () => {
      await killed(daemon);
      await router.stop();
      removeNamespace(neighbour);
      process.off('exit', killAtExit);
      await folder.remove();
    },
  };
}

async function joinByCable(router: string, neighbour: string): Promise<void> {
  const cable = [
    'link',
    'add',
    'to-neighbour',
    'netns',
    router,
    'type',
    'veth',
    'peer',
    'name',
    'to-router',
    'netns',
    neighbour,
  ];
  await runProgram(['ip', ...cable]);
  for (const [namespace, device, addresses] of [
    [router, 'to-neighbour', ['10.9.0.1/30', 'fd09::1/64']],
    [neighbour, 'to-router', ['10.9.0.2/30', 'fd09::2/64']],
  ] as const) {
    for (const address of addresses) {
      const duplicates = address.includes(':') ? ['nodad'] : [];
      await runProgram(['ip', '-n', namespace, 'addr', 'add', address, 'dev', device, ...duplicates]);
    }
    await runProgram(['ip', '-n', namespace, 'link', 'set', device, 'up']);
  }
}

async function watchWithdrawals(words: readonly string[]): Promise<() => Promise<readonly string[]>> {
  const [program = '', ...args] = words;
  const withdrawn: string[] = [];
  const monitor = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let begun = false;
  createInterface(monitor.stdout).on('line', (line) => {
    begun = true;
    const prefix = /\[DELROUTE\] (\S+)/.exec(line)?.[1];
    if (prefix !== undefined) withdrawn.push(prefix);
  });
  // It begins with what there is.
  await waitUntil('the monitor has begun', () => begun);
  return async () => {
    monitor.kill('SIGKILL');
    return withdrawn;
  };
}

function routerConfiguration(list: string): string {
  return `frr defaults traditional
bgp route-map delay-timer 1
route-map TO-NEIGHBOUR permit 10
 match ip address prefix-list ${list}
 set community 65535:666 no-export
route-map TO-NEIGHBOUR permit 20
 match ipv6 address prefix-list ${list}
 set community 65535:666 no-export
router bgp 65001
 bgp router-id 10.9.0.1
 no bgp ebgp-requires-policy
 no bgp network import-check
 neighbor 10.9.0.2 remote-as 65002
 neighbor 10.9.0.2 timers 3 9
 neighbor 10.9.0.2 timers connect 1
 neighbor 10.9.0.2 advertisement-interval 0
 address-family ipv4 unicast
${ORIGINATED.ip.map((prefix) => `  network ${prefix}`).join('\n')}
  neighbor 10.9.0.2 route-map TO-NEIGHBOUR out
 exit-address-family
 address-family ipv6 unicast
${ORIGINATED.ipv6.map((prefix) => `  network ${prefix}`).join('\n')}
  neighbor 10.9.0.2 activate
  neighbor 10.9.0.2 route-map TO-NEIGHBOUR out
 exit-address-family
`;
}

function neighbourConfiguration(): string {
  return `[global.config]
  as = 65002
  router-id = "10.9.0.2"
[[neighbors]]
  [neighbors.config]
    neighbor-address = "10.9.0.1"
    peer-as = 65001
  [neighbors.timers.config]
    connect-retry = 1
    hold-time = 9
    keepalive-interval = 3
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv4-unicast"
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv6-unicast"
`;
}
