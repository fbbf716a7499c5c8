import { z } from 'zod';
import { isAddressProblem } from '../../addresses/address-problem.ts';
import { parseAddress } from '../../addresses/address.ts';
import { parseCidr, rangeOfCidr } from '../../addresses/cidr.ts';
import { parseAddressList, RangeSet } from '../../addresses/range-set.ts';
import { parseRange } from '../../addresses/range.ts';
import type { ChangeTarget } from '../../commands/ip-control/customer.ts';

export const BULK_IPS_MAX = 10_000;

const synchronous = z.boolean({ error: 'must be true or false.' }).default(false);

/** Body of `POST /ips/enable` and `/ips/disable`, as it is sent. */
export const singleRequest = z.strictObject({ ip: z.string({ error: requiredAddress }), synchronous });

/** The same, read. */
export const singleBody = singleRequest.transform(({ ip, synchronous: isSynchronous }, context) => {
  const address = parseAddress(ip);
  if (isAddressProblem(address)) {
    context.addIssue({ code: 'custom', path: ['ip'], message: address.problem });
    return z.NEVER;
  }
  const target: ChangeTarget = { mode: 'one', address, text: ip };
  return { target, synchronous: isSynchronous };
});

const rangeBody = z.strictObject(
  {
    start: z.string({ error: requiredAddress }),
    end: z.string({ error: requiredAddress }),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'must be an object with start and end.') },
);

function requiredAddress(issue: { input?: unknown }): string {
  return issue.input === undefined ? 'is required.' : 'must be an IP address as text.';
}

/** What a bulk change asks for. */
export type BulkChange = Readonly<{ action: 'enable' | 'disable'; synchronous: boolean; target: ChangeTarget }>;

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
  .meta({ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: BULK_IPS_MAX });

/** Body of `POST /ips/bulk`, as it is sent. */
export const bulkRequest = z
  .strictObject({
    action: z.enum(['enable', 'disable'], {
      error: ({ input }) => (input === undefined ? 'is required.' : 'must be enable or disable.'),
    }),
    synchronous,
    ips: addressTexts.optional(),
    range: rangeBody.optional(),
    cidr: z.string({ error: 'must be a CIDR as text.' }).optional(),
  })
  // Also when other fields are wrong: what is missing is named at once.
  .superRefine(
    ({ ips, range, cidr }, context) => {
      if ([ips, range, cidr].filter((mode) => mode !== undefined).length === 1) return;
      const message = 'exactly one of ips, range and cidr is required.';
      for (const mode of ['ips', 'range', 'cidr']) context.addIssue({ code: 'custom', path: [mode], message });
    },
    { when: () => true },
  );

/** The same, read. */
export const bulkBody = bulkRequest.transform((body, context) => {
  const { action, synchronous: isSynchronous } = body;
  const target = bulkTarget(body, (path, message) => context.addIssue({ code: 'custom', path: [...path], message }));
  return target === undefined ? z.NEVER : { action, synchronous: isSynchronous, target };
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
