import { type AddressRange, overlaps, rangeSize } from '../../addresses/range.ts';
import { coverTexts } from '../../addresses/cidr-cover.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { type Command, type Decision, type Refusal, refuse } from '../../kernel/decider.ts';
import type { Evidence, SourceWhitelistEvent } from '../../events/ip-control/source-whitelist.ts';
import {
  countedRequests,
  regionWhitelist,
  replayedRequest,
  type SourceWhitelist,
  usedEntries,
  type WhitelistRequest,
} from '../../domain/ip-control/source-whitelist-ledger.ts';
import type { Registered } from './customer-state.ts';
import { prefixLimitRefusal, type RegionLimits } from './prefix-limit.ts';
import { reservedBlock } from '../../domain/ip-control/reserved-space.ts';

/** What a customer submits: IPv4 addresses that are neighbours, the regions in the order in which they were sent, and the stored evidence. */
export type WhitelistSubmission = Readonly<{
  requestId: string;
  /** The address, range or CIDR as it was sent. */
  input: string;
  range: AddressRange;
  regions: readonly Readonly<{ regionId: number; name: string }>[];
  evidence: Evidence;
  /** What the regions' routers take. */
  limits?: RegionLimits;
  /** Of the token that asks. */
  tokenId?: string | undefined;
}>;

export type SourceWhitelistCommand =
  | Command<'SubmitSourceWhitelist', WhitelistSubmission>
  | Command<'ApproveSourceWhitelist', { requestId: string; limits?: RegionLimits }>
  | Command<'RejectSourceWhitelist', { requestId: string; reason: string }>
  | Command<'RemoveSourceWhitelist', { requestId: string; tokenId?: string | undefined }>;

/** The addresses of a /24. */
const ADDRESSES_MAX = 256n;
/** Printable, 1 to 500 characters, with something to read in it. */
const REASON = /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,500}$/u;

/** The rules of a customer's source whitelist. */
export function decideSourceWhitelist(
  command: SourceWhitelistCommand,
  state: Registered,
): Decision<SourceWhitelistEvent> {
  switch (command.type) {
    case 'SubmitSourceWhitelist':
      return submit(command.data, state);
    case 'ApproveSourceWhitelist':
      return approve(command.data, state);
    case 'RejectSourceWhitelist':
      return reject(command.data, state);
    case 'RemoveSourceWhitelist':
      return remove(command.data.requestId, state);
  }
}

/** The order of the checks is part of the API: replay, limit, prefix size, reserved space, overlap. */
function submit(submission: WhitelistSubmission, state: Registered): Decision<SourceWhitelistEvent> {
  const { settings, whitelist } = state;
  if (!settings.allowSourceWhitelist) return notAllowed();
  if (replayedRequest(whitelist, submission) !== undefined) return [];
  const { requestId, input, range, regions, evidence, limits } = submission;
  const regionIds = regions.map(({ regionId }) => regionId);
  const refusal =
    limitRefusal(state) ??
    sizeRefusal(range) ??
    reservedRefusal(range) ??
    overlapRefusal(submission, whitelist) ??
    (settings.trusted ? lengthRefusal({ input, range, regionIds }, state, limits) : undefined);
  if (refusal !== undefined) return refusal;
  const prefixes = coverTexts(RangeSet.of(range));
  const data = { requestId, input, prefixes, regionIds, evidence, autoApproved: settings.trusted };
  return [{ type: 'SourceWhitelistSubmitted', data }];
}

function notAllowed(): Refusal {
  return refuse('source-whitelist-not-allowed', 'source whitelist is not enabled for your account');
}

function limitRefusal({ settings: { whitelistLimit }, whitelist }: Registered): Refusal | undefined {
  if (usedEntries(whitelist) < whitelistLimit) return undefined;
  return refuse('source-whitelist-limit-reached', `source whitelist limit reached (${whitelistLimit} entries).`);
}

function sizeRefusal(range: AddressRange): Refusal | undefined {
  if (rangeSize(range) <= ADDRESSES_MAX) return undefined;
  return refuse('source-whitelist-too-broad', 'prefix too broad: the maximum allowed size is /24.');
}

function reservedRefusal(range: AddressRange): Refusal | undefined {
  const block = reservedBlock(range);
  if (block === undefined) return undefined;
  return refuse('source-whitelist-reserved', `address space ${block} is reserved and cannot be whitelisted.`);
}

function overlapRefusal({ range, regions }: WhitelistSubmission, whitelist: SourceWhitelist): Refusal | undefined {
  const near = countedRequests(whitelist).filter((request) => overlaps(request.range, range));
  for (const { regionId, name } of regions) {
    const existing = near.find(({ regionIds }) => regionIds.includes(regionId));
    if (existing === undefined) continue;
    return refuse(
      'source-whitelist-overlap',
      `range overlaps an existing whitelist entry (${existing.input}) in your account for region ${name}.`,
    );
  }
  return undefined;
}

/** The lists of the regions that would become longer than they may. */
function lengthRefusal(
  { input, range, regionIds }: Pick<WhitelistRequest, 'input' | 'range' | 'regionIds'>,
  { settings, whitelist }: Registered,
  limits: RegionLimits | undefined,
): Refusal | undefined {
  const changed = RangeSet.of(range);
  const field = input.includes('/') ? 'cidr' : input.includes('-') ? 'range' : 'ip';
  for (const regionId of regionIds) {
    const before = regionWhitelist(whitelist, regionId).live;
    const after = (): RangeSet => before.union(changed);
    const refusal = prefixLimitRefusal({ regionId, before, changed, after, field }, settings, limits);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function approve(
  { requestId, limits }: Readonly<{ requestId: string; limits?: RegionLimits }>,
  state: Registered,
): Decision<SourceWhitelistEvent> {
  const request = state.whitelist.requests.get(requestId);
  if (request === undefined) return notFound();
  switch (request.review.phase) {
    case 'open': {
      const refusal = lengthRefusal(request, state, limits);
      if (refusal !== undefined) return refusal;
      return [{ type: 'SourceWhitelistApproved', data: { requestId, regionIds: [...request.regionIds] } }];
    }
    case 'approved':
      return [];
    case 'rejected':
      return refuse(
        'source-whitelist-decided',
        'the source whitelist request was rejected: it has to be submitted anew.',
      );
  }
}

function reject(
  { requestId, reason }: Readonly<{ requestId: string; reason: string }>,
  { whitelist }: Registered,
): Decision<SourceWhitelistEvent> {
  const request = whitelist.requests.get(requestId);
  if (request === undefined) return notFound();
  if (!REASON.test(reason)) {
    return refuse('bad-reason', 'a reason has 1 to 500 characters, none of them a control character.', 'reason');
  }
  switch (request.review.phase) {
    case 'open':
      return [{ type: 'SourceWhitelistRejected', data: { requestId, reason } }];
    case 'approved':
      return refuse(
        'source-whitelist-decided',
        'the source whitelist request was approved: only the customer can remove it.',
      );
    case 'rejected':
      return [];
  }
}

function remove(requestId: string, { settings, whitelist }: Registered): Decision<SourceWhitelistEvent> {
  if (!settings.allowSourceWhitelist) return notAllowed();
  const request = whitelist.requests.get(requestId);
  if (request === undefined) return notFound();
  const regionIds = request.review.phase === 'approved' ? [...request.regionIds] : [];
  return [{ type: 'SourceWhitelistRemoved', data: { requestId, regionIds } }];
}

function notFound(): Refusal {
  return refuse('source-whitelist-not-found', 'source whitelist request not found.');
}
