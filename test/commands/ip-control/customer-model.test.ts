import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChangeTarget } from '../../../src/commands/ip-control/address-change.ts';
import { customerDecider, type CustomerCommand } from '../../../src/commands/ip-control/customer.ts';
import { commitKey, type CustomerState } from '../../../src/commands/ip-control/customer-state.ts';
import { pendingAddresses, regionAddresses } from '../../../src/domain/ip-control/address-ledger.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { type Address, formatAddress } from '../../../src/addresses/address.ts';
import { cidrAround, formatCidr, rangeOfCidr } from '../../../src/addresses/cidr.ts';
import { coverTexts } from '../../../src/addresses/cidr-cover.ts';
import { RangeSet } from '../../../src/addresses/range-set.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { plain } from '../../specification.ts';
import { recordCompleted, recordFailed, registered, requestCommit } from './customer-examples.ts';

/** A stretch of 32 addresses of each version, in blocks of 8 that can be assigned: block 3 of each belongs to nobody at first. */
const WINDOWS = [
  { version: 4, base: 0xc0000200n },
  { version: 6, base: 0x20010db8n << 96n },
] as const;
const WINDOW_SIZE = 32;
const BLOCK_SIZE = 8;
const BLOCKS = 8;
const CELLS = 64;
const REGIONS = [1, 2];
const UNTILS = ['2026-11-28T00:00:00.000+00:00', '2026-11-28T12:00:00.000+00:00'];

/** One cell of the windows as an address. */
function addressAt(cell: number): Address {
  const { version, base } = WINDOWS[cell < WINDOW_SIZE ? 0 : 1];
  const value = base + BigInt(cell % WINDOW_SIZE);
  return version === 4 ? { version, value: Number(value) } : { version, value };
}

function blockAt(index: number): string {
  const first = addressAt(index * BLOCK_SIZE);
  return formatCidr(cidrAround(first, first.version === 4 ? 29 : 125));
}

type Cell = { region: number | undefined; isDisabled: boolean; until: string | undefined; pending: Set<number> };

/** The same rules, told address by address. `pending` holds the regions whose routers still have to hear of the address. */
class Model {
  readonly cells: Cell[] = Array.from({ length: CELLS }, () => ({
    region: undefined,
    isDisabled: false,
    until: undefined,
    pending: new Set(),
  }));
  readonly captured = new Map<number, Set<number>>();
  readonly content = new Map<number, number[]>();
  readonly attempts = new Map<number, { isDeploying: boolean; number: number }>();

  assign(block: number, region: number): void {
    for (const cell of this.#block(block)) {
      cell.region = region;
      cell.isDisabled = false;
      cell.until = undefined;
    }
  }

  release(block: number): void {
    for (const cell of this.#block(block)) {
      if (cell.isDisabled && cell.region !== undefined) cell.pending.add(cell.region);
      cell.isDisabled = false;
      cell.until = undefined;
      cell.region = undefined;
    }
  }

  change(action: 'enable' | 'disable', wanted: readonly number[], until?: string): number {
    let changed = 0;
    for (const at of new Set(wanted)) {
      const cell = this.cell(at);
      if (cell.region !== undefined) cell.until = action === 'disable' ? until : undefined;
      if (cell.region === undefined || cell.isDisabled === (action === 'disable')) continue;
      cell.isDisabled = action === 'disable';
      cell.pending.add(cell.region);
      changed += 1;
    }
    return changed;
  }

  /** What is disabled until then is enabled. */
  end(region: number, until: string): void {
    for (const cell of this.cells) {
      if (cell.region !== region || cell.until !== until) continue;
      cell.isDisabled = false;
      cell.until = undefined;
      cell.pending.add(region);
    }
  }

  request(region: number): void {
    const attempt = this.attempts.get(region);
    if (attempt?.isDeploying === true) return;
    const touched = this.touched(region);
    if (attempt === undefined && touched.length === 0) return;
    this.attempts.set(region, { isDeploying: true, number: (attempt?.number ?? 0) + 1 });
    this.captured.set(region, new Set(touched));
    this.content.set(
      region,
      this.#where(({ region: own, isDisabled }) => own === region && isDisabled),
    );
    for (const at of touched) this.cell(at).pending.delete(region);
  }

