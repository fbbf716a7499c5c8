import { BlockList, isIP } from 'node:net';
import {
  MULTICAST_IPV4,
  MULTICAST_IPV6,
  SPECIAL_PURPOSE_IPV4,
  SPECIAL_PURPOSE_IPV6,
  type SpecialPurposeBlock,
} from '../../addresses/special-purpose-registry.ts';

/** Says why an address must not be connected to, as the end of "address … is …"; `undefined` when it may be. */
export type RefuseAddress = (address: string) => string | undefined;

type Rule = readonly [kind: string, ...blocks: string[]];

/** What the guard calls the blocks of the registries, in the order in which they are looked at; the others are reserved. */
const KINDS_4: Readonly<Record<string, string>> = {
  'this network': 'unspecified',
  'private use': 'private',
  'shared address space': 'shared by a carrier-grade NAT',
  loopback: 'loopback',
  'link local': 'link-local',
  documentation: 'for documentation',
  benchmarking: 'for benchmarks',
  'limited broadcast': 'broadcast',
};
const KINDS_6: Readonly<Record<string, string>> = {
  'link local': 'link-local',
  'unique local': 'unique-local',
  documentation: 'for documentation',
  '6to4': 'for 6to4',
  'IPv4-IPv6 translation for local use': 'for a local NAT64',
};

/**
 * The blocks of the registries as far as a public receiver can't be there, multicast, and the metadata services of clouds, some
 * of which sit in addresses that are public otherwise. The first row that holds an address names it.
 */
const VERSION_4: readonly Rule[] = [
  ['a metadata service', '169.254.169.254/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ['multicast', MULTICAST_IPV4],
  ...rulesOf(SPECIAL_PURPOSE_IPV4, KINDS_4),
];

/** Where an IPv6 address carries an IPv4 one in its last 32 bits and the network or the host goes to that one. */
const CARRIERS = ['::ffff:', '64:ff9b::', '::'];

const VERSION_6: readonly Rule[] = [
  ['a metadata service', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
  ['unspecified', '::/128'],
  ['loopback', '::1/128'],
  ...VERSION_4.map(carried),
  ['site-local', 'fec0::/10'], // deprecated, RFC 3879
  ['multicast', MULTICAST_IPV6],
  ...rulesOf(SPECIAL_PURPOSE_IPV6, KINDS_6),
];

/** What is assigned for global unicast, and the NAT64 prefix, whose IPv4 part was looked at before. */
const GLOBAL_6 = blockList(['2000::/3', '64:ff9b::/96']);

const RULES: Readonly<Record<4 | 6, readonly Readonly<{ kind: string; blocks: BlockList }>[]>> = {
  4: VERSION_4.map(([kind, ...blocks]) => ({ kind, blocks: blockList(blocks) })),
  6: VERSION_6.map(([kind, ...blocks]) => ({ kind, blocks: blockList(blocks) })),
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

/** A row for each kind, and one for the rest. */
function rulesOf(registry: readonly SpecialPurposeBlock[], kinds: Readonly<Record<string, string>>): readonly Rule[] {
  const refused = registry.filter(({ isReachable }) => !isReachable);
  const named = Object.entries(kinds).map(([name, kind]): Rule => [
    kind,
    ...refused.filter((row) => row.name === name).map(({ block }) => block),
  ]);
  const others = refused.filter(({ name }) => !Object.hasOwn(kinds, name)).map(({ block }) => block);
  return [...named, ['reserved', ...others]];
}

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
