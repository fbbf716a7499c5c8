/**
 * A strict dotted quad as an unsigned 32-bit number, or -1 for any other text. Reads the text where it lies: for thousands of
 * short texts that is cheaper than copying each of them into the bytes that a `TextCursor` reads.
 */
export function ipv4OfText(text: string): number {
  const { length } = text;
  if (length > LONGEST) return -1;
  let value = 0;
  let at = 0;
  for (let octet = 1; ; octet++) {
    let number = digitAt(text, at++);
    if (number < 0) return -1;
    let digit = digitAt(text, at);
    if (digit >= 0) {
      if (number === 0) return -1;
      number = number * 10 + digit;
      digit = digitAt(text, ++at);
      if (digit >= 0) {
        number = number * 10 + digit;
        if (number > 255) return -1;
        at++;
      }
    }
    value = (value << 8) | number;
    if (octet === 4) return at === length ? value >>> 0 : -1;
    if (at >= length || text.charCodeAt(at++) !== DOT) return -1;
  }
}

/** The decimal digit at a place of a text, or -1 where there is none. */
function digitAt(text: string, at: number): number {
  if (at >= text.length) return -1;
  const digit = text.charCodeAt(at) - ZERO;
  return digit <= 9 ? digit : -1;
}

const LONGEST = '255.255.255.255'.length;
const ZERO = 48;
const DOT = 46;
