import { isAddressProblem } from '../../../src/addresses/address-problem.ts';
import { coverTexts } from '../../../src/addresses/cidr-cover.ts';
import { parseCidr, rangeOfCidr } from '../../../src/addresses/cidr.ts';
import { RangeSet } from '../../../src/addresses/range-set.ts';
import { parseRangeText } from '../../../src/addresses/range-text.ts';
import type { AddressRange } from '../../../src/addresses/range.ts';
import type { CustomerCommand } from '../../../src/commands/ip-control/customer.ts';
import type { WhitelistSubmission } from '../../../src/commands/ip-control/source-whitelist.ts';
import { contentOf } from '../../../src/domain/ip-control/commit-content.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { Evidence } from '../../../src/events/ip-control/source-whitelist.ts';
import type { CustomerSettings } from '../../../src/events/ip-control/vocabulary.ts';
import { registered } from './customer-examples.ts';

/** A customer that may use the source whitelist. */
export function whitelisting(settings: Partial<CustomerSettings> = {}): CustomerEvent {
  return registered({ allowSourceWhitelist: true, ...settings });
}

/** A customer whose submissions need no review. */
export function trusted(settings: Partial<CustomerSettings> = {}): CustomerEvent {
  return whitelisting({ trusted: true, ...settings });
}

export const REGION_NAMES: Readonly<Record<number, string>> = { 1: 'eu-west', 2: 'us-east', 3: 'ap-south' };

export function evidence(sha256 = 'aa'): Evidence {
  return { sha256, bytes: 1234, mediaType: 'application/pdf', fileName: 'contract.pdf' };
}

/** An address, a range (`a-b`) or a CIDR. */
export function rangeOf(text: string): AddressRange {
  const range = text.includes('/') ? parseCidr(text) : parseRangeText(text);
  if (isAddressProblem(range)) throw new Error(range.problem);
  return 'network' in range ? rangeOfCidr(range) : range;
}

type Submission = Readonly<{ requestId?: string; regionIds?: readonly number[]; sha256?: string }>;

export function submissionOf(
  input: string,
  { requestId = 'r1', regionIds = [1], sha256 = 'aa' }: Submission = {},
): WhitelistSubmission {
  const regions = regionIds.map((regionId) => ({ regionId, name: REGION_NAMES[regionId] ?? '' }));
  return { requestId, input, range: rangeOf(input), regions, evidence: evidence(sha256) };
}

export function submit(input: string, submission: Submission = {}): CustomerCommand {
  return { type: 'SubmitSourceWhitelist', data: submissionOf(input, submission) };
}

export function approve(requestId = 'r1'): CustomerCommand {
  return { type: 'ApproveSourceWhitelist', data: { requestId } };
}

export function reject(requestId = 'r1', reason = 'not your network'): CustomerCommand {
  return { type: 'RejectSourceWhitelist', data: { requestId, reason } };
}

export function remove(requestId = 'r1'): CustomerCommand {
  return { type: 'RemoveSourceWhitelist', data: { requestId } };
}

export function submitted(
  input: string,
  { requestId = 'r1', regionIds = [1], sha256 = 'aa' }: Submission = {},
  autoApproved = false,
): CustomerEvent {
  const prefixes = coverTexts(RangeSet.of(rangeOf(input)));
  const data = { requestId, input, prefixes, regionIds: [...regionIds], evidence: evidence(sha256), autoApproved };
  return { type: 'SourceWhitelistSubmitted', data };
}

export function approved(requestId = 'r1', regionIds: number[] = [1]): CustomerEvent {
  return { type: 'SourceWhitelistApproved', data: { requestId, regionIds } };
}

export function rejected(requestId = 'r1', reason = 'not your network'): CustomerEvent {
  return { type: 'SourceWhitelistRejected', data: { requestId, reason } };
}

export function removed(requestId = 'r1', regionIds: number[] = [1]): CustomerEvent {
  return { type: 'SourceWhitelistRemoved', data: { requestId, regionIds } };
}

type Commit = Readonly<{ commitSetId?: string; regionId?: number; attempt?: number }>;

const commitOf = ({ commitSetId = 'w1', regionId = 1, attempt = 1 }: Commit) =>
  ({ commitSetId, regionId, list: 'SRC_WHITELIST', attempt }) as const;

const settled = (commit: Commit, prefixes: readonly string[]) => ({
  ...commitOf(commit),
  outcomes: [],
  content: contentOf(prefixes),
  completedAt: '2026-11-27T20:50:00.000+00:00',
});

export function whitelistRequested(commit: Commit = {}): CustomerEvent {
  return { type: 'CommitRequested', data: { ...commitOf(commit), reason: 'quiet' } };
}

export function whitelistCompleted(commit: Commit = {}, prefixes: readonly string[] = []): CustomerEvent {
  return { type: 'CommitCompleted', data: { ...settled(commit, prefixes), notify: false } };
}

export function whitelistFailed(commit: Commit = {}, prefixes: readonly string[] = []): CustomerEvent {
  return { type: 'CommitFailed', data: { ...settled(commit, prefixes), notify: false } };
}

export function requestWhitelist(commitSetId = 'w1', regionId = 1): CustomerCommand {
  return { type: 'RequestCommit', data: { regionId, list: 'SRC_WHITELIST', commitSetId, reason: 'quiet' } };
}

export function recordWhitelistCompleted(commit: Commit = {}, prefixes: readonly string[] = []): CustomerCommand {
  return { type: 'RecordCommitCompleted', data: settled(commit, prefixes) };
}

export function recordWhitelistFailed(commit: Commit = {}, prefixes: readonly string[] = []): CustomerCommand {
  return { type: 'RecordCommitFailed', data: settled(commit, prefixes) };
}
