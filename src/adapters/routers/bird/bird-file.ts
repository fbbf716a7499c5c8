import { createHash } from 'node:crypto';
import { type Cidr, formatCidr } from '../../../kernel/addresses/cidr.ts';
import { canonicalCidr, compareCidrs } from '../prefixes.ts';
import { symbolsOf } from './bird-symbols.ts';

/** What a list's file holds, whoever wrote it. */
export type BirdFile = Readonly<{
  /** The prefixes that match exactly themselves, in numeric order. */
  cidrs: readonly Cidr[];
  /** The other items in BIRD's words, and remarks on what can't be read. */
  foreign: readonly string[];
  /** The value of the list's edition, or undefined where there is none. */
  edition: string | undefined;
  /** The file is, to the byte, what we write for its prefixes and edition. */
  isOurs: boolean;
}>;

/** The file that defines a list: a set for each IP version, and the edition, which BIRD gives back once it has loaded the file. */
export function renderFile(list: string, cidrs: readonly Cidr[], edition: string): string {
  const { ipv4, ipv6, edition: editionSymbol } = symbolsOf(list);
  return [
    `# ${list}: ${cidrs.length} prefixes. edgeward writes this file anew with every change.`,
    `define ${ipv4} = ${setOf(cidrs.filter(({ version }) => version === 4))};`,
    `define ${ipv6} = ${setOf(cidrs.filter(({ version }) => version === 6))};`,
    `define ${editionSymbol} = "${edition}";`,
    '',
  ].join('\n');
}

/** An edition of a list: a change's own id and a digest of the content. */
export function editionOf(changeId: string, cidrs: readonly Cidr[]): string {
  const content = cidrs.map((cidr) => `${formatCidr(cidr)}\n`).join('');
  return `${changeId} ${createHash('sha256').update(content).digest('hex')}`;
}

/** Reads a list's file, also one that was edited by hand. */
export function parseFile(text: string, list: string): BirdFile {
  const { ipv4, ipv6, edition: editionSymbol } = symbolsOf(list);
  const uncommented = text.replace(/#.*|\/\*[\s\S]*?\*\//g, '');
  const sets = [ipv4, ipv6].map((symbol) => valueOf(uncommented, symbol));
  const items = sets.flatMap((set) => itemsIn(set) ?? []);
  const cidrs = items.flatMap((item) => canonicalCidr(item) ?? []).sort(compareCidrs);
  const foreign = items.filter((item) => canonicalCidr(item) === undefined);
  const unread = [ipv4, ipv6].filter((_, at) => itemsIn(sets[at]) === undefined);
  const edition = valueOf(uncommented, editionSymbol)?.match(/^"([^"]*)"$/)?.[1];
  return {
    cidrs,
    foreign: [...foreign, ...unread.map((symbol) => `# no set ${symbol} in the file`)],
    edition,
    isOurs: edition !== undefined && text === renderFile(list, cidrs, edition),
  };
}

function setOf(cidrs: readonly Cidr[]): string {
  return cidrs.length === 0 ? '[]' : `[\n${cidrs.map(formatCidr).join(',\n')}\n]`;
}

/** What is defined under a name, up to the semicolon. */
function valueOf(text: string, symbol: string): string | undefined {
  const definition = new RegExp(String.raw`\bdefine\s+${escapeRegExp(symbol)}\s*=([^;]*);`);
  return definition.exec(text)?.[1]?.trim();
}

function itemsIn(set: string | undefined): readonly string[] | undefined {
  const items = /^\[([^\][]*)\]$/.exec(set ?? '')?.[1];
  if (items === undefined) return undefined;
  return items
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
