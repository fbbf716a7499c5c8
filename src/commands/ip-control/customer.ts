import { isAddressProblem } from '../../addresses/address-problem.ts';
import { type Address, formatAddress, parseAddress } from '../../addresses/address.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { type Command, type Decider, type Decision, refuse } from '../../kernel/decider.ts';
import { invariant } from '../../kernel/invariant.ts';
import {
  changedAddresses,
  changedTexts,
  type RegionAddresses,
  regionAddresses,
  subnetRange,
} from '../../domain/ip-control/address-ledger.ts';
import { type CustomerEvent, customerEvents } from '../../events/ip-control/customer.ts';
import { regionWhitelist } from '../../domain/ip-control/source-whitelist-ledger.ts';
import type { CustomerSettings, ListContent, ListKind, RouterOutcome } from '../../events/ip-control/vocabulary.ts';
import { customerSnapshot } from './customer-snapshot.ts';
import {
  commitKey,
  type CustomerState,
  evolveCustomer,
  type OpenCommit,
  type Registered,
  type Subnet,
  UNREGISTERED,
} from './customer-state.ts';
import { decideKept, keptIn, type RecordKept } from './kept-addresses.ts';
import { prefixLimitRefusal, type RegionLimits } from './prefix-limit.ts';
import { decideSourceWhitelist, type SourceWhitelistCommand } from './source-whitelist.ts';

/** `limits`: what the regions' routers take. */
type AddressChange = Readonly<{
  action: 'enable' | 'disable';
  synchronous: boolean;
  target: ChangeTarget;
  limits?: RegionLimits;
}>;

/** Which addresses a change is about. `one` and `list` must be the customer's own; of a `block`, what is not its own is passed over. */
export type ChangeTarget =
  | Readonly<{ mode: 'one'; address: Address; text: string }>
  | Readonly<{ mode: 'list'; set: RangeSet; texts: () => readonly string[] }>
  | Readonly<{ mode: 'block'; set: RangeSet; field?: 'range' | 'cidr' }>;

type CommitReference = Readonly<{ regionId: number; list: ListKind; commitSetId: string; attempt: number }>;
/** `step`: how many steps of the attempt were recorded before this one. */
type CommitStep = CommitReference & Readonly<{ step: number }>;
type CommitResult = CommitReference &
  Readonly<{ outcomes: readonly RouterOutcome[]; content: ListContent; completedAt: string }>;

export type CustomerCommand =
  | RecordKept
  | SourceWhitelistCommand
  | Command<'RegisterCustomer', { customerId: number; name: string; listName: string; settings: CustomerSettings }>
  | Command<'ChangeCustomerSettings', { changes: Partial<CustomerSettings> }>
  | Command<'RotateWebhookSecret', { secretId: string; keepsPrevious: boolean }>
  | Command<'RetireWebhookSecret', { secretId: string }>
  | Command<'IssueApiToken', { tokenId: string; label: string; sha256: string }>
  | Command<'RevokeApiToken', { tokenId: string }>
  | Command<'AssignSubnet', Subnet>
  | Command<'ReleaseSubnet', { subnetId: number }>
  | Command<'ChangeAddresses', AddressChange>
  | Command<
      'RequestCommit',
      { regionId: number; list: ListKind; commitSetId: string; reason: 'quiet' | 'retry' | 'synchronous' | 'operator' }
    >
  | Command<'RecordCommitCompleted', CommitResult>
  | Command<'RecordCommitFailed', CommitResult>
  | Command<'RecordCommitSlice', CommitStep & Readonly<{ done: number; total: number }>>
  | Command<'RecordCommitHeldUp', CommitStep & Readonly<{ routers: readonly string[] }>>;

/** How long a receiver has to put a new webhook secret in place. */
const PREVIOUS_SIGNS_SECONDS = 24 * 60 * 60;
/** Each is a signature of about 50 bytes in a header. */
const EARLIER_SECRETS_MAX = 3;

/** The rules of one customer. */
export const customerDecider = {
  category: 'customer',
  handles: customerEvents.map(({ type }) => type),
  initial: UNREGISTERED,
  evolve: evolveCustomer,
  decide,
  snapshot: customerSnapshot,
} as const satisfies Decider<CustomerCommand, CustomerState, CustomerEvent> &
  Readonly<{ handles: readonly CustomerEvent['type'][] }>;

