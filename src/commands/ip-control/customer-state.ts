import {
  type AddressLedger,
  applyToLedger,
  EMPTY_LEDGER,
  regionAddresses,
} from '../../domain/ip-control/address-ledger.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { inDeployment } from '../../domain/ip-control/commit-content.ts';
import {
  applyToWhitelist,
  EMPTY_WHITELIST,
  regionWhitelist,
  type SourceWhitelist,
} from '../../domain/ip-control/source-whitelist-ledger.ts';
import type { CustomerSettings, ListKind } from '../../events/ip-control/vocabulary.ts';
import type { RangeSet } from '../../addresses/range-set.ts';
import { evolveKept, type KeptAddresses } from './kept-addresses.ts';

export type Subnet = Readonly<{ subnetId: number; cidr: string; regionId: number; asn: number; metro: string }>;
export type ApiToken = TokenTerms & Readonly<{ tokenId: string; label: string; sha256: string; isDisabled?: true }>;

/** What a token may, where that is less than its customer, and how it begins. */
export type TokenTerms = Readonly<{
  prefix?: string | undefined;
  expiresAt?: string | undefined;
  readOnly?: true | undefined;
  allowedAddresses?: string[] | undefined;
}>;

/** A webhook secret before the one in use. Those that don't sign are to leave the secret store. */
export type EarlierWebhookSecret = Readonly<{ secretId: string; signs: boolean }>;

/** The commit set of one list in one region that has not succeeded yet. */
export type OpenCommit = Readonly<{
  phase: 'deploying' | 'failed';
  commitSetId: string;
  attempt: number;
  /** Of the event that requested this attempt: what it captured. */
  revision: bigint;
  /** Whether a failure of this commit set has been told. */
  failedBefore: boolean;
  /** How often this attempt was seen to be slow: it comes in slices, or waits for a router alone. Then a newer change need not wait for its end. */
  steps: number;
}>;

export type Registered = Readonly<{
  phase: 'registered';
  customerId: number;
  name: string;
  listName: string;
  settings: CustomerSettings;
  /** `disabled`: its tokens are worth nothing for a while. `removed`: for good, and it has nothing any more. */
  standing: 'enabled' | 'disabled' | 'removed';
  webhookSecretId: string | undefined;
  /** Oldest first. */
  earlierWebhookSecrets: readonly EarlierWebhookSecret[];
  tokens: ReadonlyMap<string, ApiToken>;
  subnets: ReadonlyMap<number, Subnet>;
  /** Numbers of subnets that were let go: they never come back, however late a repeated assignment arrives. */
  releasedSubnets: ReadonlySet<number>;
  ledger: AddressLedger;
  /** What routers hold and a restored log does not explain. */
  kept: KeptAddresses;
  whitelist: SourceWhitelist;
  /** By `commitKey`. */
  commits: ReadonlyMap<string, OpenCommit>;
  /** What the last completed commit of each list put on the routers, by `commitKey`. */
  deployed: ReadonlyMap<string, RangeSet>;
}>;

export type CustomerState = Readonly<{ phase: 'unregistered' }> | Registered;

export const UNREGISTERED: CustomerState = { phase: 'unregistered' };

/** One list of one region. */
export function commitKey(regionId: number, list: ListKind): string {
  return `${regionId}/${list}`;
}

/** What a list is to hold as things are, whether that is on routers yet or not. */
export function listedAddresses(
  { ledger, whitelist }: Pick<Registered, 'ledger' | 'whitelist'>,
  regionId: number,
  list: ListKind,
): RangeSet {
  switch (list) {
    case 'BLACKHOLE':
      return regionAddresses(ledger, regionId).disabled;
    case 'SRC_WHITELIST':
      return regionWhitelist(whitelist, regionId).live;
  }
}

const STANDING = { CustomerDisabled: 'disabled', CustomerEnabled: 'enabled', CustomerRemoved: 'removed' } as const;

