import { createHash } from 'node:crypto';

/** The names that a list has in BIRD's configuration, as they are written there, quotes included. */
export type BirdSymbols = Readonly<{
  ipv4: string;
  ipv6: string;
  /** Says which file was loaded: its value is another one for every change. */
  edition: string;
}>;

/** BIRD's names have at most 64 characters; three of them are the colon and the end of ours. */
const LONGEST_NAME = 60;

/**
 * A list's names in BIRD: `'<list>:4'`, `'<list>:6'` and `'<list>:id'`. A list whose name is longer than 60 characters goes by the
 * first 43 of them, a colon, and 16 hexadecimal digits of the whole name's SHA-256. No list has a colon in its name.
 */
export function symbolsOf(list: string): BirdSymbols {
  const name = list.length <= LONGEST_NAME ? list : `${list.slice(0, 43)}:${digits(list)}`;
  return { ipv4: `'${name}:4'`, ipv6: `'${name}:6'`, edition: `'${name}:id'` };
}

function digits(list: string): string {
  return createHash('sha256').update(list).digest('hex').slice(0, 16);
}
