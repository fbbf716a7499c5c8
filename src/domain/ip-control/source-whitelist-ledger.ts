import { isAddressProblem } from '../../addresses/address-problem.ts';
import { parseCidr, rangeOfCidr } from '../../addresses/cidr.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { parseRangeText, parseRangeTexts, rangeTexts } from '../../addresses/range-text.ts';
import { type AddressRange, firstAddress, lastAddress, rangeBetween } from '../../addresses/range.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { Evidence } from '../../events/ip-control/source-whitelist.ts';
import { isOfTypes } from '../../kernel/event.ts';
import { invariant } from '../../kernel/invariant.ts';
import {
  capture,
  decodeWaiting,
  encodeWaiting,
  giveBack,
  type CommitContent,
  type Layers,
  type WaitingJson,
  withChange,
} from './layers.ts';

/** The five statuses of the specification. */
export type WhitelistStatus = 'pending_review' | 'pending_deploy' | 'active' | 'rejected' | 'failed';

/** How far an approved request is in one region: not captured by a commit yet, captured, failed, captured again, on all routers. */
export type Progress = 'waiting' | 'deploying' | 'failed' | 'retrying' | 'active';

/** A request that was not removed. */
export type WhitelistRequest = Readonly<{
  requestId: string;
  /** The address, range or CIDR as it was sent. */
  input: string;
  range: AddressRange;
  /** In the order in which they were sent. */
  regionIds: readonly number[];
  evidence: Evidence;
  autoApproved: boolean;
  review:
    | Readonly<{ phase: 'open' }>
    | Readonly<{ phase: 'approved'; progress: ReadonlyMap<number, Progress> }>
    | Readonly<{ phase: 'rejected'; reason: string }>;
}>;

/** What one region's whitelist is. Pending are the touched addresses and the captured ones. */
export type RegionWhitelist = Readonly<{
  /** The addresses of every approved request that was not removed. */
  live: RangeSet;
  /** Changed since the last commit was requested. */
  touched: RangeSet;
  /** Parts of it after a failed commit. */
  layers: Layers;
  inDeployment: CommitContent | undefined;
}>;

/** A customer's whitelist: its requests in order of submission, and what they make of each region's list. */
export type SourceWhitelist = Readonly<{
  requests: ReadonlyMap<string, WhitelistRequest>;
  /** By region number. */
  regions: ReadonlyMap<number, RegionWhitelist>;
}>;

export const EMPTY_WHITELIST: SourceWhitelist = { requests: new Map(), regions: new Map() };

const NOTHING: RegionWhitelist = { live: RangeSet.empty, touched: RangeSet.empty, layers: [], inDeployment: undefined };

/** The whitelist of one region; a region without any is empty. */
export function regionWhitelist({ regions }: SourceWhitelist, regionId: number): RegionWhitelist {
  return regions.get(regionId) ?? NOTHING;
}

/** The addresses whose coming or going is not on all routers of the region yet. */
export function pendingWhitelist({ touched, inDeployment }: RegionWhitelist): RangeSet {
  return inDeployment === undefined ? touched : touched.union(inDeployment.captured);
}

/** A request's status: `active` when all of its regions have it, `failed` as long as its deployment fails in one. */
export function whitelistStatus({ review }: WhitelistRequest): WhitelistStatus {
  switch (review.phase) {
    case 'open':
      return 'pending_review';
    case 'rejected':
      return 'rejected';
    case 'approved': {
      const everywhere = [...review.progress.values()];
      if (everywhere.some((progress) => progress === 'failed' || progress === 'retrying')) return 'failed';
      return everywhere.every((progress) => progress === 'active') ? 'active' : 'pending_deploy';
    }
  }
}

/** How many requests count against the account's limit: those that are neither rejected nor removed. */
export function usedEntries(whitelist: SourceWhitelist): number {
  return countedRequests(whitelist).length;
}

/** The requests that are neither rejected nor removed. */
export function countedRequests({ requests }: SourceWhitelist): readonly WhitelistRequest[] {
  return [...requests.values()].filter(({ review }) => review.phase !== 'rejected');
}

/** The request that says the same already: same addresses, regions and evidence, neither rejected nor removed. */
export function replayedRequest(
  whitelist: SourceWhitelist,
  {
    range,
    regions,
    evidence,
  }: Readonly<{ range: AddressRange; regions: readonly Readonly<{ regionId: number }>[]; evidence: Evidence }>,
): WhitelistRequest | undefined {
  const regionIds = new Set(regions.map(({ regionId }) => regionId));
  return countedRequests(whitelist).find(
    (request) =>
      request.range.first === range.first &&
      request.range.last === range.last &&
      request.evidence.sha256 === evidence.sha256 &&
      request.regionIds.length === regionIds.size &&
      request.regionIds.every((regionId) => regionIds.has(regionId)),
  );
}

