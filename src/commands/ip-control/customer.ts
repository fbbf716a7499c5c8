import { type Command, type Decider, type Decision, type Refusal, refuse } from '../../kernel/decider.ts';
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
  type TokenTerms,
  type Subnet,
  UNREGISTERED,
  mayRetire,
} from './customer-state.ts';
import { type AddressChange, decideAddressChange, type EndedTerm, endDisabledTerm } from './address-change.ts';
import { decideStanding, released, type StandingCommand } from './customer-standing.ts';
import { decideKept, type RecordKept } from './kept-addresses.ts';
import { decideSourceWhitelist, type SourceWhitelistCommand } from './source-whitelist.ts';

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
  | StandingCommand
  | Command<'RotateWebhookSecret', { secretId: string; keepsPrevious: boolean }>
  | Command<'RetireWebhookSecret', { secretId: string }>
  | Command<'IssueApiToken', { tokenId: string; label: string; sha256: string } & TokenTerms>
  | Command<'DisableApiToken', { tokenId: string }>
  | Command<'EnableApiToken', { tokenId: string }>
  | Command<'RevokeApiToken', { tokenId: string }>
  | Command<'AssignSubnet', Subnet>
  | Command<'ReleaseSubnet', { subnetId: number }>
  | Command<'ChangeAddresses', AddressChange>
  | Command<'EndDisabledTerm', EndedTerm>
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
  if (state.standing === 'removed' && !FOR_REMOVED.has(command.type))
    return refuse('customer-not-found', `customer ${state.name} was removed.`, 'customer');
  const ended = endedCaller(command, state);
  if (ended !== undefined) return ended;
  switch (command.type) {
    case 'DisableCustomer':
    case 'EnableCustomer':
    case 'RemoveCustomer':
      return decideStanding(command, state);
    case 'ChangeCustomerSettings':
      return changeSettings(command.data.changes, state);
    case 'RotateWebhookSecret':
      return rotateWebhookSecret(command.data, state);
    case 'RetireWebhookSecret': {
      const { secretId } = command.data;
      return mayRetire(secretId, state) ? [{ type: 'WebhookSecretRetired', data: { secretId } }] : [];
    }
    case 'IssueApiToken':
      return state.tokens.has(command.data.tokenId) ? [] : [{ type: 'ApiTokenIssued', data: command.data }];
    case 'DisableApiToken':
    case 'EnableApiToken':
      return switchToken(command, state);
    case 'RevokeApiToken': {
      const token = state.tokens.get(command.data.tokenId);
      if (token === undefined) return refuse('token-not-found', 'token not found.');
      return [{ type: 'ApiTokenRevoked', data: { tokenId: token.tokenId, sha256: token.sha256 } }];
    }
    case 'AssignSubnet':
      return assignSubnet(command.data, state);
    case 'ReleaseSubnet': {
      const subnet = state.subnets.get(command.data.subnetId);
      return subnet === undefined ? [] : [released(subnet, state)];
    }
    case 'ChangeAddresses':
      return decideAddressChange(command.data, state);
    case 'EndDisabledTerm':
      return endDisabledTerm(command.data, state);
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

/** What goes on for a customer that is removed: its lists leave the routers, and what is under way ends. */
const FOR_REMOVED: ReadonlySet<CustomerCommand['type']> = new Set([
  'RemoveCustomer',
  'RetireWebhookSecret',
  'EndDisabledTerm',
  'RequestCommit',
  'RecordKept',
  'RecordCommitCompleted',
  'RecordCommitFailed',
  'RecordCommitSlice',
  'RecordCommitHeldUp',
]);

/** Why what a customer asks for itself comes too late: the request may have begun before its token, or the customer, was disabled. */
function endedCaller(command: CustomerCommand, { tokens, standing }: Registered): Refusal | undefined {
  const { type, data } = command;
  if (type !== 'ChangeAddresses' && type !== 'SubmitSourceWhitelist' && type !== 'RemoveSourceWhitelist')
    return undefined;
  const { tokenId } = data;
  const token = tokenId === undefined ? undefined : tokens.get(tokenId);
  if (tokenId !== undefined && (token === undefined || token.isDisabled === true))
    return refuse('token-not-found', 'the token was revoked or disabled.');
  return standing === 'disabled' ? refuse('customer-disabled', 'this account is disabled.') : undefined;
}

function switchToken(
  { type, data }: Extract<CustomerCommand, { type: 'DisableApiToken' | 'EnableApiToken' }>,
  { tokens }: Registered,
): Decision<CustomerEvent> {
  const token = tokens.get(data.tokenId);
  if (token === undefined) return refuse('token-not-found', 'token not found.');
  const { tokenId, sha256, isDisabled = false } = token;
  if (isDisabled === (type === 'DisableApiToken')) return [];
  return [{ type: isDisabled ? 'ApiTokenEnabled' : 'ApiTokenDisabled', data: { tokenId, sha256 } }];
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
  // This attempt is settled already, or a newer one goes on with it: there is nothing new to say.
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