function decide(command: CustomerCommand, state: CustomerState): Decision<CustomerEvent> {
  if (command.type === 'RegisterCustomer') {
    return state.phase === 'unregistered' ? [{ type: 'CustomerRegistered', data: command.data }] : [];
  }
  if (state.phase === 'unregistered') return refuse('customer-not-found', 'customer not found.');
  switch (command.type) {
    case 'ChangeCustomerSettings':
      return changeSettings(command.data.changes, state);
    case 'RotateWebhookSecret':
      return rotateWebhookSecret(command.data, state);
    case 'RetireWebhookSecret': {
      const { secretId } = command.data;
      const isEarlier = state.earlierWebhookSecrets.some((earlier) => earlier.secretId === secretId);
      return isEarlier ? [{ type: 'WebhookSecretRetired', data: { secretId } }] : [];
    }
    case 'IssueApiToken':
      return state.tokens.has(command.data.tokenId) ? [] : [{ type: 'ApiTokenIssued', data: command.data }];
    case 'RevokeApiToken': {
      const token = state.tokens.get(command.data.tokenId);
      if (token === undefined) return refuse('token-not-found', 'token not found.');
      return [{ type: 'ApiTokenRevoked', data: { tokenId: token.tokenId, sha256: token.sha256 } }];
    }
    case 'AssignSubnet':
      return assignSubnet(command.data, state);
    case 'ReleaseSubnet': {
      const subnet = state.subnets.get(command.data.subnetId);
      if (subnet === undefined) return [];
      const { subnetId, cidr, regionId } = subnet;
      const disabled = regionAddresses(state.ledger, regionId).disabled.intersection(RangeSet.of(subnetRange(cidr)));
      return [{ type: 'SubnetReleased', data: { subnetId, cidr, regionId, wasDisabled: changedTexts(disabled) } }];
    }
    case 'ChangeAddresses':
      return changeAddresses(command.data, state);
    case 'RecordKept':
      return decideKept(command.data, state.kept);
    case 'RequestCommit':
      return requestCommit(command.data, state);
    case 'RecordCommitCompleted':
      return settle('CommitCompleted', command.data, state);
    case 'RecordCommitFailed':
      return settle('CommitFailed', command.data, state);
    case 'RecordCommitSlice': {
      const { step, ...data } = command.data;
      return openAttempt(data, state)?.steps === step ? [{ type: 'CommitSliceDeployed', data }] : [];
    }
    case 'RecordCommitHeldUp': {
      const { step, routers, ...commit } = command.data;
      if (openAttempt(commit, state)?.steps !== step) return [];
      return [{ type: 'CommitHeldUp', data: { ...commit, routers: [...routers] } }];
    }
    case 'SubmitSourceWhitelist':
    case 'ApproveSourceWhitelist':
    case 'RejectSourceWhitelist':
    case 'RemoveSourceWhitelist':
      return decideSourceWhitelist(command, state);
  }
}

function assignSubnet(subnet: Subnet, { subnets, releasedSubnets }: Registered): Decision<CustomerEvent> {
  const isKnown = subnets.has(subnet.subnetId) || releasedSubnets.has(subnet.subnetId);
  return isKnown ? [] : [{ type: 'SubnetAssigned', data: subnet }];
}

function changeSettings(changes: Partial<CustomerSettings>, state: Registered): Decision<CustomerEvent> {
  const now: Readonly<Record<string, unknown>> = state.settings;
  const news = Object.entries(changes).filter(([name, value]) => value !== undefined && now[name] !== value);
  return news.length === 0 ? [] : [{ type: 'CustomerSettingsChanged', data: { changes: Object.fromEntries(news) } }];
}

function rotateWebhookSecret(
  { secretId, keepsPrevious }: Readonly<{ secretId: string; keepsPrevious: boolean }>,
  { name, webhookSecretId: before, earlierWebhookSecrets }: Registered,
): Decision<CustomerEvent> {
  if (before === secretId) return [];
  if (!keepsPrevious || before === undefined) return [{ type: 'WebhookSecretRotated', data: { secretId } }];
  if (earlierWebhookSecrets.filter(({ signs }) => signs).length >= EARLIER_SECRETS_MAX)
    return refuse(
      'webhook-secrets-in-use',
      `webhooks of ${name} are signed with ${EARLIER_SECRETS_MAX + 1} secrets already: rotate after the oldest has ended, or end the earlier ones at once.`,
    );
  const previous = { secretId: before, signsForSeconds: PREVIOUS_SIGNS_SECONDS };
  return [{ type: 'WebhookSecretRotated', data: { secretId, previous } }];
}

function changeAddresses(change: AddressChange, state: Registered): Decision<CustomerEvent> {
  const { action, synchronous, target, limits } = change;
  if (synchronous && !state.settings.allowSynchronous) {
    return refuse('synchronous-not-allowed', 'synchronous mode is not enabled for your account');
  }
  const stranger = firstStranger(target, state);
  if (stranger !== undefined) return stranger;
  const events: CustomerEvent[] = [];
  const type = action === 'disable' ? 'AddressesDisabled' : 'AddressesEnabled';
  for (const [regionId, known] of state.ledger) {
    const region = action === 'enable' ? withKept(regionId, known, state) : known;
    const ranges = target.mode === 'one' ? changedOne(action, target, region) : changedMany(action, target, region);
    if (ranges.length === 0) continue;
    const before = region.disabled;
    const changed = changedAddresses(ranges);
    const after = (): RangeSet => (action === 'disable' ? before.union(changed) : before.difference(changed));
    const list = { regionId, before, changed, after, field: fieldOf(target) };
    const refusal = prefixLimitRefusal(list, state.settings, limits);
    if (refusal !== undefined) return refusal;
    events.push({ type, data: { regionId, ranges } });
  }
  return events;
}

