import { type AddressProblem, isAddressProblem } from '../../../src/addresses/address-problem.ts';
import { type Address, parseAddress } from '../../../src/addresses/address.ts';
import { parseCidr, rangeOfCidr } from '../../../src/addresses/cidr.ts';
import { RangeSet } from '../../../src/addresses/range-set.ts';
import { parseRangeTexts } from '../../../src/addresses/range-text.ts';
import type { ChangeTarget } from '../../../src/commands/ip-control/address-change.ts';
import type { DisabledTerm } from '../../../src/domain/ip-control/disabled-term.ts';
import type { CustomerCommand } from '../../../src/commands/ip-control/customer.ts';
import { contentOf } from '../../../src/domain/ip-control/commit-content.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { CustomerSettings, RouterOutcome } from '../../../src/events/ip-control/vocabulary.ts';

/** What a customer has when nothing else is said. */
export const SETTINGS: CustomerSettings = {
  rateLimitPerMinute: 60,
  allowSynchronous: false,
  allowSourceWhitelist: false,
  trusted: false,
  whitelistLimit: 100,
  evidenceMaxBytes: 5_242_880,
  webhookUrl: null,
};

/** Customer 7, registered with these settings. */
export function registered(settings: Partial<CustomerSettings> = {}): CustomerEvent {
  const data = { customerId: 7, name: 'Acme Corp.', listName: 'ACME-CORP', settings: { ...SETTINGS, ...settings } };
  return { type: 'CustomerRegistered', data };
}

export function assigned(subnetId: number, cidr: string, regionId = 1): CustomerEvent {
  return { type: 'SubnetAssigned', data: { subnetId, cidr, regionId, asn: 64_500, metro: 'AMS' } };
}

export function released(subnetId: number, cidr: string, wasDisabled: string[] = [], regionId = 1): CustomerEvent {
  return { type: 'SubnetReleased', data: { subnetId, cidr, regionId, wasDisabled } };
}

export function disabled(texts: string[], regionId = 1): CustomerEvent {
  return { type: 'AddressesDisabled', data: { regionId, ranges: texts } };
}

export function enabled(texts: string[], regionId = 1): CustomerEvent {
  return { type: 'AddressesEnabled', data: { regionId, ranges: texts } };
}

type Commit = Readonly<{ commitSetId?: string; regionId?: number; attempt?: number }>;

const commitOf = ({ commitSetId = 'c1', regionId = 1, attempt = 1 }: Commit) =>
  ({ commitSetId, regionId, list: 'BLACKHOLE', attempt }) as const;

export function commitRequested(
  commit: Commit = {},
  reason: 'quiet' | 'retry' | 'synchronous' | 'operator' = 'quiet',
): CustomerEvent {
  return { type: 'CommitRequested', data: { ...commitOf(commit), reason } };
}

const CONTENT = contentOf(['192.0.2.1/32']);
export const COMPLETED_AT = '2026-11-27T20:50:00.000+00:00';

const outcome = (result: RouterOutcome['result']): RouterOutcome => ({
  router: 'core1',
  result,
  untouched: false,
  milliseconds: 12,
});

const settled = (commit: Commit, result: RouterOutcome['result']) => ({
  ...commitOf(commit),
  outcomes: [outcome(result)],
  content: CONTENT,
  completedAt: COMPLETED_AT,
});

export function commitCompleted(commit: Commit = {}, notify = false): CustomerEvent {
  return { type: 'CommitCompleted', data: { ...settled(commit, 'confirmed'), notify } };
}

export function commitFailed(commit: Commit = {}, notify = false): CustomerEvent {
  return { type: 'CommitFailed', data: { ...settled(commit, 'failed'), notify } };
}

export function commitSliceDeployed(done: number, total: number, commit: Commit = {}): CustomerEvent {
  return { type: 'CommitSliceDeployed', data: { ...commitOf(commit), done, total } };
}

