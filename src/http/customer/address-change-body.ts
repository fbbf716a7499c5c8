import { z } from 'zod';
import { isAddressProblem } from '../../addresses/address-problem.ts';
import { parseAddress } from '../../addresses/address.ts';
import { parseCidr, rangeOfCidr } from '../../addresses/cidr.ts';
import { parseAddressList, RangeSet } from '../../addresses/range-set.ts';
import { parseRange } from '../../addresses/range.ts';
import { type Grounds, groundsFields } from '../../domain/grounds.ts';
import { parseUntil, type Until } from '../../domain/ip-control/disabled-term.ts';
import type { ChangeTarget } from '../../commands/ip-control/address-change.ts';
import { textOf } from '../route.ts';

export const BULK_IPS_MAX = 10_000;

const ADDRESS = textOf('ipv4', 'ipv6');

const synchronous = z.boolean({ error: 'must be true or false.' }).default(false);

const UNTIL = 'must be an instant with an offset, such as 2026-11-27T20:50:00+00:00, or a duration, such as PT4H.';
const until = z
  .string({ error: UNTIL })
  .refine((text) => parseUntil(text) !== undefined, { error: UNTIL })
  .meta(textOf('date-time', 'duration'))
  .optional();

/** What a change of addresses asks for. `until`: of disabling alone. */
export type AskedChange = Readonly<{
  action: 'enable' | 'disable';
  synchronous: boolean;
  target: ChangeTarget;
  grounds: Grounds;
  until: Until | undefined;
}>;

/** Body of `POST /ips/enable`, as it is sent. */
export const enableRequest = z.strictObject({
  ip: z.string({ error: requiredAddress }).meta(ADDRESS),
  synchronous,
  ...groundsFields,
});

/** Body of `POST /ips/disable`, as it is sent. */
export const disableRequest = enableRequest.extend({ until });

/** The same, read. */
export const enableBody = enableRequest.transform((body, context) => changeOfOne('enable', body, context));
export const disableBody = disableRequest.transform((body, context) => changeOfOne('disable', body, context));

type OneBody = Readonly<{ ip: string; synchronous: boolean; until?: string | undefined }> & Grounds;

function changeOfOne(action: AskedChange['action'], body: OneBody, context: z.RefinementCtx): AskedChange {
  const address = parseAddress(body.ip);
  if (isAddressProblem(address)) {
    context.addIssue({ code: 'custom', path: ['ip'], message: address.problem });
    return z.NEVER;
  }
  return asked(action, body, { mode: 'one', address, text: body.ip });
}

function asked(action: AskedChange['action'], body: Omit<OneBody, 'ip'>, target: ChangeTarget): AskedChange {
  const { synchronous: isSynchronous, reason, ticket, until: text } = body;
  const term = text === undefined ? undefined : parseUntil(text);
  return { action, synchronous: isSynchronous, target, grounds: { reason, ticket }, until: term };
}

const rangeBody = z.strictObject(
  {
    start: z.string({ error: requiredAddress }).meta(ADDRESS),
    end: z.string({ error: requiredAddress }).meta(ADDRESS),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'must be an object with start and end.') },
);

function requiredAddress(issue: { input?: unknown }): string {
  return issue.input === undefined ? 'is required.' : 'must be an IP address as text.';
}

/** What is wrong with the first entries tells enough; each that is named costs more than it took to send. */
const WRONG_ENTRIES_MAX = 100;

