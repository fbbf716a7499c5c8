import type { RangeSet } from '../../addresses/range-set.ts';
import { rangesOfStored, type StoredRanges, storedRanges } from '../../addresses/stored-ranges.ts';
import { decodeLedger, encodeLedger, type LedgerJson } from '../../domain/ip-control/address-ledger.ts';
import {
  decodeWhitelist,
  encodeWhitelist,
  type WhitelistJson,
} from '../../domain/ip-control/source-whitelist-ledger.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { listKind } from '../../events/ip-control/vocabulary.ts';
import type { GetPart, PutPart } from '../../kernel/parts.ts';
import {
  type ApiToken,
  type CustomerState,
  listedAddresses,
  type OpenCommit,
  type Registered,
  type Subnet,
} from './customer-state.ts';

/** `ranges` are left out where they are what the list is to hold as things are, as nearly always. */
type DeployedJson = Readonly<{ key: string; ranges?: StoredRanges }>;

type OpenCommitJson = Omit<OpenCommit, 'revision'> & Readonly<{ key: string; revision: string }>;

type RegisteredJson = Pick<
  Registered,
  'customerId' | 'name' | 'listName' | 'settings' | 'standing' | 'earlierWebhookSecrets'
> &
  Readonly<{
    webhookSecretId: string | null;
    tokens: readonly ApiToken[];
    subnets: readonly Subnet[];
    releasedSubnets: readonly number[];
    ledger: LedgerJson;
    kept: readonly Readonly<{ regionId: number; router: string; ranges: StoredRanges }>[];
    whitelist: WhitelistJson;
    commits: readonly OpenCommitJson[];
    deployed: readonly DeployedJson[];
  }>;

/** A customer's state as JSON and back. Bump `version` with every change of the state's shape or meaning. */
export const customerSnapshot = {
  version: 11,
  encode: (state: CustomerState, put?: PutPart): RegisteredJson | null => {
    if (state.phase === 'unregistered') return null;
    const { customerId, name, listName, settings, standing, earlierWebhookSecrets } = state;
    return {
      customerId,
      name,
      listName,
      settings,
      standing,
      webhookSecretId: state.webhookSecretId ?? null,
      earlierWebhookSecrets,
      tokens: [...state.tokens.values()],
      subnets: [...state.subnets.values()],
      releasedSubnets: [...state.releasedSubnets],
      ledger: encodeLedger(state.ledger, put),
      kept: [...state.kept.values()].map(({ set, ...router }) => ({ ...router, ranges: storedRanges(set, put) })),
      whitelist: encodeWhitelist(state.whitelist),
      commits: [...state.commits].map(([key, commit]) => ({ ...commit, key, revision: String(commit.revision) })),
      deployed: [...state.deployed].map(([key, set]) =>
        set.equals(listedUnder(key, state)) ? { key } : { key, ranges: storedRanges(set, put) },
      ),
    };
  },
  // The version beside the snapshot says that this very code wrote it; anything else is not decoded but replayed.
  decode: (stored: unknown, get?: GetPart): CustomerState => {
    if (stored === null) return { phase: 'unregistered' };
    const { webhookSecretId, tokens, subnets, releasedSubnets, ledger, kept, whitelist, commits, deployed, ...names } =
      stored as RegisteredJson;
    const sets = { ledger: decodeLedger(ledger, subnets, get), whitelist: decodeWhitelist(whitelist) };
    return {
      phase: 'registered',
      ...names,
      ...sets,
      kept: new Map(
        kept.map(({ ranges, ...of }) => [`${of.regionId}/${of.router}`, { ...of, set: rangesOfStored(ranges, get) }]),
      ),
      webhookSecretId: webhookSecretId ?? undefined,
      tokens: new Map(tokens.map((token) => [token.tokenId, token])),
      subnets: new Map(subnets.map((subnet) => [subnet.subnetId, subnet])),
      releasedSubnets: new Set(releasedSubnets),
      deployed: new Map(
        deployed.map(({ key, ranges }) => [
          key,
          ranges === undefined ? listedUnder(key, sets) : rangesOfStored(ranges, get),
        ]),
      ),
      commits: new Map(commits.map(({ key, revision, ...commit }) => [key, { ...commit, revision: BigInt(revision) }])),
    };
  },
  /** Reading a range text of an event takes about a fortieth of the time of an event. */
  weight: (event: CustomerEvent): number => ('ranges' in event.data ? 1 + event.data.ranges.length / 40 : 1),
};

function listedUnder(key: string, state: Pick<Registered, 'ledger' | 'whitelist'>): RangeSet {
  const [regionId, list] = key.split('/');
  return listedAddresses(state, Number(regionId), listKind.parse(list));
}