  settle(region: number, isSuccess: boolean): void {
    const attempt = this.attempts.get(region);
    if (attempt?.isDeploying !== true) return;
    if (isSuccess) this.attempts.delete(region);
    else this.attempts.set(region, { ...attempt, isDeploying: false });
    if (!isSuccess) for (const at of this.captured.get(region) ?? []) this.cell(at).pending.add(region);
    this.captured.delete(region);
    this.content.delete(region);
  }

  touched(region: number): number[] {
    return this.#where(({ pending }) => pending.has(region));
  }

  pending(region: number): number[] {
    const inDeployment = this.captured.get(region);
    return this.#where(({ pending }, at) => pending.has(region) || inDeployment?.has(at) === true);
  }

  disabled(region: number): number[] {
    return this.#where((cell) => cell.region === region && cell.isDisabled);
  }

  owned(region: number): number[] {
    return this.#where((cell) => cell.region === region);
  }

  isFree(block: number): boolean {
    return this.#block(block).every(({ region }) => region === undefined);
  }

  cell(at: number): Cell {
    const cell = this.cells[at];
    if (cell === undefined) throw new Error(`no cell ${at}`);
    return cell;
  }

  #block(block: number): Cell[] {
    return this.cells.slice(block * BLOCK_SIZE, (block + 1) * BLOCK_SIZE);
  }

  #where(holds: (cell: Cell, at: number) => boolean): number[] {
    return [...this.cells.keys()].filter((at) => holds(this.cell(at), at));
  }
}

type Step =
  | Readonly<{ do: 'assign'; block: number; region: number }>
  | Readonly<{ do: 'release'; block: number }>
  | Readonly<{
      do: 'change';
      action: 'enable' | 'disable';
      mode: 'one' | 'list' | 'block';
      cells: readonly number[];
      until: string | undefined;
    }>
  | Readonly<{ do: 'end'; region: number; until: string }>
  | Readonly<{ do: 'request'; region: number }>
  | Readonly<{ do: 'settle'; region: number; isSuccess: boolean }>
  | Readonly<{ do: 'restart' }>;

const cell = fc.nat(CELLS - 1);
const region = fc.constantFrom(...REGIONS);
const block = fc.nat(BLOCKS - 1);
const run = fc
  .tuple(cell, fc.nat(20))
  .map(([first, length]) => Array.from({ length: length + 1 }, (_, i) => first + i).filter((at) => at < CELLS));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('assign' as const), block, region }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), block }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      action: fc.constantFrom('enable' as const, 'disable' as const),
      mode: fc.constantFrom('one' as const, 'list' as const, 'block' as const),
      cells: fc.oneof(run, fc.array(cell, { minLength: 1, maxLength: 10 })),
      until: fc.constantFrom(undefined, undefined, ...UNTILS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('end' as const), region, until: fc.constantFrom(...UNTILS) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('request' as const), region }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('settle' as const), region, isSuccess: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
);

/** The decider beside the model: each command is decided, evolved, and compared. */
class Run {
  readonly model = new Model();
  readonly events: CustomerEvent[] = [];
  readonly subnetIds = new Map<number, number>();
  state: CustomerState = customerDecider.initial;
  revision = -1n;
  subnets = 0;
  commits = 0;

  constructor() {
    this.record([registered()]);
    for (const [at, regionId] of [1, 2, 1, undefined, 2, 1, 2, undefined].entries()) {
      if (regionId !== undefined) this.take({ do: 'assign', block: at, region: regionId });
    }
  }

