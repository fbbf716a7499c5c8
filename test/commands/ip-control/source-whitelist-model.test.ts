import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { customerDecider, type CustomerCommand } from '../../../src/commands/ip-control/customer.ts';
import { commitKey, type CustomerState, type Registered } from '../../../src/commands/ip-control/customer-state.ts';
import {
  pendingWhitelist,
  regionWhitelist,
  whitelistStatus,
} from '../../../src/domain/ip-control/source-whitelist-ledger.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { RangeSet } from '../../../src/addresses/range-set.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { coverTexts } from '../../../src/addresses/cidr-cover.ts';
import { carriedBy } from '../../../src/processes/ip-control/pushing/push-to-region.ts';
import { plain } from '../../specification.ts';
import { assigned, disabled } from './customer-examples.ts';
import {
  approve,
  recordWhitelistCompleted,
  recordWhitelistFailed,
  reject,
  remove,
  REGION_NAMES,
  requestWhitelist,
  evidence,
  whitelisting,
} from './source-whitelist-examples.ts';

const BASE = 0x08_08_08_00;
const CELLS = 24;
const REGIONS = [1, 2, 3];
const ROUTERS = 2;
const LIMIT = 6;

/** The same rules, told request by request and address by address. */
type ModelRequest = {
  id: string;
  first: number;
  last: number;
  regions: readonly number[];
  sha256: string;
  phase: 'review' | 'approved' | 'rejected' | 'removed';
  active: Set<number>;
  failed: Set<number>;
};

/** What a router does with a push. `half`: it takes the list over and says nothing. */
type Reply = 'takes' | 'refuses' | 'half';

type Step =
  | Readonly<{ do: 'submit'; first: number; length: number; regions: readonly number[]; sha256: string }>
  | Readonly<{ do: 'approve' | 'reject' | 'remove'; pick: number }>
  | Readonly<{ do: 'trust'; trusted: boolean }>
  | Readonly<{ do: 'request'; region: number }>
  | Readonly<{ do: 'deploy'; region: number; replies: readonly Reply[] }>
  | Readonly<{ do: 'restart' }>;

