import type { AdministratorEvent, AdminScope } from '../../events/ip-control/administrator.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** Whose admin token it is, and what it may do until when; its account may be disabled, or allow less by now. Key: the token's SHA-256 (hex). */
export type AdminTokenView = Readonly<{
  account: string;
  tokenId: string;
  label: string;
  scopes: readonly AdminScope[];
  issuedAt: string;
  issuedBy: string;
  until: string;
}>;

type Shown = Extract<AdministratorEvent, { type: 'AdminTokenIssued' | 'AdminTokenRevoked' }>;

export const adminTokenProjection: Projection<Shown, AdminTokenView> = {
  name: 'admin-tokens',
  version: 1,
  handles: ['AdminTokenIssued', 'AdminTokenRevoked'],
  keysOf: (event) => [event.data.sha256],
  evolve: (_view, event) => {
    if (event.type === 'AdminTokenRevoked') return undefined;
    const { tokenId, label, scopes, until } = event.data;
    const { at: issuedAt, actor: issuedBy } = event.metadata;
    return { account: streamId(event.stream), tokenId, label, scopes, issuedAt, issuedBy, until };
  },
};
