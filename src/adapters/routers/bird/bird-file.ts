import { createHash } from 'node:crypto';
import { compareCidrs, type Cidr, formatCidr } from '../../../addresses/cidr.ts';
import { canonicalCidr } from '../driver-kit/prefix-lists.ts';
import { symbolsOf } from './bird-symbols.ts';

/** What a list's file holds, whether edgeward or an operator wrote it. */
export type BirdFile = Readonly<{
  /** The prefixes that match exactly themselves, in numeric order. */
  cidrs: readonly Cidr[];
  /** The other items in BIRD's words, and remarks on what can't be read. */
  foreign: readonly string[];
  /** The edition of a file that is, to the byte, what we write for its prefixes; undefined for all others. */
  edition: string | undefined;
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
  return `${changeId} ${digestOf(cidrs)}`;
}

/** Whether a file is, to the byte, what we wrote for these prefixes; then its edition, otherwise undefined. */
export function editionIfOurs(text: string, list: string, cidrs: readonly Cidr[]): string | undefined {
  const edition = editionIn(withoutComments(text), list);
  const isOurs = edition?.endsWith(` ${digestOf(cidrs)}`) === true && text === renderFile(list, cidrs, edition);
  return isOurs ? edition : undefined;
}

/** Reads a list's file, also one that was edited by hand. */
export function parseFile(text: string, list: string): BirdFile {
  const { ipv4, ipv6 } = symbolsOf(list);
  const uncommented = withoutComments(text);
  const cidrs: Cidr[] = [];
  const foreign: string[] = [];
  for (const symbol of [ipv4, ipv6]) {
    const items = itemsIn(valueOf(uncommented, symbol));
    if (items === undefined) foreign.push(`# no set ${symbol} in the file`);
    for (const item of items ?? []) {
      const cidr = canonicalCidr(item);
      if (cidr === undefined) foreign.push(item);
      else cidrs.push(cidr);
    }
  }
  const edition = editionIfOurs(text, list, cidrs);
  return { cidrs: edition === undefined ? cidrs.sort(compareCidrs) : cidrs, foreign, edition };
}

function editionIn(uncommented: string, list: string): string | undefined {
  return valueOf(uncommented, symbolsOf(list).edition)?.match(/^"([^"]*)"$/)?.[1];
}

function withoutComments(text: string): string {
  return text.replace(/#.*|\/\*[\s\S]*?\*\//g, '');
}

function digestOf(cidrs: readonly Cidr[]): string {
  const content = cidrs.map((cidr) => `${formatCidr(cidr)}\n`).join('');
  return createHash('sha256').update(content).digest('hex');
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
  return (items.match(ITEM) ?? []).map((item) => item.trim()).filter((item) => item !== '');
}

/** A prefix, and the lengths that may follow it in braces. */
const ITEM = /[^,{}]+(?:\{[^}]*\})?/g;

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
