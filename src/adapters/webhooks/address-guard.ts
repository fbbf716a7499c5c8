import { BlockList, isIP } from 'node:net';

/** Says why an address must not be connected to, as the end of "address … is …"; `undefined` when it may be. */
export type RefuseAddress = (address: string) => string | undefined;

type Rule = readonly [kind: string, ...blocks: string[]];

/**
 * The IANA special-purpose registries (RFC 6890) as far as a public receiver can't be there, multicast, and the
 * metadata services of clouds, some of which sit in addresses that are public otherwise. The first row that holds an address names it.
 */
const VERSION_4: readonly Rule[] = [
  ['a metadata service', '169.254.169.254/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ['unspecified', '0.0.0.0/8'],
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ['shared by a carrier-grade NAT', '100.64.0.0/10'],
  ['loopback', '127.0.0.0/8'],
  ['link-local', '169.254.0.0/16'],
  ['for documentation', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  ['for benchmarks', '198.18.0.0/15'],
  ['multicast', '224.0.0.0/4'],
  ['broadcast', '255.255.255.255/32'],
  ['reserved', '192.0.0.0/24', '192.88.99.0/24', '240.0.0.0/4'],
];

/** Where an IPv6 address carries an IPv4 one in its last 32 bits and the network or the host goes to that one. */
const CARRIERS = ['::ffff:', '64:ff9b::', '::'];

const VERSION_6: readonly Rule[] = [
  ['a metadata service', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
  ['unspecified', '::/128'],
  ['loopback', '::1/128'],
  ['link-local', 'fe80::/10'],
  ['unique-local', 'fc00::/7'],
  ['site-local', 'fec0::/10'],
  ['multicast', 'ff00::/8'],
  ['for documentation', '2001:db8::/32', '3fff::/20'],
  ['for 6to4', '2002::/16'],
  ['for a local NAT64', '64:ff9b:1::/48'],
  ['reserved', '2001::/23'],
];

/** What is assigned for global unicast, and the NAT64 prefix, whose IPv4 part was looked at before. */
const GLOBAL_6 = blockList(['2000::/3', '64:ff9b::/96']);

const RULES: Readonly<Record<4 | 6, readonly Readonly<{ kind: string; blocks: BlockList }>[]>> = {
  4: VERSION_4.map(([kind, ...blocks]) => ({ kind, blocks: blockList(blocks) })),
  6: [...VERSION_6.slice(0, 3), ...VERSION_4.map(carried), ...VERSION_6.slice(3)].map(([kind, ...blocks]) => ({
    kind,
    blocks: blockList(blocks),
  })),
};

/**
 * Refuses every address that is not a public unicast one: private, loopback, link-local, shared, unique-local, multicast,
 * documentation, reserved, a cloud's metadata service, and IPv6 forms that lead to such an IPv4 address. What is no address is refused too.
 */
export const refuseUnlessPublic: RefuseAddress = (address) => {
  const version = isIP(address);
  if (version !== 4 && version !== 6) return 'not an address';
  if (address.includes('%')) return 'link-local';
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const hit = RULES[version].find((rule) => rule.blocks.check(address, family));
  if (hit !== undefined) return hit.kind;
  return version === 6 && !GLOBAL_6.check(address, family) ? 'reserved' : undefined;
};

function carried([kind, ...blocks]: Rule): Rule {
  const inside = blocks.flatMap((block) => {
    const [base = '', length] = block.split('/');
    return CARRIERS.map((carrier) => `${carrier}${base}/${96 + Number(length)}`);
  });
  return [kind, ...inside];
}

function blockList(blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [base = '', length] = block.split('/');
    list.addSubnet(base, Number(length), base.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}