const region = fc.constantFrom(...REGIONS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      first: fc.nat(CELLS - 1),
      length: fc.nat(5),
      regions: fc.uniqueArray(region, { minLength: 1, maxLength: 3 }),
      sha256: fc.constantFrom('aa', 'bb'),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('approve' as const, 'approve' as const, 'reject' as const, 'remove' as const),
      pick: fc.nat(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trust' as const), trusted: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('request' as const), region }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('deploy' as const),
      region,
      replies: fc.array(fc.constantFrom<Reply>('takes', 'takes', 'refuses', 'half'), {
        minLength: ROUTERS,
        maxLength: ROUTERS,
      }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
);

class Run {
  readonly requests: ModelRequest[] = [];
  readonly captured = new Map<number, readonly ModelRequest[]>();
  readonly routers = new Map(REGIONS.map((id) => [id, Array.from({ length: ROUTERS }, (): readonly string[] => [])]));
  readonly events: CustomerEvent[] = [];
  state: CustomerState = customerDecider.initial;
  trusted = false;
  commits = 0;

  constructor() {
    this.record([whitelisting({ whitelistLimit: LIMIT }), assigned(1, '192.0.2.0/24'), disabled(['192.0.2.1'])]);
  }

  take(next: Step): void {
    switch (next.do) {
      case 'submit':
        return this.submit(next);
      case 'approve':
      case 'reject':
      case 'remove':
        return this.decide(next.do, next.pick);
      case 'trust':
        this.trusted = next.trusted;
        return this.ask({ type: 'ChangeCustomerSettings', data: { changes: { trusted: next.trusted } } });
      case 'request':
        return this.request(next.region);
      case 'deploy':
        return this.deploy(next.region, next.replies);
      case 'restart': {
        const stored: unknown = JSON.parse(JSON.stringify(customerDecider.snapshot.encode(this.state)));
        this.state = customerDecider.snapshot.decode(stored);
      }
    }
  }

  submit({ first, length, regions, sha256 }: Extract<Step, { do: 'submit' }>): void {
    const last = Math.min(first + length, CELLS - 1);
    const id = `r${this.requests.length}`;
    const command: CustomerCommand = {
      type: 'SubmitSourceWhitelist',
      data: {
        requestId: id,
        input: id,
        range: { version: 4, first: BASE + first, last: BASE + last },
        regions: regions.map((regionId) => ({ regionId, name: REGION_NAMES[regionId] ?? '' })),
        evidence: evidence(sha256),
      },
    };
    const there = this.requests.filter(({ phase }) => phase === 'review' || phase === 'approved');
    const isReplay = there.some(
      (other) =>
        other.first === first &&
        other.last === last &&
        other.sha256 === sha256 &&
        other.regions.length === regions.length &&
        other.regions.every((regionId) => regions.includes(regionId)),
    );
    const conflict = regions
      .flatMap((regionId) => there.map((other) => ({ regionId, other })))
      .find(({ regionId, other }) => other.regions.includes(regionId) && other.first <= last && first <= other.last);
    const answer = customerDecider.decide(command, this.state);
    if (isReplay) return assert.equal(answer, []);
    if (there.length >= LIMIT) return assert.is(isRefusal(answer) && answer.refused, 'source-whitelist-limit-reached');
    if (conflict !== undefined) {
      const name = REGION_NAMES[conflict.regionId];
      const message = `range overlaps an existing whitelist entry (${conflict.other.id}) in your account for region ${name}.`;
      return assert.is(isRefusal(answer) && answer.because, message);
    }
    assert.not(isRefusal(answer));
    if (isRefusal(answer)) return;
    this.record(answer);
    const phase = this.trusted ? 'approved' : 'review';
    this.requests.push({ id, first, last, regions, sha256, phase, active: new Set(), failed: new Set() });
  }

  decide(what: 'approve' | 'reject' | 'remove', pick: number): void {
    const request = this.requests[pick % Math.max(1, this.requests.length)];
    if (request === undefined) return;
    const { id, phase } = request;
    const answer = customerDecider.decide({ approve, reject, remove }[what](id), this.state);
    const refused = isRefusal(answer) ? answer.refused : undefined;
    if (phase === 'removed') return assert.is(refused, 'source-whitelist-not-found');
    if (what === 'approve' && phase === 'rejected') return assert.is(refused, 'source-whitelist-decided');
    if (what === 'reject' && phase === 'approved') return assert.is(refused, 'source-whitelist-decided');
    assert.is(refused, undefined);
    if (isRefusal(answer)) return;
    this.record(answer);
    request.phase = ({ approve: 'approved', reject: 'rejected', remove: 'removed' } as const)[what];
  }

  request(regionId: number): void {
    this.commits += 1;
    const before = this.events.length;
    this.ask(requestWhitelist(`w${this.commits}`, regionId));
    if (this.events.length === before) return;
    this.captured.set(
      regionId,
      this.requests.filter(({ phase, regions }) => phase === 'approved' && regions.includes(regionId)),
    );
  }

  deploy(regionId: number, replies: readonly Reply[]): void {
    const open = this.registered().commits.get(commitKey(regionId, 'SRC_WHITELIST'));
    const routers = this.routers.get(regionId) ?? [];
    if (open?.phase !== 'deploying') return;
    const commit = { regionId, list: 'SRC_WHITELIST', commitSetId: open.commitSetId, attempt: open.attempt } as const;
    const content = carriedBy(this.state, commit)?.content;
    const prefixes = content === undefined ? [] : coverTexts(content);
    const carried = this.captured.get(regionId) ?? [];
    assert.equal(prefixes, coverOf(carried), 'what is pushed is what was approved when the commit was requested');
    for (const [at, reply] of replies.entries()) if (reply !== 'refuses') routers[at] = prefixes;
    const isSuccess = replies.every((reply) => reply === 'takes');
    this.ask((isSuccess ? recordWhitelistCompleted : recordWhitelistFailed)(commit, prefixes));
    this.captured.delete(regionId);
    for (const request of carried) {
      if (isSuccess) request.active.add(regionId);
      if (isSuccess || request.active.has(regionId)) request.failed.delete(regionId);
      else request.failed.add(regionId);
    }
  }

  ask(command: CustomerCommand): void {
    const answer = customerDecider.decide(command, this.state);
    if (isRefusal(answer)) throw new Error(`${command.type}: ${answer.because}`);
    this.record(answer);
    assert.equal(customerDecider.decide(command, this.state), [], `${command.type}, asked again, says nothing`);
  }

  record(events: readonly CustomerEvent[]): void {
    for (const event of events) {
      this.state = customerDecider.evolve(this.state, { ...event, revision: BigInt(this.events.length) });
      this.events.push(event);
    }
  }

  registered(): Registered {
    if (this.state.phase === 'unregistered') throw new Error('the customer is registered');
    return this.state;
  }

  compare(): void {
    const { whitelist, ledger } = this.registered();
    const there = this.requests.filter(({ phase }) => phase !== 'removed');
    assert.equal(
      [...whitelist.requests.values()].map((request) => `${request.requestId} ${whitelistStatus(request)}`),
      there.map((request) => `${request.id} ${statusOf(request)}`),
    );
    for (const regionId of REGIONS)
      assert.equal(coverTexts(regionWhitelist(whitelist, regionId).live), coverOf(this.liveIn(regionId)));
    assert.equal(ledger.get(1)?.touched.toJSON(), ['192.0.2.1'], 'the blackhole list is left alone');
  }

  liveIn(regionId: number): readonly ModelRequest[] {
    return this.requests.filter(({ phase, regions }) => phase === 'approved' && regions.includes(regionId));
  }

  /** Every router answers again, and everything owed is paid. */
  settle(): void {
    const allTake = Array.from({ length: ROUTERS }, (): Reply => 'takes');
    for (const regionId of REGIONS) {
      for (let commits = 0; commits < 3; commits += 1) {
        this.deploy(regionId, allTake);
        this.request(regionId);
      }
      const own = regionWhitelist(this.registered().whitelist, regionId);
      assert.ok(pendingWhitelist(own).isEmpty, 'nothing is pending in the end');
      for (const held of this.routers.get(regionId) ?? []) assert.equal(held, coverOf(this.liveIn(regionId)));
    }
    for (const request of this.requests)
      if (request.phase === 'approved') assert.is(statusOf(request), 'active', `${request.id} is active in the end`);
  }
}

function statusOf({ phase, active, failed, regions }: ModelRequest): string {
  if (phase === 'review') return 'pending_review';
  if (phase === 'rejected') return 'rejected';
  if (failed.size > 0) return 'failed';
  return regions.every((regionId) => active.has(regionId)) ? 'active' : 'pending_deploy';
}

function coverOf(requests: readonly ModelRequest[]): readonly string[] {
  const addresses = requests.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, at) => ({ version: 4 as const, value: BASE + first + at })),
  );
  return coverTexts(RangeSet.ofAddresses(addresses));
}

const steps = fc.array(step, { minLength: 1, maxLength: 80, size: 'max' });

test('whatever happens, statuses and lists are what they would be told one by one, and in the end every router holds what is live', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      const both = new Run();
      for (const next of sequence) {
        both.take(next);
        both.compare();
      }
      both.settle();
      both.compare();
    }),
    { numRuns: 400 },
  );
});

test('replaying the events gives the state that was reached step by step', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      const both = new Run();
      for (const next of sequence) both.take(next);
      let state: CustomerState = customerDecider.initial;
      for (const [at, event] of both.events.entries())
        state = customerDecider.evolve(state, { ...event, revision: BigInt(at) });
      assert.equal(plain(state), plain(both.state));
    }),
    { numRuns: 150 },
  );
});

test.run();
