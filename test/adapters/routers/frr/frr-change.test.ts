import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../../../src/addresses/address-problem.ts';
import { type Cidr, formatCidr, parseCidr } from '../../../../src/addresses/cidr.ts';
import type { Entry } from '../../../../src/adapters/routers/frr/frr-answers.ts';
import { changeFor, wishesFor } from '../../../../src/adapters/routers/frr/frr-change.ts';
import { wantedPrefixes } from '../../../../src/adapters/routers/driver-kit/prefix-lists.ts';

const LIST = 'Svc-ACME-BLACKHOLE';
const OLD = { majorVersion: 8, loaders: 2 };
const NEW = { majorVersion: 10, loaders: 2 };

/** Prefixes that lie in each other, so that the order of permits and denies matters. */
const POOL = ['0.0.0.0/0', '10.0.0.0/8', '10.0.0.0/16', '10.0.0.0/24', '10.0.0.1/32', '10.1.0.0/16', '192.0.2.0/24'];
const POOL6 = ['::/0', '2001:db8::/32', '2001:db8::/48', '2001:db8:1::/48'];

const shapes = fc.record({
  prefix: fc.constantFrom(...POOL, ...POOL6),
  permits: fc.boolean(),
  orLonger: fc.boolean(),
  sequence: fc.integer({ min: 1, max: 40 }),
});
const heldLists = fc.array(shapes, { maxLength: 12 }).map((entries) => {
  const bySequence = new Map(entries.map((shape) => [shape.sequence, entryOf(shape)]));
  const all = [...bySequence.values()].sort((a, b) => a.sequence - b.sequence);
  const of = (version: number): readonly Entry[] | undefined => {
    const own = all.filter(({ cidr }) => cidr.version === version);
    return own.length > 0 ? own : undefined;
  };
  return { ip: of(4), ipv6: of(6) };
});
const wishes = fc.subarray([...POOL, ...POOL6]).map(wantedPrefixes);
const speeds = fc.constantFrom(OLD, NEW);

test('a change leads to exactly what is wanted, line by line through nothing that neither old nor new permits', () => {
  fc.assert(
    fc.property(heldLists, wishes, speeds, fc.boolean(), (held, wanted, speed, anew) => {
      const change = changeFor(wishesFor(LIST, held, wanted), speed, anew);
      const list = new ModelledList([...(held.ip ?? []), ...(held.ipv6 ?? [])]);
      const before = list.permitted();
      const after = new Set(wanted.map(formatCidr));
      for (const line of linesOf(change?.text ?? '')) {
        list.apply(line);
        for (const prefix of list.permitted())
          assert.ok(before.has(prefix) || after.has(prefix), `${prefix} at ${line}`);
      }
      assert.equal(list.exactly(), after);
      assert.is(list.entries.size, after.size);
    }),
    { numRuns: 2000 },
  );
});

test('no entry is changed in its place: its parts would change one after the other', () => {
  fc.assert(
    fc.property(heldLists, wishes, speeds, fc.boolean(), (held, wanted, speed, anew) => {
      const change = changeFor(wishesFor(LIST, held, wanted), speed, anew);
      const used = { ip: sequencesOf(held.ip), ipv6: sequencesOf(held.ipv6) };
      for (const line of linesOf(change?.text ?? '')) {
        const [, family = '', sequence] = /^(ip|ipv6) prefix-list \S+ seq (\d+) permit /.exec(line) ?? [];
        if (family !== 'ip' && family !== 'ipv6') continue;
        assert.not(used[family].has(Number(sequence)), line);
        used[family].add(Number(sequence));
      }
    }),
  );
});

test('entries that stay are not named by the smallest change', () => {
  fc.assert(
    fc.property(wishes, wishes, speeds, (first, second, speed) => {
      const held = heldAs(first);
      const change = changeFor(wishesFor(LIST, held, second), speed, false);
      if (change === undefined || change.whole) return;
      const both = new Set(second.map(formatCidr));
      const staying = [...(held.ip ?? []), ...(held.ipv6 ?? [])].filter((entry) => both.has(entry.text));
      for (const { text, sequence } of staying) {
        if (new RegExp(`^no ${text.includes(':') ? 'ipv6' : 'ip'} prefix-list ${LIST}$`, 'm').test(change.text))
          continue;
        assert.not.ok(change.text.includes(` permit ${text}\n`), text);
        assert.not.ok(
          new RegExp(`^no ${text.includes(':') ? 'ipv6' : 'ip'} .* seq ${sequence}$`, 'm').test(change.text),
          text,
        );
      }
    }),
  );
});