/** The requests, newest first, each with when it was submitted. */
export function newestFirst({
  whitelist,
  submittedAt,
}: Readonly<{ whitelist: SourceWhitelist; submittedAt: ReadonlyMap<string, string> }>): readonly (WhitelistRequest &
  Readonly<{ submittedAt: string }>)[] {
  return [...whitelist.requests.values()].toReversed().map((request) => {
    const at = submittedAt.get(request.requestId);
    invariant(at, `it is known when request ${request.requestId} was submitted`);
    return { ...request, submittedAt: at };
  });
}

/** The addresses that the minimal CIDRs of a run of neighbours spell. They were checked before they became an event. */
export function rangeOfPrefixes(prefixes: readonly string[]): AddressRange {
  const ranges = prefixes.map((prefix) => {
    const cidr = parseCidr(prefix);
    invariant(!isAddressProblem(cidr), `an event holds the CIDR ${prefix}`);
    return rangeOfCidr(cidr);
  });
  const [first, last] = [ranges[0], ranges.at(-1)];
  invariant(first !== undefined && last !== undefined, 'a whitelist request has addresses');
  const range = rangeBetween(firstAddress(first), lastAddress(last));
  invariant(!isAddressProblem(range), `the CIDRs ${prefixes.join(', ')} are in order`);
  return range;
}

/** All that a whitelist is made of. */
export const WHITELIST_EVENTS = [
  'SourceWhitelistSubmitted',
  'SourceWhitelistApproved',
  'SourceWhitelistRejected',
  'SourceWhitelistRemoved',
  'CommitRequested',
  'CommitCompleted',
  'CommitFailed',
] as const;
export type WhitelistEvent = Extract<CustomerEvent, { type: (typeof WHITELIST_EVENTS)[number] }>;

const isWhitelistEvent = isOfTypes(WHITELIST_EVENTS);

/** The whitelist after an event; events that are not about it change nothing. */
export function applyToWhitelist(whitelist: SourceWhitelist, event: CustomerEvent): SourceWhitelist {
  if (!isWhitelistEvent(event)) return whitelist;
  switch (event.type) {
    case 'SourceWhitelistSubmitted': {
      const { prefixes, ...request } = event.data;
      const submitted = { ...request, range: rangeOfPrefixes(prefixes), review: { phase: 'open' } } as const;
      return request.autoApproved ? approve(whitelist, submitted) : withRequest(whitelist, submitted);
    }
    case 'SourceWhitelistApproved':
      return approve(whitelist, requestOf(whitelist, event.data.requestId));
    case 'SourceWhitelistRejected': {
      const { requestId, reason } = event.data;
      return withRequest(whitelist, { ...requestOf(whitelist, requestId), review: { phase: 'rejected', reason } });
    }
    case 'SourceWhitelistRemoved':
      return remove(whitelist, requestOf(whitelist, event.data.requestId), event.data.regionIds);
    case 'CommitRequested':
    case 'CommitCompleted':
    case 'CommitFailed':
      return event.data.list === 'SRC_WHITELIST' ? applyCommit(whitelist, event.data.regionId, event.type) : whitelist;
  }
}

function requestOf({ requests }: SourceWhitelist, requestId: string): WhitelistRequest {
  const request = requests.get(requestId);
  invariant(request, `whitelist request ${requestId} was submitted`);
  return request;
}

function withRequest(whitelist: SourceWhitelist, request: WhitelistRequest): SourceWhitelist {
  return { ...whitelist, requests: new Map(whitelist.requests).set(request.requestId, request) };
}

function approve(whitelist: SourceWhitelist, request: WhitelistRequest): SourceWhitelist {
  const progress = new Map(request.regionIds.map((regionId): [number, Progress] => [regionId, 'waiting']));
  const regions = changeRegions(whitelist, request.regionIds, request.range, (live, own) => live.union(own));
  return { ...withRequest(whitelist, { ...request, review: { phase: 'approved', progress } }), regions };
}

/** No two requests of a customer share an address in a region, so that what leaves with one belongs to no other. */
function remove(
  whitelist: SourceWhitelist,
  { requestId, range }: WhitelistRequest,
  regionIds: readonly number[],
): SourceWhitelist {
  const requests = new Map(whitelist.requests);
  requests.delete(requestId);
  return { requests, regions: changeRegions(whitelist, regionIds, range, (live, own) => live.difference(own)) };
}

