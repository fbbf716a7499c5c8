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
export type ApiToken = Readonly<{ tokenId: string; label: string; sha256: string }>;

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
    case 'WebhookSecretRotated':
      return {
        ...state,
        webhookSecretId: event.data.secretId,
        earlierWebhookSecrets: earlierSecrets(state, event.data.previous !== undefined),
      };
    case 'WebhookSecretRetired': {
      const { secretId } = event.data;
      const earlierWebhookSecrets = state.earlierWebhookSecrets.filter((earlier) => earlier.secretId !== secretId);
      return { ...state, earlierWebhookSecrets };
    }
    case 'ApiTokenIssued':
      return { ...state, tokens: new Map(state.tokens).set(event.data.tokenId, event.data) };
    case 'ApiTokenRevoked':
      return { ...state, tokens: without(state.tokens, event.data.tokenId) };
    case 'SubnetAssigned':
      return { ...state, ledger, subnets: new Map(state.subnets).set(event.data.subnetId, event.data) };
    case 'SubnetReleased': {
      const { subnetId } = event.data;
      const releasedSubnets = new Set(state.releasedSubnets).add(subnetId);
      return { ...state, ledger, kept, subnets: without(state.subnets, subnetId), releasedSubnets };
    }
    case 'AddressesDisabled':
    case 'AddressesEnabled':
      return { ...state, ledger, kept };
    case 'AddressesKept':
      return { ...state, kept };
    case 'SourceWhitelistSubmitted':
    case 'SourceWhitelistApproved':
    case 'SourceWhitelistRejected':
    case 'SourceWhitelistRemoved':
      return { ...state, whitelist };
    case 'CommitRequested': {
      const { commitSetId, attempt, regionId, list } = event.data;
      const failedBefore = state.commits.get(commitKey(regionId, list))?.failedBefore ?? false;
      const { revision } = event;
      const commit: OpenCommit = { phase: 'deploying', commitSetId, attempt, revision, failedBefore, steps: 0 };
      return { ...state, ledger, whitelist, commits: new Map(state.commits).set(commitKey(regionId, list), commit) };
    }
    case 'CommitSliceDeployed':
    case 'CommitHeldUp': {
      const { regionId, list } = event.data;
      return withCommit(state, commitKey(regionId, list), (open) => ({ ...open, steps: open.steps + 1 }));
    }
    case 'CommitFailed': {
      const key = commitKey(event.data.regionId, event.data.list);
      const settled = withCommit(state, key, (open) => ({ ...open, phase: 'failed', failedBefore: true }));
      return settled === state ? state : { ...settled, ledger, whitelist };
    }
    case 'CommitCompleted': {
      const { regionId, list } = event.data;
      const key = commitKey(regionId, list);
      const content = inDeployment(state, regionId, list)?.content;
      const deployed = content === undefined ? state.deployed : new Map(state.deployed).set(key, content);
      return { ...state, ledger, whitelist, deployed, commits: without(state.commits, key) };
    }
  }
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
