import { decodeLedger, encodeLedger, type LedgerJson } from '../../events/ip-control/address-ledger-json.ts';
import {
  decodeWhitelist,
  encodeWhitelist,
  type WhitelistJson,
} from '../../events/ip-control/source-whitelist-ledger-json.ts';
import type { ApiToken, CustomerState, OpenCommit, Registered, Subnet } from './customer-state.ts';

type OpenCommitJson = Omit<OpenCommit, 'revision'> & Readonly<{ key: string; revision: string }>;

type RegisteredJson = Pick<Registered, 'customerId' | 'name' | 'listName' | 'settings'> &
  Readonly<{
    webhookSecretId: string | null;
    tokens: readonly ApiToken[];
    subnets: readonly Subnet[];
    releasedSubnets: readonly number[];
    ledger: LedgerJson;
    whitelist: WhitelistJson;
    commits: readonly OpenCommitJson[];
  }>;

/** A customer's state as JSON and back. Bump `version` with every change of the state's shape or meaning. */
export const customerSnapshot = {
  version: 3,
  encode: (state: CustomerState): RegisteredJson | null => {
    if (state.phase === 'unregistered') return null;
    const { customerId, name, listName, settings } = state;
    return {
      customerId,
      name,
      listName,
      settings,
      webhookSecretId: state.webhookSecretId ?? null,
      tokens: [...state.tokens.values()],
      subnets: [...state.subnets.values()],
      releasedSubnets: [...state.releasedSubnets],
      ledger: encodeLedger(state.ledger),
      whitelist: encodeWhitelist(state.whitelist),
      commits: [...state.commits].map(([key, commit]) => ({ ...commit, key, revision: String(commit.revision) })),
    };
  },
  // The version beside the snapshot says that this very code wrote it; anything else is not decoded but replayed.
  decode: (stored: unknown): CustomerState => {
    if (stored === null) return { phase: 'unregistered' };
    const { webhookSecretId, tokens, subnets, releasedSubnets, ledger, whitelist, commits, ...names } =
      stored as RegisteredJson;
    return {
      phase: 'registered',
      ...names,
      webhookSecretId: webhookSecretId ?? undefined,
      tokens: new Map(tokens.map((token) => [token.tokenId, token])),
      subnets: new Map(subnets.map((subnet) => [subnet.subnetId, subnet])),
      releasedSubnets: new Set(releasedSubnets),
      ledger: decodeLedger(ledger, subnets),
      whitelist: decodeWhitelist(whitelist),
      commits: new Map(commits.map(({ key, revision, ...commit }) => [key, { ...commit, revision: BigInt(revision) }])),
    };
  },
};
