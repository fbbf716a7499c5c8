import { type Cidr, formatCidr } from '../../../addresses/cidr.ts';
import { type Dialect, orderedEntries } from './dialect.ts';
import { editOperation } from './operations.ts';
import { childNamed, element, elementsAt, textOf, type XmlElement } from '../../xml.ts';

/** The namespace of the Junos configuration, as Junos shows it. */
const JUNOS = 'http://xml.juniper.net/xnm/1.1/xnm';

const own = (name: string, content: string | readonly XmlElement[]): XmlElement => element(JUNOS, name, content);

/**
 * Junos: `policy-options prefix-list`. An empty list stays, without items: it matches nothing, and policies that name it can
 * still be committed, which they could not be without it.
 */
export const JUNOS_DIALECT: Dialect = {
  filterFor: (list) => configuration(own('prefix-list', [own('name', list)])),
  namesFilter: configuration(own('prefix-list', [own('name', [])])),
  namesIn: (data) => listsIn(data).flatMap((list) => textOf(childNamed(list, 'name')) ?? []),
  replacementFor: (list, prefixes) =>
    configuration(
      element(JUNOS, 'prefix-list', [own('name', list), ...prefixes.map(item)], [editOperation('replace')]),
    ),
  removalOf: (list) => configuration(element(JUNOS, 'prefix-list', [own('name', list)], [editOperation('delete')])),
  entriesIn: (data, list) => {
    const found = listsIn(data).find((candidate) => textOf(childNamed(candidate, 'name')) === list);
    if (found === undefined) return 'absent';
    const isOff = elementsAt(data, 'configuration', 'policy-options').some(isInactive);
    return isOff ? [...entriesOf(found), 'inactive: all of policy-options'] : entriesOf(found);
  },
  harmlessWarnings: [
    /^statement not found$/,
    /^mgd: statement has no contents; ignored$/,
    /^commit confirmed will be automatically rolled back in \d+ (?:minutes?|seconds?) unless confirmed$/,
    /^uncommitted changes will be discarded on exit$/,
    /^requires '[^']+' license$/,
  ],
};

function listsIn(data: XmlElement | undefined): readonly XmlElement[] {
  return elementsAt(data, 'configuration', 'policy-options', 'prefix-list');
}

function configuration(list: XmlElement): XmlElement {
  return own('configuration', [own('policy-options', [list])]);
}

function item(cidr: Cidr): XmlElement {
  return own('prefix-list-item', [own('name', formatCidr(cidr))]);
}

function entriesOf(list: XmlElement): readonly string[] {
  const prefixes: string[] = [];
  const foreign: string[] = isInactive(list) ? ['inactive: the whole list'] : [];
  for (const child of list.children) {
    if (child.name === 'name') continue;
    const text = textOf(childNamed(child, 'name')) ?? '';
    if (child.name !== 'prefix-list-item') foreign.push(`${child.name} ${textOf(child) ?? ''}`.trim());
    else if (isInactive(child)) foreign.push(`inactive: ${text}`);
    else prefixes.push(text);
  }
  return orderedEntries(prefixes, foreign);
}

/** Junos keeps what is deactivated in its configuration, marked, and does not use it. */
function isInactive({ attributes }: XmlElement): boolean {
  return attributes.some(({ name, value }) => name === 'inactive' && value === 'inactive');
}
