import { RangeSetBuilder } from '../../addresses/range-set-builder.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { TextCursor } from '../../addresses/address-scanner.ts';
import { BULK_IPS_MAX, type AskedChange } from './address-change-body.ts';

/**
 * Reads the body of a bulk change that is just an action and a list of addresses, straight from its bytes:
 *
 *     body     = "{" member "," member "}"            one of each kind, in either order
 *     member   = "\"action\"" ":" action | "\"ips\"" ":" "[" address { "," address } "]"
 *     action   = "\"enable\"" | "\"disable\""
 *     address  = "\"" IPv4 | IPv6 "\""                 1 to 10,000; without escapes
 *
 * with JSON's white space between any two of them (RFC 8259). `JSON.parse` would make a text of each address, which costs more than all
 * else that is done with 10,000 of them: with it and the schema, reading takes 30 times as long. Undefined for any other body, right or
 * wrong: JSON and the schema say what that means. What is read here is read the same there: a random test holds both to it. To be removed
 * when the schema reads 10,000 addresses in a millisecond or two.
 */
export function readListedChange(body: Uint8Array): AskedChange | undefined {
  const cursor = new TextCursor(body);
  let action: AskedChange['action'] | undefined;
  let set: RangeSet | undefined;
  if (!takesToken(cursor, OPEN_OBJECT)) return undefined;
  do {
    skipSpace(cursor);
    if (action === undefined && takesText(cursor, '"action"') && takesToken(cursor, COLON)) {
      action = readAction(cursor);
      if (action === undefined) return undefined;
    } else if (set === undefined && takesText(cursor, '"ips"') && takesToken(cursor, COLON)) {
      set = readAddresses(cursor);
      if (set === undefined) return undefined;
    } else {
      return undefined;
    }
  } while (takesToken(cursor, COMMA));
  if (!takesToken(cursor, CLOSE_OBJECT)) return undefined;
  skipSpace(cursor);
  if (!cursor.isAtEnd || action === undefined || set === undefined) return undefined;
  const target = { mode: 'list', set, texts: () => textsOf(body) } as const;
  return { action, synchronous: false, target, grounds: {}, until: undefined };
}

function readAction(cursor: TextCursor): AskedChange['action'] | undefined {
  skipSpace(cursor);
  if (takesText(cursor, '"disable"')) return 'disable';
  return takesText(cursor, '"enable"') ? 'enable' : undefined;
}

function readAddresses(cursor: TextCursor): RangeSet | undefined {
  if (!takesToken(cursor, OPEN_ARRAY)) return undefined;
  const intake = new RangeSetBuilder(Math.min(BULK_IPS_MAX, Math.ceil(cursor.end / SHORTEST_ENTRY)));
  let count = 0;
  do {
    skipSpace(cursor);
    if (!cursor.takes(QUOTE)) return undefined;
    const ipv4 = cursor.ipv4();
    if (ipv4 >= 0) intake.addIpv4(ipv4, ipv4);
    else if (cursor.ipv6()) intake.addIpv6(cursor.words, cursor.words);
    else return undefined;
    if (!cursor.takes(QUOTE) || ++count > BULK_IPS_MAX) return undefined;
  } while (takesToken(cursor, COMMA));
  return takesToken(cursor, CLOSE_ARRAY) ? RangeSet.fromIntake(intake) : undefined;
}

/** The addresses as they were written, for a refusal that must name one of them. */
function textsOf(body: Uint8Array): readonly string[] {
  const { ips } = JSON.parse(new TextDecoder().decode(body)) as Readonly<{ ips: readonly string[] }>;
  return ips;
}

/** Takes one character, and the space before it. */
function takesToken(cursor: TextCursor, code: number): boolean {
  skipSpace(cursor);
  return cursor.takes(code);
}

function takesText(cursor: TextCursor, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (cursor.bytes[cursor.at + i] !== text.charCodeAt(i)) return false;
  cursor.at += text.length;
  return true;
}

/** RFC 8259: space, tab, line feed and carriage return mean nothing between tokens. */
function skipSpace(cursor: TextCursor): void {
  for (;;) {
    const code = cursor.bytes[cursor.at] ?? 0;
    if (code > SPACE) return;
    if (code !== SPACE && code !== TAB && code !== LINE_FEED && code !== CARRIAGE_RETURN) return;
    cursor.at++;
  }
}

/** `"::",` */
const SHORTEST_ENTRY = 5;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [123, 125, 91, 93];
const [QUOTE, COMMA, COLON] = [34, 44, 58];
const [SPACE, TAB, LINE_FEED, CARRIAGE_RETURN] = [32, 9, 10, 13];
