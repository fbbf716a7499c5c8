import type { RangeSet } from '../../addresses/range-set.ts';
import { parseRangeTexts, rangeTexts } from '../../addresses/range-text.ts';
import { decodeLedger, encodeLedger, type LedgerJson } from '../../domain/ip-control/address-ledger.ts';
import {
  decodeWhitelist,
  encodeWhitelist,
  type WhitelistJson,
} from '../../domain/ip-control/source-whitelist-ledger.ts';
import { listKind } from '../../events/ip-control/vocabulary.ts';
import {
  type ApiToken,
  type CustomerState,
  listedAddresses,
  type OpenCommit,
  type Registered,
  type Subnet,
} from './customer-state.ts';

/** `ranges` are left out where they are what the list is to hold as things are, as nearly always. */
type DeployedJson = Readonly<{ key: string; ranges?: readonly string[] }>;

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
    kept: readonly Readonly<{ regionId: number; router: string; ranges: readonly string[] }>[];
    whitelist: WhitelistJson;
    commits: readonly OpenCommitJson[];
    deployed: readonly DeployedJson[];
  }>;

/** A customer's state as JSON and back. Bump `version` with every change of the state's shape or meaning. */
export const customerSnapshot = {
  version: 9,
  encode: (state: CustomerState): RegisteredJson | null => {
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
      ledger: encodeLedger(state.ledger),
      kept: [...state.kept.values()].map(({ set, ...router }) => ({ ...router, ranges: rangeTexts(set) })),
      whitelist: encodeWhitelist(state.whitelist),
      commits: [...state.commits].map(([key, commit]) => ({ ...commit, key, revision: String(commit.revision) })),
      deployed: [...state.deployed].map(([key, set]) =>
        set.equals(listedUnder(key, state)) ? { key } : { key, ranges: rangeTexts(set) },
      ),
    };
  },
  // The version beside the snapshot says that this very code wrote it; anything else is not decoded but replayed.
  decode: (stored: unknown): CustomerState => {
    if (stored === null) return { phase: 'unregistered' };
    const { webhookSecretId, tokens, subnets, releasedSubnets, ledger, kept, whitelist, commits, deployed, ...names } =
      stored as RegisteredJson;
    const sets = { ledger: decodeLedger(ledger, subnets), whitelist: decodeWhitelist(whitelist) };
    return {
      phase: 'registered',
      ...names,
      ...sets,
      kept: new Map(
        kept.map(({ ranges, ...of }) => [`${of.regionId}/${of.router}`, { ...of, set: parseRangeTexts(ranges) }]),
      ),
      webhookSecretId: webhookSecretId ?? undefined,
      tokens: new Map(tokens.map((token) => [token.tokenId, token])),
      subnets: new Map(subnets.map((subnet) => [subnet.subnetId, subnet])),
      releasedSubnets: new Set(releasedSubnets),
      deployed: new Map(
        deployed.map(({ key, ranges }) => [
          key,
          ranges === undefined ? listedUnder(key, sets) : parseRangeTexts(ranges),
        ]),
      ),
      commits: new Map(commits.map(({ key, revision, ...commit }) => [key, { ...commit, revision: BigInt(revision) }])),
    };
  },
};

function listedUnder(key: string, state: Pick<Registered, 'ledger' | 'whitelist'>): RangeSet {
  const [regionId, list] = key.split('/');
  return listedAddresses(state, Number(regionId), listKind.parse(list));
}