/** The state after an event. */
export function evolveCustomer(
  state: CustomerState,
  event: CustomerEvent & Readonly<{ revision: bigint }>,
): CustomerState {
  if (event.type === 'CustomerRegistered') return register(event.data);
  if (state.phase === 'unregistered') return state;
  const ledger = applyToLedger(state.ledger, event);
  const whitelist = applyToWhitelist(state.whitelist, event);
  const kept = evolveKept(state.kept, event);
  switch (event.type) {
    case 'CustomerSettingsChanged':
      return { ...state, settings: { ...state.settings, ...defined(event.data.changes) } };
    case 'CustomerDisabled':
    case 'CustomerEnabled':
    case 'CustomerRemoved':
      return { ...state, standing: STANDING[event.type] };
    case 'WebhookSecretRotated':
      return withWebhookSecret(state, event.data);
    case 'WebhookSecretRetired':
      return withoutWebhookSecret(state, event.data.secretId);
    case 'ApiTokenIssued':
    case 'ApiTokenDisabled':
    case 'ApiTokenEnabled':
    case 'ApiTokenRevoked':
      return { ...state, tokens: tokensAfter(state.tokens, event) };
    case 'SubnetAssigned':
      return { ...state, ledger, subnets: new Map(state.subnets).set(event.data.subnetId, event.data) };
    case 'SubnetReleased': {
      const { subnetId } = event.data;
      const releasedSubnets = new Set(state.releasedSubnets).add(subnetId);
      return { ...state, ledger, kept, subnets: without(state.subnets, subnetId), releasedSubnets };
    }
    case 'AddressesDisabled':
    case 'DisabledTermChanged':
    case 'AddressesEnabled':
    case 'AddressesKept':
      return { ...state, ledger, kept };
    case 'SourceWhitelistSubmitted':
    case 'SourceWhitelistApproved':
    case 'SourceWhitelistRejected':
    case 'SourceWhitelistRemoved':
      return { ...state, whitelist };
    case 'CommitRequested': {
      const { commitSetId, attempt } = event.data;
      const failedBefore = state.commits.get(keyOf(event.data))?.failedBefore ?? false;
      const { revision } = event;
      const commit: OpenCommit = { phase: 'deploying', commitSetId, attempt, revision, failedBefore, steps: 0 };
      return { ...state, ledger, whitelist, commits: new Map(state.commits).set(keyOf(event.data), commit) };
    }
    case 'CommitSliceDeployed':
    case 'CommitHeldUp':
      return withCommit(state, keyOf(event.data), (open) => ({ ...open, steps: open.steps + 1 }));
    case 'CommitFailed': {
      const settled = withCommit(state, keyOf(event.data), (open) => ({
        ...open,
        phase: 'failed',
        failedBefore: true,
      }));
      return settled === state ? state : { ...settled, ledger, whitelist };
    }
    case 'CommitCompleted': {
      const { regionId, list } = event.data;
      const key = keyOf(event.data);
      const content = inDeployment(state, regionId, list)?.content;
      const deployed = content === undefined ? state.deployed : new Map(state.deployed).set(key, content);
      return { ...state, ledger, whitelist, deployed, commits: without(state.commits, key) };
    }
  }
}

function keyOf({ regionId, list }: Readonly<{ regionId: number; list: ListKind }>): string {
  return commitKey(regionId, list);
}

type TokenEvent = Extract<
  CustomerEvent,
  { type: 'ApiTokenIssued' | 'ApiTokenDisabled' | 'ApiTokenEnabled' | 'ApiTokenRevoked' }
>;

function tokensAfter(tokens: Registered['tokens'], event: TokenEvent): Registered['tokens'] {
  const { tokenId } = event.data;
  if (event.type === 'ApiTokenIssued') return new Map(tokens).set(tokenId, event.data);
  const token = tokens.get(tokenId);
  if (token === undefined) return tokens;
  switch (event.type) {
    case 'ApiTokenDisabled':
      return new Map(tokens).set(tokenId, { ...token, isDisabled: true });
    case 'ApiTokenEnabled': {
      const { isDisabled: _before, ...enabled } = token;
      return new Map(tokens).set(tokenId, enabled);
    }
    case 'ApiTokenRevoked':
      return without(tokens, tokenId);
  }
}

function withoutSecret({ earlierWebhookSecrets }: Registered, secretId: string): readonly EarlierWebhookSecret[] {
  return earlierWebhookSecrets.filter((earlier) => earlier.secretId !== secretId);
}

function withCommit(state: Registered, key: string, change: (open: OpenCommit) => OpenCommit): Registered {
  const open = state.commits.get(key);
  return open === undefined ? state : { ...state, commits: new Map(state.commits).set(key, change(open)) };
}

function register(
  data: Readonly<{ customerId: number; name: string; listName: string; settings: CustomerSettings }>,
): Registered {
  return {
    phase: 'registered',
    ...data,
    standing: 'enabled',
    webhookSecretId: undefined,
    earlierWebhookSecrets: [],
    tokens: new Map(),
    subnets: new Map(),
    releasedSubnets: new Set(),
    ledger: EMPTY_LEDGER,
    kept: new Map(),
    whitelist: EMPTY_WHITELIST,
    commits: new Map(),
    deployed: new Map(),
  };
}

function withWebhookSecret(
  state: Registered,
  { secretId, previous }: Readonly<{ secretId: string; previous?: object | undefined }>,
): Registered {
  const earlierWebhookSecrets = earlierSecrets(state, previous !== undefined);
  return { ...state, webhookSecretId: secretId, earlierWebhookSecrets };
}

/** What comes before a new secret. */
function earlierSecrets(
  { webhookSecretId, earlierWebhookSecrets }: Registered,
  goOnSigning: boolean,
): readonly EarlierWebhookSecret[] {
  const known = goOnSigning ? earlierWebhookSecrets : earlierWebhookSecrets.map((one) => ({ ...one, signs: false }));
  return webhookSecretId === undefined ? known : [...known, { secretId: webhookSecretId, signs: goOnSigning }];
}

function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Optional members of decoded JSON may not be present as `undefined`; this says so to the type checker. */
function defined<T extends object>(changes: T): Defined<T> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function withoutWebhookSecret(state: Registered, secretId: string): Registered {
  const { webhookSecretId: newest } = state;
  const earlierWebhookSecrets = withoutSecret(state, secretId);
  return { ...state, webhookSecretId: newest === secretId ? undefined : newest, earlierWebhookSecrets };
}

/** Whether a webhook secret may go: a newer one has replaced it, or its customer was removed. */
export function mayRetire(secretId: string, { standing, webhookSecretId, earlierWebhookSecrets }: Registered): boolean {
  if (standing === 'removed' && secretId === webhookSecretId) return true;
  return earlierWebhookSecrets.some((earlier) => earlier.secretId === secretId);
}