test('what is held already asks for no change', () => {
  fc.assert(
    fc.property(wishes, speeds, (wanted, speed) => {
      assert.is(changeFor(wishesFor(LIST, heldAs(wanted), wanted), speed, false), undefined);
    }),
  );
});

test('a deny or a range that covers the same prefix is a difference', () => {
  for (const shape of [
    { permits: false, orLonger: false },
    { permits: true, orLonger: true },
  ]) {
    const held = { ip: [entryOf({ prefix: '10.0.0.0/8', sequence: 5, ...shape })], ipv6: undefined };
    const change = changeFor(wishesFor(LIST, held, wantedPrefixes(['10.0.0.0/8'])), NEW, false);
    assert.equal(linesOf(change?.text ?? ''), [
      `ip prefix-list ${LIST} seq 10 permit 10.0.0.0/8`,
      `no ip prefix-list ${LIST} seq 5`,
    ]);
  }
});

test('a prefix that is there twice is a difference, and one of the two goes', () => {
  const twice = [5, 10].map((sequence) => entryOf({ prefix: '10.0.0.0/8', permits: true, orLonger: false, sequence }));
  const change = changeFor(wishesFor(LIST, { ip: twice, ipv6: undefined }, wantedPrefixes(['10.0.0.0/8'])), NEW, false);
  assert.equal(linesOf(change?.text ?? ''), [`no ip prefix-list ${LIST} seq 10`]);
});

test('a list that becomes empty is removed whole, in one line a family', () => {
  const change = changeFor(wishesFor(LIST, heldAs(wantedPrefixes([...hosts(100), '2001:db8::/48'])), []), OLD, false);
  assert.equal(linesOf(change?.text ?? ''), [`no ip prefix-list ${LIST}`, `no ipv6 prefix-list ${LIST}`]);
});

test('a list that is missing is removed first: another daemon may have kept it through a restart of this one', () => {
  const change = changeFor(
    wishesFor(LIST, { ip: undefined, ipv6: undefined }, wantedPrefixes(['10.0.0.0/8'])),
    OLD,
    false,
  );
  assert.equal(linesOf(change?.text ?? ''), [
    `no ip prefix-list ${LIST}`,
    `ip prefix-list ${LIST} seq 5 permit 10.0.0.0/8`,
  ]);
});

test('where nearly everything changes, the list is written anew, what stays first', () => {
  const held = heldAs(wantedPrefixes(hosts(10_000)));
  const change = changeFor(wishesFor(LIST, held, wantedPrefixes([...hosts(3), ...hosts(200, 20_000)])), NEW, false);
  const lines = linesOf(change?.text ?? '');
  assert.is(lines.length, 204);
  assert.is(lines[0], `no ip prefix-list ${LIST}`);
  assert.equal(
    lines.slice(1, 4).map((line) => line.split(' ').at(-1)),
    [...hosts(3)],
  );
});

test('what stays is never gone for a moment: more than one commit takes is not written anew', () => {
  const held = heldAs(wantedPrefixes(hosts(16_000)));
  const change = changeFor(wishesFor(LIST, held, wantedPrefixes(hosts(6_000))), NEW, false);
  assert.not.ok(change?.text.includes(`no ip prefix-list ${LIST}\n`));
  assert.is(linesOf(change?.text ?? '').length, 10_000);
});

test('the part that belongs together of both families comes before the rest', () => {
  const held = heldAs(wantedPrefixes([...hosts(3000), ...sites(3000)]));
  const wanted = wantedPrefixes([...hosts(100), ...sites(100), ...hosts(100, 9000), ...sites(100, 9000)]);
  const lines = linesOf(changeFor(wishesFor(LIST, held, wanted), NEW, false)?.text ?? '');
  const lastHead = Math.max(
    ...[...hosts(100), ...sites(100)].map((prefix) => lines.findIndex((line) => line.endsWith(` ${prefix}`))),
  );
  assert.is(lastHead, 201);
});

test('sequence numbers are used again once their entries are gone', () => {
  let held = heldAs(wantedPrefixes(hosts(10)));
  for (let round = 1; round < 50; round++) {
    const wanted = wantedPrefixes(hosts(10, round * 10));
    const list = new ModelledList(held.ip ?? []);
    for (const line of linesOf(changeFor(wishesFor(LIST, held, wanted), NEW, false)?.text ?? '')) list.apply(line);
    held = { ip: [...list.entries.values()], ipv6: undefined };
  }
  assert.ok(held.ip?.every(({ sequence }) => sequence <= 100));
});

