import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AddressRows } from '../../../src/http/customer/address-rows.ts';
import { formatAddress } from '../../../src/addresses/address.ts';
import type { AddressRun } from '../../../src/domain/ip-control/subnet-status.ts';

const IPV4_MAX = 0xffff_ffffn;
const IPV6_MAX = (1n << 128n) - 1n;

const runs = (last: bigint): fc.Arbitrary<AddressRun[]> =>
  fc
    .array(
      fc.record({
        first: fc.oneof(fc.bigInt(0n, last), fc.constantFrom(0n, last, (9n << 8n) + 250n, (99n << 24n) + 255n)),
        size: fc.bigInt(1n, 700n),
        isDisabled: fc.boolean(),
        isPending: fc.boolean(),
        until: fc.constantFrom(undefined, '2026-11-27T20:50:00.123+00:00'),
      }),
      { minLength: 1, maxLength: 8 },
    )
    .map((found) =>
      found.map(({ size, ...run }) => ({ ...run, last: run.first + size - 1n < last ? run.first + size - 1n : last })),
    );

/** What all parts say together, and the bytes of the largest. */
function added(given: readonly AddressRun[], version: 4 | 6, showsUntil: boolean): { text: string; largest: number } {
  const rows = new AddressRows({ showsUntil });
  let text = '';
  let largest = 0;
  const take = (): void => {
    const part = rows.take();
    largest = Math.max(largest, part.length);
    text += Buffer.from(part).toString();
  };
  for (const run of given) {
    const count = Number(run.last - run.first + 1n);
    for (let at = 0; at < count; at += rows.add(run, at, count - at, version)) if (rows.isFull) take();
  }
  take();
  return { text, largest };
}

function expectedRows(given: readonly AddressRun[], version: 4 | 6, showsUntil: boolean): string {
  return given
    .flatMap((run) =>
      Array.from({ length: Number(run.last - run.first + 1n) }, (_, at) => {
        const value = run.first + BigInt(at);
        const address = formatAddress(version === 4 ? { version, value: Number(value) } : { version, value });
        const row = { address, status: run.isDisabled ? 'disabled' : 'enabled', pending_change: run.isPending };
        return `,${JSON.stringify(showsUntil ? { ...row, disabled_until: run.until ?? null } : row)}`;
      }),
    )
    .join('');
}

for (const { version, last } of [
  { version: 4, last: IPV4_MAX },
  { version: 6, last: IPV6_MAX },
] as const) {
  test(`rows of IPv${version} runs are the JSON of their addresses, whatever numbers they have`, () => {
    fc.assert(
      fc.property(runs(last), fc.boolean(), (given, showsUntil) => {
        const { text, largest } = added(given, version, showsUntil);
        assert.ok(text === expectedRows(given, version, showsUntil), 'other rows than expected');
        assert.ok(largest < 192 * 1024, `a part of ${largest} bytes`);
      }),
      { numRuns: 60 },
    );
  });
}

test('a part is full after a thousand rows or so, and begins anew when it has been taken', () => {
  const rows = new AddressRows();
  const run = { first: 0n, last: 65_535n, isDisabled: true, isPending: false };
  let count = 0;
  while (!rows.isFull) count += rows.add(run, count, 65_536 - count, 4);
  assert.ok(count >= 1_000 && count < 3_000, `${count} rows`);
  assert.is(rows.add(run, count, 1, 4), 0);
  rows.take();
  assert.is(rows.isFull, false);
  assert.is(rows.take().length, 0);
});

test.run();
