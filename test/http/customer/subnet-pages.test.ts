import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { isAddressProblem } from '../../../src/addresses/address-problem.ts';
import { type Address, formatAddress, parseAddress } from '../../../src/addresses/address.ts';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(
  edgeward,
  'Acme',
  [
    ['203.0.113.64/26', 'eu-west'],
    ['10.0.0.0/14', 'eu-west'],
    ['2001:db8:ff::/48', 'eu-west'],
  ],
  ['--allow-synchronous'],
);
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

const status = z.enum(['enabled', 'disabled']);
const ip = z.strictObject({ address: z.string(), status, pending_change: z.boolean() });
const range = z.strictObject({ start: z.string(), end: z.string(), status, pending_change: z.boolean() });
const subnet = { id: z.number(), cidr: z.string(), ip_version: z.number(), asn: z.number() };
const ipPage = z.strictObject({
  data: z.strictObject({ ...subnet, ips: z.array(ip) }),
  meta: z.strictObject({ pending_changes: z.number(), next_after: z.string().optional() }),
});
const rangeList = z.strictObject({
  data: z.strictObject({ ...subnet, ranges: z.array(range) }),
  meta: z.strictObject({ pending_changes: z.number() }),
});

type Row = z.infer<typeof ip>;
type Run = z.infer<typeof range>;

/** Walks the pages of a path and gives all their rows. */
async function walked(path: string, limit: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let after = '';
  for (let pages = 0; pages < 1_000; pages += 1) {
    const { data, meta } = ipPage.parse((await api.get(`${path}?limit=${limit}${after}`)).json);
    assert.ok(data.ips.length <= limit);
    rows.push(...data.ips);
    if (meta.next_after === undefined) return rows;
    assert.is(data.ips.length, limit, 'only the last page is short');
    assert.is(meta.next_after, data.ips.at(-1)?.address);
    after = `&after=${meta.next_after}`;
  }
  throw new Error('the pages have no end');
}

async function whole(path: string): Promise<Readonly<{ rows: readonly Row[]; pending: number }>> {
  const { data, meta } = ipPage.parse((await api.get(path)).json);
  assert.is(meta.next_after, undefined);
  return { rows: data.ips, pending: meta.pending_changes };
}

async function runs(path: string): Promise<readonly Run[]> {
  return rangeList.parse((await api.get(`${path}?view=ranges`)).json).data.ranges;
}

function numberOf(text: string): bigint {
  const address = parseAddress(text);
  if (isAddressProblem(address)) throw new Error(address.problem);
  assert.is(formatAddress(address), text, 'addresses are canonical');
  return BigInt(address.value);
}

function textOf(base: string, offset: number): string {
  const value = numberOf(base) + BigInt(offset);
  const address: Address = base.includes(':') ? { version: 6, value } : { version: 4, value: Number(value) };
  return formatAddress(address);
}

/** The runs, address by address, where `wanted`. */
function spelled(list: readonly Run[], wanted: (run: Run) => boolean): readonly string[] {
  return list.filter(wanted).flatMap(({ start, end, status: state, pending_change: isPending }) => {
    const first = numberOf(start);
    return Array.from(
      { length: Number(numberOf(end) - first) + 1 },
      (_, at) => `${first + BigInt(at)} ${state} ${isPending}`,
    );
  });
}

function lines(rows: readonly Row[]): readonly string[] {
  return rows.map(
    ({ address, status: state, pending_change: isPending }) => `${numberOf(address)} ${state} ${isPending}`,
  );
}

/** Next to each other, never equal, from the first address to the last. */
function assertCompleteAndMaximal(list: readonly Run[], first: bigint, last: bigint): void {
  let next = first;
  let before = '';
  for (const { start, end, status: state, pending_change: isPending } of list) {
    assert.is(numberOf(start), next);
    assert.ok(numberOf(end) >= next);
    assert.is.not(`${state} ${isPending}`, before, 'neighbours differ');
    before = `${state} ${isPending}`;
    next = numberOf(end) + 1n;
  }
  assert.is(next, last + 1n);
}

const SPACES = [
  { id: acme.subnetIds[0], base: '203.0.113.64', size: 64, isWhole: true, last: '203.0.113.127' },
  { id: acme.subnetIds[1], base: '10.0.0.0', size: 200, isWhole: false, last: '10.3.255.255' },
  {
    id: acme.subnetIds[2],
    base: '2001:db8:ff::',
    size: 200,
    isWhole: false,
    last: '2001:db8:ff:ffff:ffff:ffff:ffff:ffff',
  },
] as const;

const change = fc.record({
  action: fc.constantFrom('enable', 'disable'),
  from: fc.nat(199),
  length: fc.integer({ min: 1, max: 40 }),
  /** Has everything that is pending deployed. */
  synchronous: fc.nat(5).map((chance) => chance === 0),
});

for (const { id, base, size, isWhole, last } of SPACES) {
  test(`in ${base} pages walk the whole, and ranges say the same as addresses`, async () => {
    const path = `/subnets/${id}`;
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 90 }),
        async (changes, limit) => {
          // From nothing disabled and nothing pending.
          const all = { start: base, end: last };
          await api.post('/ips/bulk', { action: 'enable', range: all, synchronous: true });
          const model = Array.from({ length: size }, () => ({ state: 'enabled', isPending: false }));
          for (const { action, from, length, synchronous } of changes) {
            const [first, end] = [from % size, Math.min((from % size) + length, size) - 1];
            const answer = await api.post('/ips/bulk', {
              action,
              range: { start: textOf(base, first), end: textOf(base, end) },
              synchronous,
            });
            assert.is(answer.status, 200, answer.text);
            for (let at = first; at <= end; at += 1) {
              if (model[at]?.state !== `${action}d`) model[at] = { state: `${action}d`, isPending: true };
            }
            // Whether the call changes any of them or not.
            if (synchronous) for (const address of model) address.isPending = false;
          }
          const expected = model.map(({ state, isPending }, at) => ({
            line: `${numberOf(base) + BigInt(at)} ${state} ${isPending}`,
            isListed: isWhole || isPending || state === 'disabled',
            isPending,
          }));
          const listed = expected.filter(({ isListed }) => isListed).map(({ line }) => line);
          const pending = expected.filter(({ isPending }) => isPending).map(({ line }) => line);

          const full = await whole(path);
          assert.equal(lines(full.rows), listed);
          assert.is(full.pending, pending.length);
          assert.equal(lines(await walked(path, limit)), listed);
          assert.equal(lines((await whole(`${path}/pending`)).rows), pending);
          assert.equal(lines(await walked(`${path}/pending`, limit)), pending);

          const ranges = await runs(path);
          assertCompleteAndMaximal(ranges, numberOf(base), numberOf(last));
          assert.equal(
            spelled(ranges, (run) => isWhole || run.pending_change || run.status === 'disabled'),
            listed,
          );
          assert.equal(
            spelled(await runs(`${path}/pending`), () => true),
            pending,
          );
        },
      ),
      { numRuns: 12 },
    );
  });
}

test.run();
