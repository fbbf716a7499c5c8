import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** Whose token it is. Key: the token's SHA-256 (hex). */
export type TokenView = Readonly<{ customerId: number; tokenId: string }>;

type Shown = Extract<CustomerEvent, { type: 'ApiTokenIssued' | 'ApiTokenRevoked' }>;

export const tokenProjection: Projection<Shown, TokenView> = {
  name: 'tokens',
  version: 1,
  handles: ['ApiTokenIssued', 'ApiTokenRevoked'],
  keysOf: (event) => [event.data.sha256],
  evolve: (_view, event) => {
    if (event.type === 'ApiTokenRevoked') return undefined;
    return { customerId: Number(streamId(event.stream)), tokenId: event.data.tokenId };
  },
};