export function commitHeldUp(routers: string[], commit: Commit = {}): CustomerEvent {
  return { type: 'CommitHeldUp', data: { ...commitOf(commit), routers } };
}

export function requestCommit(
  commitSetId = 'c1',
  regionId = 1,
  reason: 'quiet' | 'retry' | 'synchronous' | 'operator' = 'quiet',
): CustomerCommand {
  return { type: 'RequestCommit', data: { regionId, list: 'BLACKHOLE', commitSetId, reason } };
}

export function recordCompleted(commit: Commit = {}): CustomerCommand {
  return { type: 'RecordCommitCompleted', data: settled(commit, 'confirmed') };
}

export function recordSlice(done: number, total: number, commit: Commit = {}): CustomerCommand {
  return { type: 'RecordCommitSlice', data: { ...commitOf(commit), step: 0, done, total } };
}

export function recordHeldUp(routers: string[], commit: Commit = {}): CustomerCommand {
  return { type: 'RecordCommitHeldUp', data: { ...commitOf(commit), step: 0, routers } };
}

export function recordFailed(commit: Commit = {}): CustomerCommand {
  return { type: 'RecordCommitFailed', data: settled(commit, 'failed') };
}

/** One address, as the enable and disable endpoints ask for it. */
export function one(text: string): ChangeTarget {
  return { mode: 'one', address: address(text), text };
}

/** Several addresses that must all be the customer's own. */
export function list(...texts: string[]): ChangeTarget {
  return { mode: 'list', set: RangeSet.ofAddresses(texts.map(address)), texts: () => texts };
}

/** All of a CIDR block that is the customer's own. */
export function block(text: string): ChangeTarget {
  return { mode: 'block', set: RangeSet.of(rangeOfCidr(known(parseCidr(text)))) };
}

/** All of these ranges that is the customer's own. */
export function ranges(...texts: string[]): ChangeTarget {
  return { mode: 'block', set: parseRangeTexts(texts) };
}

export function disable(target: ChangeTarget, synchronous = false, term?: DisabledTerm): CustomerCommand {
  return { type: 'ChangeAddresses', data: { action: 'disable', synchronous, target, term } };
}

/** Half a day from when customers' examples happen. */
export const MIDNIGHT: DisabledTerm = { until: '2026-11-28T00:00:00.000+00:00', milliseconds: 43_200_000 };
export const NOON: DisabledTerm = { until: '2026-11-28T12:00:00.000+00:00', milliseconds: 86_400_000 };

const termOf = (term: DisabledTerm | undefined) =>
  term === undefined ? {} : { until: term.until, lastsMilliseconds: term.milliseconds };

export function disabledFor(term: DisabledTerm, texts: string[], regionId = 1): CustomerEvent {
  return { type: 'AddressesDisabled', data: { regionId, ranges: texts, ...termOf(term) } };
}

export function termChanged(term: DisabledTerm | undefined, texts: string[], regionId = 1): CustomerEvent {
  return { type: 'DisabledTermChanged', data: { regionId, ranges: texts, ...termOf(term) } };
}

export function termEnded(texts: string[], regionId = 1): CustomerEvent {
  return { type: 'AddressesEnabled', data: { regionId, ranges: texts, because: 'until' } };
}

export function endTerm({ until }: DisabledTerm, texts: string[], regionId = 1): CustomerCommand {
  return { type: 'EndDisabledTerm', data: { regionId, until, addresses: parseRangeTexts(texts) } };
}

export function enable(target: ChangeTarget, synchronous = false): CustomerCommand {
  return { type: 'ChangeAddresses', data: { action: 'enable', synchronous, target } };
}

export function address(text: string): Address {
  return known(parseAddress(text));
}

function known<T extends object>(parsed: T | AddressProblem): T {
  if (isAddressProblem(parsed)) throw new Error(parsed.problem);
  return parsed;
}