  take(next: Step): void {
    switch (next.do) {
      case 'assign': {
        if (!this.model.isFree(next.block)) return;
        const subnetId = (this.subnets += 1);
        this.subnetIds.set(next.block, subnetId);
        this.ask({
          type: 'AssignSubnet',
          data: { subnetId, cidr: blockAt(next.block), regionId: next.region, asn: 64_500, metro: 'AMS' },
        });
        this.model.assign(next.block, next.region);
        return;
      }
      case 'release': {
        const subnetId = this.subnetIds.get(next.block);
        if (subnetId === undefined) return;
        this.subnetIds.delete(next.block);
        this.ask({ type: 'ReleaseSubnet', data: { subnetId } });
        this.model.release(next.block);
        return;
      }
      case 'change':
        this.change(next);
        return;
      case 'end':
        this.ask({
          type: 'EndDisabledTerm',
          data: { regionId: next.region, until: next.until, addresses: setOf([...this.model.cells.keys()]) },
        });
        this.model.end(next.region, next.until);
        return;
      case 'request':
        this.commits += 1;
        this.ask(requestCommit(`c${this.commits}`, next.region));
        this.model.request(next.region);
        return;
      case 'settle': {
        if (this.state.phase === 'unregistered') return;
        const open = this.state.commits.get(commitKey(next.region, 'BLACKHOLE'));
        const commit = { commitSetId: open?.commitSetId ?? 'none', attempt: open?.attempt ?? 1, regionId: next.region };
        this.ask(next.isSuccess ? recordCompleted(commit) : recordFailed(commit));
        this.model.settle(next.region, next.isSuccess);
        return;
      }
      case 'restart':
        this.state = fromSnapshot(this.state);
    }
  }

  change({ action, mode, cells, until }: Extract<Step, { do: 'change' }>): void {
    const wanted = mode === 'one' ? cells.slice(0, 1) : cells;
    const isForeign = wanted.some((at) => this.model.cell(at).region === undefined);
    const term = until === undefined || action === 'enable' ? undefined : { until, milliseconds: 1 };
    const data = { action, synchronous: false, target: targetOf(mode, wanted), term };
    const answer = customerDecider.decide({ type: 'ChangeAddresses', data }, this.state);
    if (mode !== 'block' && isForeign) {
      assert.ok(isRefusal(answer), 'a foreign address that is named is refused');
      return;
    }
    assert.not(isRefusal(answer));
    if (isRefusal(answer)) return;
    this.record(answer);
    assert.is(addressesIn(answer), this.model.change(action, wanted, term?.until), 'exactly what changed is recorded');
    assert.equal(customerDecider.decide({ type: 'ChangeAddresses', data }, this.state), []);
  }

  ask(command: CustomerCommand): void {
    const answer = customerDecider.decide(command, this.state);
    if (isRefusal(answer)) throw new Error(`${command.type}: ${answer.because}`);
    this.record(answer);
    assert.equal(customerDecider.decide(command, this.state), [], `${command.type}, asked again, says nothing`);
  }

  record(events: readonly CustomerEvent[]): void {
    for (const event of events) {
      this.revision += 1n;
      this.events.push(event);
      this.state = customerDecider.evolve(this.state, { ...event, revision: this.revision });
    }
  }

  compare(): void {
    if (this.state.phase === 'unregistered') throw new Error('registered');
    for (const regionId of REGIONS) {
      const known = regionAddresses(this.state.ledger, regionId);
      const pending = pendingAddresses(known);
      assert.equal(known.owned.toJSON(), texts(this.model.owned(regionId)));
      assert.equal(known.disabled.toJSON(), texts(this.model.disabled(regionId)));
      for (const until of UNTILS)
        assert.equal(
          known.terms.addressesOf((term) => term === until).toJSON(),
          texts(this.model.disabled(regionId).filter((at) => this.model.cell(at).until === until)),
        );
      assert.equal(known.touched.toJSON(), texts(this.model.touched(regionId)));
      assert.equal(pending.toJSON(), texts(this.model.pending(regionId)));
      assert.is(pending.count(), BigInt(this.model.pending(regionId).length));
      const content = this.model.content.get(regionId);
      assert.equal(known.inDeployment?.content.toJSON(), content === undefined ? undefined : texts(content));
      if (content !== undefined) assert.equal(coverTexts(known.inDeployment!.content), coverTexts(setOf(content)));
      const attempt = this.model.attempts.get(regionId);
      const open = this.state.commits.get(commitKey(regionId, 'BLACKHOLE'));
      assert.is(open?.attempt, attempt?.number);
      assert.is(open?.phase, attempt === undefined ? undefined : attempt.isDeploying ? 'deploying' : 'failed');
    }
  }
}