function linesOf(text: string): readonly string[] {
  return text.split('\n').slice(0, -1);
}

function sequencesOf(entries: readonly Entry[] | undefined): Set<number> {
  return new Set(entries?.map(({ sequence }) => sequence));
}

function hosts(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, at) => `10.9.${(from + at) >> 8}.${(from + at) & 255}/32`);
}

function sites(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, at) => `2001:db8:${(from + at + 1).toString(16)}::/48`);
}

function cidrOf(text: string): Cidr {
  const cidr = parseCidr(text);
  if (isAddressProblem(cidr)) throw new Error(cidr.problem);
  return cidr;
}

function entryOf(shape: { prefix: string; permits: boolean; orLonger: boolean; sequence: number }): Entry {
  const { prefix, permits, orLonger, sequence } = shape;
  const text = `${permits ? '' : 'deny '}${prefix}${orLonger ? ' le 32' : ''}`;
  return { sequence, cidr: cidrOf(prefix), permits, plain: permits && !orLonger, text };
}

/** A list as the driver itself would have made it. */
function heldAs(wanted: readonly Cidr[]): { ip: readonly Entry[] | undefined; ipv6: readonly Entry[] | undefined } {
  const of = (version: number): readonly Entry[] | undefined => {
    const own = wanted.filter((cidr) => cidr.version === version).map(formatCidr);
    const entries = own.map((prefix, at) =>
      entryOf({ prefix, permits: true, orLonger: false, sequence: (at + 1) * 5 }),
    );
    return entries.length > 0 ? entries : undefined;
  };
  return { ip: of(4), ipv6: of(6) };
}

/** What FRR does with a prefix-list: the entry with the lowest number that matches decides, and without one it is a deny. */
class ModelledList {
  readonly entries: Map<string, Entry>;

  constructor(entries: readonly Entry[]) {
    this.entries = new Map(entries.map((entry) => [this.#key(entry.cidr.version, entry.sequence), entry]));
  }

  apply(line: string): void {
    const whole = /^no (ip|ipv6) prefix-list \S+$/.exec(line);
    const one = /^no (ip|ipv6) prefix-list \S+ seq (\d+)$/.exec(line);
    const added = /^(ip|ipv6) prefix-list \S+ seq (\d+) permit (\S+)$/.exec(line);
    if (whole !== null) {
      for (const [key, { cidr }] of this.entries) if (cidr.version === versionOf(whole[1])) this.entries.delete(key);
    } else if (one !== null) {
      assert.ok(this.entries.delete(this.#key(versionOf(one[1]), Number(one[2]))), line);
    } else if (added !== null) {
      const entry = entryOf({ prefix: added[3] ?? '', permits: true, orLonger: false, sequence: Number(added[2]) });
      assert.is(entry.cidr.version, versionOf(added[1]), line);
      this.entries.set(this.#key(entry.cidr.version, entry.sequence), entry);
    } else {
      throw new Error(`not a line of a change: ${line}`);
    }
  }

  /** The prefixes of the pool that it permits. */
  permitted(): ReadonlySet<string> {
    const ordered = [...this.entries.values()].sort((a, b) => a.sequence - b.sequence);
    return new Set(
      [...POOL, ...POOL6].filter((text) => ordered.find((entry) => matches(entry, cidrOf(text)))?.permits),
    );
  }

  /** The prefixes that it permits by an entry of their own. */
  exactly(): ReadonlySet<string> {
    return new Set([...this.entries.values()].map((entry) => entry.text));
  }

  #key(version: number, sequence: number): string {
    return `${version}/${sequence}`;
  }
}

function versionOf(family: string | undefined): number {
  return family === 'ip' ? 4 : 6;
}

function matches(entry: Entry, cidr: Cidr): boolean {
  if (entry.cidr.version !== cidr.version) return false;
  const bits = cidr.version === 4 ? 32 : 128;
  const inside =
    cidr.length >= entry.cidr.length &&
    BigInt(cidr.network) >> BigInt(bits - entry.cidr.length) ===
      BigInt(entry.cidr.network) >> BigInt(bits - entry.cidr.length);
  return inside && (entry.text.endsWith(' le 32') || cidr.length === entry.cidr.length);
}

test.run();
