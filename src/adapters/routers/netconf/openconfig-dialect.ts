import { type Cidr, formatCidr } from '../../../addresses/cidr.ts';
import { type Dialect, orderedEntries } from './dialect.ts';
import { editOperation } from './operations.ts';
import { childNamed, element, elementsAt, textOf, type XmlElement } from '../../xml.ts';

/** The namespace of openconfig-routing-policy. */
const ROUTING_POLICY = 'http://openconfig.net/yang/routing-policy';
const EXACT = 'exact';

const own = (name: string, content: string | readonly XmlElement[]): XmlElement =>
  element(ROUTING_POLICY, name, content);

/**
 * openconfig-routing-policy: one prefix-set, whose prefixes match exactly. An empty set stays, without prefixes: no prefix is
 * any of its prefixes, and policies refer to it by leafrefs that must lead somewhere.
 */
export const OPENCONFIG_DIALECT: Dialect = {
  filterFor: (list) => routingPolicy(own('prefix-set', [own('name', list)])),
  namesFilter: routingPolicy(own('prefix-set', [own('name', [])])),
  namesIn: (data) => setsIn(data).flatMap((set) => textOf(childNamed(set, 'name')) ?? []),
  removalOf: (list) =>
    routingPolicy(element(ROUTING_POLICY, 'prefix-set', [own('name', list)], [editOperation('delete')])),
  replacementFor: (list, prefixes) =>
    routingPolicy(
      element(
        ROUTING_POLICY,
        'prefix-set',
        [
          own('name', list),
          own('config', [own('name', list), ...modeOf(prefixes)]),
          ...(prefixes.length === 0 ? [] : [own('prefixes', prefixes.map(prefix))]),
        ],
        [editOperation('replace')],
      ),
    ),
  entriesIn: (data, list) => {
    const found = setsIn(data).find((candidate) => textOf(childNamed(candidate, 'name')) === list);
    return found === undefined ? 'absent' : entriesOf(found);
  },
  harmlessWarnings: [],
};

function setsIn(data: XmlElement | undefined): readonly XmlElement[] {
  return elementsAt(data, 'routing-policy', 'defined-sets', 'prefix-sets', 'prefix-set');
}

function routingPolicy(set: XmlElement): XmlElement {
  return own('routing-policy', [own('defined-sets', [own('prefix-sets', [set])])]);
}

/** The model wants it to say what is in the set, and lets devices refuse MIXED: so it is said only of a set that is mixed. */
function modeOf(prefixes: readonly Cidr[]): readonly XmlElement[] {
  const versions = new Set(prefixes.map(({ version }) => version));
  if (versions.size === 0) return [];
  return [own('mode', versions.size === 2 ? 'MIXED' : versions.has(4) ? 'IPV4' : 'IPV6')];
}

function prefix(cidr: Cidr): XmlElement {
  const leaves = [own('ip-prefix', formatCidr(cidr)), own('masklength-range', EXACT)];
  return own('prefix', [...leaves, own('config', leaves)]);
}

function entriesOf(set: XmlElement): readonly string[] {
  const prefixes: string[] = [];
  const foreign: string[] = [];
  for (const entry of elementsAt(set, 'prefixes', 'prefix')) {
    const text = textOf(childNamed(entry, 'ip-prefix')) ?? '';
    const range = textOf(childNamed(entry, 'masklength-range')) ?? '';
    if (range === EXACT) prefixes.push(text);
    else foreign.push(`${text} ${range}`);
  }
  return orderedEntries(prefixes, foreign);
}