function changeRegions(
  whitelist: SourceWhitelist,
  regionIds: readonly number[],
  range: AddressRange,
  change: (live: RangeSet, own: RangeSet) => RangeSet,
): ReadonlyMap<number, RegionWhitelist> {
  const own = RangeSet.of(range);
  const regions = new Map(whitelist.regions);
  for (const regionId of regionIds) {
    const region = regionWhitelist(whitelist, regionId);
    regions.set(regionId, {
      ...region,
      live: change(region.live, own),
      touched: region.touched.union(own),
      layers: withChange(region, own),
    });
  }
  return regions;
}

type CommitStep = 'CommitRequested' | 'CommitCompleted' | 'CommitFailed';

function applyCommit(whitelist: SourceWhitelist, regionId: number, step: CommitStep): SourceWhitelist {
  const regions = new Map(whitelist.regions);
  regions.set(regionId, regionAfter(regionWhitelist(whitelist, regionId), step));
  const requests = new Map(whitelist.requests);
  for (const [requestId, request] of whitelist.requests) {
    if (request.review.phase !== 'approved') continue;
    const before = request.review.progress.get(regionId);
    const after = before === undefined ? undefined : PROGRESS[step][before];
    if (after === undefined || after === before) continue;
    const progress = new Map(request.review.progress).set(regionId, after);
    requests.set(requestId, { ...request, review: { phase: 'approved', progress } });
  }
  return { requests, regions };
}

/** A request that is active stays so: every later content holds it, until it is removed. */
const PROGRESS: Readonly<Record<CommitStep, Readonly<Record<Progress, Progress>>>> = {
  CommitRequested: {
    waiting: 'deploying',
    deploying: 'deploying',
    failed: 'retrying',
    retrying: 'retrying',
    active: 'active',
  },
  CommitCompleted: {
    waiting: 'waiting',
    deploying: 'active',
    failed: 'failed',
    retrying: 'active',
    active: 'active',
  },
  CommitFailed: {
    waiting: 'waiting',
    deploying: 'failed',
    failed: 'failed',
    retrying: 'failed',
    active: 'active',
  },
};

function regionAfter(region: RegionWhitelist, step: CommitStep): RegionWhitelist {
  const { live, touched, inDeployment } = region;
  switch (step) {
    case 'CommitRequested':
      return { live, touched: RangeSet.empty, layers: [], inDeployment: capture(region, live, inDeployment) };
    case 'CommitCompleted':
      return { ...region, inDeployment: undefined };
    case 'CommitFailed':
      return { live, ...giveBack(touched, inDeployment), inDeployment: undefined };
  }
}

type ReviewJson =
  | Readonly<{ phase: 'open' }>
  | Readonly<{ phase: 'approved'; progress: readonly (readonly [regionId: number, progress: Progress])[] }>
  | Readonly<{ phase: 'rejected'; reason: string }>;

type RequestJson = Omit<WhitelistRequest, 'range' | 'review'> & Readonly<{ range: string; review: ReviewJson }>;

type RegionJson = Readonly<{
  regionId: number;
  live: readonly string[];
  touched: readonly string[];
}> &
  WaitingJson;

/** A customer's whitelist as JSON. */
export type WhitelistJson = Readonly<{ requests: readonly RequestJson[]; regions: readonly RegionJson[] }>;

/** A customer's whitelist as JSON. */
export function encodeWhitelist({ requests, regions }: SourceWhitelist): WhitelistJson {
  return {
    requests: [...requests.values()].map(encodeRequest),
    regions: [...regions].map(([regionId, { live, touched, layers, inDeployment }]) => ({
      regionId,
      live: rangeTexts(live),
      touched: rangeTexts(touched),
      ...encodeWaiting(layers, inDeployment),
    })),
  };
}

/** The whitelist that was encoded. */
export function decodeWhitelist({ requests, regions }: WhitelistJson): SourceWhitelist {
  return {
    requests: new Map(requests.map((request) => [request.requestId, decodeRequest(request)])),
    regions: new Map(regions.map((region) => [region.regionId, decodeRegion(region)])),
  };
}

function encodeRequest({ range, review, ...rest }: WhitelistRequest): RequestJson {
  const [text = ''] = rangeTexts(RangeSet.of(range));
  return {
    ...rest,
    range: text,
    review: review.phase === 'approved' ? { ...review, progress: [...review.progress] } : review,
  };
}

function decodeRequest({ range: text, review, ...rest }: RequestJson): WhitelistRequest {
  const range = parseRangeText(text);
  invariant(!isAddressProblem(range), `a stored whitelist request holds the range ${text}`);
  return {
    ...rest,
    range,
    review: review.phase === 'approved' ? { ...review, progress: new Map(review.progress) } : review,
  };
}

function decodeRegion({ live, touched, ...waiting }: RegionJson): RegionWhitelist {
  return { live: parseRangeTexts(live), touched: parseRangeTexts(touched), ...decodeWaiting(waiting) };
}
