const OCTETS = Array.from({ length: 256 }, (_, value) => String(value));
const OCTETS_DOT = OCTETS.map((octet) => `${octet}.`);
const HEXADECIMAL = Array.from({ length: 256 }, (_, value) => value.toString(16));
const HEXADECIMAL_PADDED = HEXADECIMAL.map((digits) => digits.padStart(2, '0'));

const MAPPED_PREFIX = 0xffff;

/** The dotted quad of an unsigned 32-bit number. */
export function ipv4Text(value: number): string {
  return `${OCTETS_DOT[value >>> 24]}${OCTETS_DOT[(value >>> 16) & 255]}${OCTETS_DOT[(value >>> 8) & 255]}${OCTETS[value & 255]}`;
}

/** The first three numbers of a dotted quad, each with its dot. */
export function ipv4Prefix(value: number): string {
  return `${OCTETS_DOT[value >>> 24]}${OCTETS_DOT[(value >>> 16) & 255]}${OCTETS_DOT[(value >>> 8) & 255]}`;
}

/** One number of a dotted quad. */
export function octetText(octet: number): string {
  return OCTETS[octet] ?? '';
}

/**
 * The RFC 5952 text of an IPv6 address in limbs (upper 32, middle 48, lower 48 bits).
 * After its section 5, IPv4-mapped addresses (`::ffff:0:0/96`), and only these, end in a dotted quad: `::ffff:192.0.2.1`.
 */
export function ipv6Text(high: number, middle: number, low: number): string {
  const group5 = Math.floor(low / 2 ** 32);
  const lowest = low >>> 0;
  if (high === 0 && middle === 0 && group5 === MAPPED_PREFIX) return `::ffff:${ipv4Text(lowest)}`;
  groups[0] = high >>> 16;
  groups[1] = high;
  groups[2] = Math.floor(middle / 2 ** 32);
  groups[3] = (middle >>> 0) >>> 16;
  groups[4] = middle >>> 0;
  groups[5] = group5;
  groups[6] = lowest >>> 16;
  groups[7] = lowest;
  return compressed();
}

/** Holds the groups of the address being written; writing is synchronous. */
const groups = new Uint16Array(8);

function compressed(): string {
  let gap = -1;
  let gapLength = 1;
  for (let i = 0; i < 8; i++) {
    if (groups[i] !== 0) continue;
    const start = i;
    while (i < 8 && groups[i] === 0) i++;
    if (i - start > gapLength) {
      gap = start;
      gapLength = i - start;
    }
  }
  if (gap < 0) return joined(0, 8);
  return `${joined(0, gap)}::${joined(gap + gapLength, 8)}`;
}

function joined(from: number, to: number): string {
  let text = '';
  for (let i = from; i < to; i++) {
    const group = groups[i] ?? 0;
    if (i > from) text += ':';
    if (group > 255) text += `${HEXADECIMAL[group >>> 8]}${HEXADECIMAL_PADDED[group & 255]}`;
    else text += HEXADECIMAL[group];
  }
  return text;
}
