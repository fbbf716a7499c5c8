import { z } from 'zod';
import { isAddressProblem } from '../../../addresses/address-problem.ts';
import { compareCidrs, type Cidr, formatCidr, parseCidr } from '../../../addresses/cidr.ts';
import { RouterFailure } from '../../../ports/routers.ts';

/** One entry of a prefix-list. `plain` ones permit exactly their prefix; all others are not ours. */
export type Entry = Readonly<{ sequence: number; cidr: Cidr; permits: boolean; plain: boolean; text: string }>;

const ENTRY = z.strictObject({
  sequenceNumber: z.int().min(1).max(4294967295),
  type: z.enum(['permit', 'deny']),
  prefix: z.string(),
  minimumPrefixLength: z.int().optional(),
  maximumPrefixLength: z.int().optional(),
});
const LIST = z.strictObject({
  addressFamily: z.enum(['IPv4', 'IPv6']),
  entries: z.array(ENTRY),
  description: z.string().optional(),
});
/** One daemon's answer: `{"BGP":{"<list>":{…}}}` before FRR 9, `{"bgpd":{"<list>":{…}}}` since. */
const ANSWER = z.record(z.string(), z.record(z.string(), LIST));
const SUMMARY = z.record(z.string(), z.record(z.string(), z.unknown()));

/** FRR 8.4 prints nothing for a list that is missing, FRR 10 what is no JSON at all: `{"bgpd":}`. */
const MISSING = /^(?:\{(?:"\w+":\s*(?:\{\s*\})?\s*)?\})?$/;

/** The entries of a list as a daemon shows them, or undefined when it has no such list. @throws RouterFailure `unreadable-answer` */
export function entriesIn(answer: string, list: string): readonly Entry[] | undefined {
  const text = answer.trim();
  if (MISSING.test(text)) return undefined;
  const daemons = Object.values(parse(text, list, ANSWER));
  const [lists] = daemons;
  if (lists === undefined || daemons.length > 1)
    throw unreadable(list, `${daemons.length} daemons answered in place of one`);
  return lists[list]?.entries.map((entry) => entryOf(entry, list));
}

/** The names of all lists in a daemon's summary of them. @throws RouterFailure `unreadable-answer` */
export function namesIn(answer: string): readonly string[] {
  const text = answer.trim();
  if (MISSING.test(text)) return [];
  return Object.values(parse(text, 'all lists', SUMMARY)).flatMap((lists) => Object.keys(lists));
}

/** The entries as the port wants them: CIDRs where they are ours, FRR's words where they are not; in numeric order. */
export function entryTexts(entries: readonly Entry[]): readonly string[] {
  return [...entries].sort((a, b) => compareCidrs(a.cidr, b.cidr)).map((entry) => entry.text);
}

/** The lines of vtysh's output that complain, shortened. Its exit code says 0 for a transaction that was rejected. */
export function complaintsIn(output: string): readonly string[] {
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => COMPLAINT.test(line) && !RETRIED.test(line) && !WITHOUT_SETTINGS.test(line))
    .map((line) => line.slice(0, 200));
}

const COMPLAINT = /^(?:line \d+: |\[\d+\|\w+\] )?%|^Error|^Exiting: |Configuration file\S* processing failure/;
/** FRR 10 says so while another session configures, and tries again by itself. */
const RETRIED = /candidate datastore locked by another session/;
/** vtysh says so with every command where it has no settings of its own, as in many containers, and does all the same. */
const WITHOUT_SETTINGS = /^% Can't open configuration file \S*\/vtysh\.conf due to /;

/** The major version in the answer to `show version`. @throws RouterFailure `unreadable-answer` */
export function majorVersionIn(answer: string): number {
  const version = /^FRRouting (\d+)\.\d/m.exec(answer)?.[1];
  if (version !== undefined) return Number(version);
  throw new RouterFailure('unreadable-answer', `the router's version is not FRR's: ${answer.trim().slice(0, 200)}`);
}

function parse<T>(text: string, list: string, schema: z.ZodType<T>): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw unreadable(list, `no JSON: ${text.slice(0, 100)}`, cause);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw unreadable(list, `${issue?.path.join('.')}: ${issue?.message}`, parsed.error);
}

function entryOf(entry: z.output<typeof ENTRY>, list: string): Entry {
  const cidr = parseCidr(entry.prefix);
  if (isAddressProblem(cidr)) throw unreadable(list, cidr.problem);
  const { minimumPrefixLength: least, maximumPrefixLength: most, type } = entry;
  const permits = type === 'permit';
  const words = [permits ? '' : 'deny', formatCidr(cidr), least && `ge ${least}`, most && `le ${most}`];
  return {
    sequence: entry.sequenceNumber,
    cidr,
    permits,
    plain: permits && least === undefined && most === undefined,
    text: words.filter(Boolean).join(' '),
  };
}

function unreadable(list: string, because: string, cause?: unknown): RouterFailure {
  return new RouterFailure('unreadable-answer', `what the router shows of ${list} can't be read: ${because}`, {
    cause,
  });
}
