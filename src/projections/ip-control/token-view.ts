import type { ApiTokenEvent } from '../../events/ip-control/api-token.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** Whose token it is, and what it may. Key: the token's SHA-256 (hex). */
export type TokenView = Readonly<{
  customerId: number;
  tokenId: string;
  label: string;
  prefix: string | null;
  issuedAt: string;
  /** The actor of the event that issued it. */
  issuedBy: string;
  expiresAt: string | null;
  readOnly: boolean;
  /** CIDRs; `null`: requests may come from anywhere. */
  allowedAddresses: readonly string[] | null;
  isDisabled: boolean;
  /** When the hour began in which it was last used. */
  lastUsedHour: string | null;
}>;

type Shown =
  | Extract<CustomerEvent, { type: 'ApiTokenIssued' | 'ApiTokenDisabled' | 'ApiTokenEnabled' | 'ApiTokenRevoked' }>
  | ApiTokenEvent;

export const tokenProjection: Projection<Shown, TokenView> = {
  name: 'tokens',
  version: 3,
  handles: ['ApiTokenIssued', 'ApiTokenDisabled', 'ApiTokenEnabled', 'ApiTokenRevoked', 'ApiTokenUsed'],
  keysOf: (event) => [event.data.sha256],
  evolve: (view, event) => {
    if (event.type === 'ApiTokenIssued') {
      const { tokenId, label, prefix = null, expiresAt = null, readOnly = false, allowedAddresses = null } = event.data;
      return {
        customerId: Number(streamId(event.stream)),
        tokenId,
        label,
        prefix,
        issuedAt: event.metadata.at,
        issuedBy: event.metadata.actor,
        expiresAt,
        readOnly,
        allowedAddresses,
        isDisabled: false,
        lastUsedHour: view?.lastUsedHour ?? null,
      };
    }
    // One that is revoked may have been used just before.
    if (view === undefined) return undefined;
    switch (event.type) {
      case 'ApiTokenRevoked':
        return undefined;
      case 'ApiTokenDisabled':
        return { ...view, isDisabled: true };
      case 'ApiTokenEnabled':
        return { ...view, isDisabled: false };
      case 'ApiTokenUsed':
        return { ...view, lastUsedHour: event.data.hour };
    }
  },
};