/** A list of texts. It may be long: each text having a schema of its own would cost more than reading the addresses. */
const addressTexts = z
  .custom<readonly string[]>(Array.isArray, { error: 'must be a list of IP addresses.', abort: true })
  .check(({ value, issues }) => {
    const report = (message: string, path: readonly number[]): number =>
      issues.push({ code: 'custom', input: value, message, path: [...path] });
    if (value.length === 0) return void report('must name at least one address.', []);
    // Before any entry is looked at: how many come is the client's choice.
    if (value.length > BULK_IPS_MAX) return void report(`must name at most ${BULK_IPS_MAX} addresses.`, []);
    let wrong = 0;
    for (const [at, text] of value.entries()) {
      if (typeof text === 'string') continue;
      report('must be an IP address as text.', [at]);
      if (++wrong === WRONG_ENTRIES_MAX) return;
    }
  })
  .meta({ type: 'array', items: { anyOf: [...ADDRESS.anyOf] }, minItems: 1, maxItems: BULK_IPS_MAX });

/** Body of `POST /ips/bulk`, as it is sent. */
export const bulkRequest = z
  .strictObject({
    action: z.enum(['enable', 'disable'], {
      error: ({ input }) => (input === undefined ? 'is required.' : 'must be enable or disable.'),
    }),
    synchronous,
    ips: addressTexts.optional(),
    range: rangeBody.optional(),
    cidr: z.string({ error: 'must be a CIDR as text.' }).meta({ format: 'cidr' }).optional(),
    ...groundsFields,
    until,
  })
  // Also when other fields are wrong: what is missing is named at once.
  .superRefine(
    ({ ips, range, cidr }, context) => {
      if ([ips, range, cidr].filter((mode) => mode !== undefined).length === 1) return;
      const message = 'exactly one of ips, range and cidr is required.';
      for (const mode of ['ips', 'range', 'cidr']) context.addIssue({ code: 'custom', path: [mode], message });
    },
    { when: () => true },
  )
  .superRefine(
    ({ action, until: text }, context) => {
      if (action !== 'enable' || text === undefined) return;
      context.addIssue({ code: 'custom', path: ['until'], message: 'goes with action disable only.' });
    },
    { when: () => true },
  );

/** The same, read. */
export const bulkBody = bulkRequest.transform((body, context) => {
  const target = bulkTarget(body, (path, message) => context.addIssue({ code: 'custom', path: [...path], message }));
  return target === undefined ? z.NEVER : asked(body.action, body, target);
});

type Report = (path: readonly (string | number)[], message: string) => void;
type BulkModes = Readonly<{
  ips?: readonly string[] | undefined;
  range?: Readonly<{ start: string; end: string }> | undefined;
  cidr?: string | undefined;
}>;

/** Of the one mode that is given. */
function bulkTarget({ ips, range, cidr }: BulkModes, report: Report): ChangeTarget | undefined {
  if (ips !== undefined) return listTarget(ips, report);
  if (range !== undefined) return rangeTarget(range, report);
  return cidr === undefined ? undefined : cidrTarget(cidr, report);
}

function listTarget(ips: readonly string[], report: Report): ChangeTarget | undefined {
  const list = parseAddressList(ips, WRONG_ENTRIES_MAX);
  if ('set' in list) return { mode: 'list', set: list.set, texts: () => ips };
  for (const { at, problem } of list.problems) report(['ips', at], problem);
  return undefined;
}

function rangeTarget(
  { start, end }: Readonly<{ start: string; end: string }>,
  report: Report,
): ChangeTarget | undefined {
  const first = parseAddress(start);
  const last = parseAddress(end);
  if (isAddressProblem(first)) report(['range', 'start'], first.problem);
  if (isAddressProblem(last)) report(['range', 'end'], last.problem);
  if (isAddressProblem(first) || isAddressProblem(last)) return undefined;
  const range = parseRange(start, end);
  if (isAddressProblem(range)) {
    report(['range', 'end'], range.problem);
    return undefined;
  }
  return { mode: 'block', set: RangeSet.of(range), field: 'range' };
}

function cidrTarget(text: string, report: Report): ChangeTarget | undefined {
  const cidr = parseCidr(text);
  if (isAddressProblem(cidr)) {
    report(['cidr'], cidr.problem);
    return undefined;
  }
  return { mode: 'block', set: RangeSet.of(rangeOfCidr(cidr)), field: 'cidr' };
}