function targetOf(mode: 'one' | 'list' | 'block', cells: readonly number[]): ChangeTarget {
  const addresses = cells.map(addressAt);
  const listed = addresses.map(formatAddress);
  const [address] = addresses;
  if (mode === 'one' && address !== undefined) return { mode, address, text: formatAddress(address) };
  const set = RangeSet.ofAddresses(addresses);
  return mode === 'list' ? { mode, set, texts: () => listed } : { mode: 'block', set };
}

function setOf(cells: readonly number[]): RangeSet {
  return RangeSet.ofAddresses(cells.map(addressAt));
}

function texts(cells: readonly number[]): readonly string[] {
  return setOf(cells).toJSON();
}

function addressesIn(events: readonly CustomerEvent[]): number {
  return events.reduce((sum, event) => {
    if (event.type !== 'AddressesDisabled' && event.type !== 'AddressesEnabled') return sum;
    return sum + Number(rangesOf(event.data.ranges).count());
  }, 0);
}

function rangesOf(ranges: readonly string[]): RangeSet {
  return RangeSet.from(
    ranges.flatMap((text) => {
      const [first = '', last = first] = text.split('-');
      return cellsBetween(first, last).map((at) => {
        const value = addressAt(at);
        return rangeOfCidr(cidrAround(value, value.version === 4 ? 32 : 128));
      });
    }),
  );
}

function cellsBetween(first: string, last: string): number[] {
  const all = Array.from({ length: CELLS }, (_, at) => formatAddress(addressAt(at)));
  return Array.from({ length: all.indexOf(last) - all.indexOf(first) + 1 }, (_, i) => all.indexOf(first) + i);
}

function fromSnapshot(state: CustomerState): CustomerState {
  return customerDecider.snapshot.decode(JSON.parse(JSON.stringify(customerDecider.snapshot.encode(state))));
}

function replayed(events: readonly CustomerEvent[]): CustomerState {
  let state: CustomerState = customerDecider.initial;
  for (const [at, event] of events.entries()) state = customerDecider.evolve(state, { ...event, revision: BigInt(at) });
  return state;
}

const steps = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' });

test('any sequence of commands leads to what it would lead to address by address', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      const both = new Run();
      for (const next of sequence) {
        both.take(next);
        both.compare();
      }
    }),
    { numRuns: 300 },
  );
});

test('replaying the events gives the state that was reached step by step', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      const both = new Run();
      for (const next of sequence) both.take(next);
      assert.equal(plain(replayed(both.events)), plain(both.state));
    }),
    { numRuns: 150 },
  );
});

test('a state survives its snapshot, and goes on from there as if nothing had been', () => {
  fc.assert(
    fc.property(steps, fc.nat(), (sequence, at) => {
      const both = new Run();
      for (const next of sequence) both.take(next);
      const cut = at % both.events.length;
      const whole = replayed(both.events.slice(0, cut));
      let resumed = fromSnapshot(whole);
      assert.equal(plain(resumed), plain(whole));
      for (const [offset, event] of both.events.slice(cut).entries()) {
        resumed = customerDecider.evolve(resumed, { ...event, revision: BigInt(cut + offset) });
      }
      assert.equal(plain(resumed), plain(both.state));
    }),
    { numRuns: 150 },
  );
});

test('what is disabled belongs to the account, and what a region owns no other region owns', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      const both = new Run();
      for (const next of sequence) both.take(next);
      if (both.state.phase === 'unregistered') return;
      const sets = [...both.state.ledger.values()];
      for (const { owned, disabled } of sets) assert.ok(disabled.difference(owned).isEmpty);
      const [a, b] = sets;
      if (a !== undefined && b !== undefined) assert.ok(a.owned.intersection(b.owned).isEmpty);
    }),
    { numRuns: 100 },
  );
});

test.run();