/** What routers keep is disabled there, though a restored log does not know why. */
function withKept(regionId: number, region: RegionAddresses, { kept }: Registered): RegionAddresses {
  if (kept.size === 0) return region;
  return { ...region, disabled: region.disabled.union(keptIn(kept, regionId).intersection(region.owned)) };
}

function fieldOf(target: ChangeTarget): string {
  switch (target.mode) {
    case 'one':
      return 'ip';
    case 'list':
      return 'ips';
    case 'block':
      return target.field ?? 'cidr';
  }
}

/** The text of the address, where the change does something to it. Most changes are of one address: it needs no sets. */
function changedOne(
  action: 'enable' | 'disable',
  { address }: Extract<ChangeTarget, { mode: 'one' }>,
  { owned, disabled }: RegionAddresses,
): string[] {
  const isChanged =
    action === 'disable' ? owned.contains(address) && !disabled.contains(address) : disabled.contains(address);
  return isChanged ? [formatAddress(address)] : [];
}

/** The range texts of those addresses that the change does something to. */
function changedMany(
  action: 'enable' | 'disable',
  { set }: Exclude<ChangeTarget, { mode: 'one' }>,
  { owned, disabled }: RegionAddresses,
): string[] {
  // What is disabled is owned, so that enabling need not look at the subnets.
  const changed = action === 'disable' ? set.intersection(owned).difference(disabled) : set.intersection(disabled);
  return changedTexts(changed);
}

/** The refusal for the first address that must be the customer's own and is not, named as it was sent. */
function firstStranger(target: ChangeTarget, { ledger }: Registered): ReturnType<typeof refuse> | undefined {
  const isOwned = (address: Address): boolean => [...ledger.values()].some(({ owned }) => owned.contains(address));
  switch (target.mode) {
    case 'block':
      return undefined;
    case 'one':
      if (isOwned(target.address)) return undefined;
      return refuse('address-not-found', `IP ${target.text} not found in your account.`, 'ip');
    case 'list': {
      let strangers = target.set;
      for (const { owned } of ledger.values()) strangers = strangers.difference(owned);
      if (strangers.isEmpty) return undefined;
      const texts = target.texts();
      const at = texts.findIndex((text) => strangers.contains(addressOf(text)));
      return refuse('address-not-owned', `IP ${texts[at]} does not belong to your account.`, `ips.${at}`);
    }
  }
}

function addressOf(text: string): Address {
  const address = parseAddress(text);
  invariant(!isAddressProblem(address), `${text} of a list that was read`);
  return address;
}

function requestCommit(
  { regionId, list, commitSetId, reason }: Extract<CustomerCommand, { type: 'RequestCommit' }>['data'],
  state: Registered,
): Decision<CustomerEvent> {
  const open = state.commits.get(commitKey(regionId, list));
  // One that goes on slowly is gone on with by its next attempt, which carries what came meanwhile too.
  if (open?.phase === 'deploying' && open.steps === 0) return [];
  if (open?.phase !== 'failed' && !hasChanged(regionId, list, state)) return [];
  // A commit set that failed goes on under its own name until it gets through; newer changes travel with it.
  const next =
    open === undefined ? { commitSetId, attempt: 1 } : { commitSetId: open.commitSetId, attempt: open.attempt + 1 };
  return [{ type: 'CommitRequested', data: { ...next, regionId, list, reason } }];
}

function hasChanged(regionId: number, list: ListKind, state: Registered): boolean {
  switch (list) {
    case 'BLACKHOLE':
      return !(state.ledger.get(regionId)?.touched.isEmpty ?? true);
    case 'SRC_WHITELIST':
      return !regionWhitelist(state.whitelist, regionId).touched.isEmpty;
  }
}

function settle(
  type: 'CommitCompleted' | 'CommitFailed',
  result: CommitResult,
  state: Registered,
): Decision<CustomerEvent> {
  const { regionId, list, commitSetId, attempt, outcomes, content, completedAt } = result;
  const open = openAttempt(result, state);
  // Somebody has settled this attempt already, or a newer one goes on with it: there is nothing new to say.
  if (open === undefined) return [];
  const hasWebhook = state.settings.webhookUrl !== null;
  const notify = hasWebhook && (type === 'CommitCompleted' || !open.failedBefore);
  return [
    { type, data: { commitSetId, regionId, list, attempt, outcomes: [...outcomes], content, completedAt, notify } },
  ];
}

/** The attempt, as long as it is under way. */
function openAttempt(
  { regionId, list, commitSetId, attempt }: CommitReference,
  { commits }: Registered,
): OpenCommit | undefined {
  const open = commits.get(commitKey(regionId, list));
  const isOpen = open?.phase === 'deploying' && open.commitSetId === commitSetId && open.attempt === attempt;
  return isOpen ? open : undefined;
}
