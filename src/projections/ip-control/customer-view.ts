import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { CustomerSettings } from '../../events/ip-control/vocabulary.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

export type TokenSummary = Readonly<{ tokenId: string; label: string; issuedAt: string }>;

/** One customer as administrators see it, without addresses. Key: the customer's number. */
export type CustomerView = Readonly<{
  customerId: number;
  name: string;
  listName: string;
  settings: CustomerSettings;
  /** `disabled`: its tokens are refused. `removed`: it has nothing any more. */
  standing: 'enabled' | 'disabled' | 'removed';
  webhookSecretId: string | null;
  tokens: readonly TokenSummary[];
  registeredAt: string;
}>;

type Shown = Extract<
  CustomerEvent,
  {
    type:
      | 'CustomerRegistered'
      | 'CustomerSettingsChanged'
      | 'CustomerDisabled'
      | 'CustomerEnabled'
      | 'CustomerRemoved'
      | 'WebhookSecretRotated'
      | 'ApiTokenIssued'
      | 'ApiTokenRevoked';
  }
>;

export const customerProjection: Projection<Shown, CustomerView> = {
  name: 'customers',
  version: 2,
  handles: [
    'CustomerRegistered',
    'CustomerSettingsChanged',
    'CustomerDisabled',
    'CustomerEnabled',
    'CustomerRemoved',
    'WebhookSecretRotated',
    'ApiTokenIssued',
    'ApiTokenRevoked',
  ],
  keysOf: (event) => [streamId(event.stream)],
  evolve: (view, event) => {
    if (event.type === 'CustomerRegistered') {
      return { ...event.data, standing: 'enabled', webhookSecretId: null, tokens: [], registeredAt: event.metadata.at };
    }
    if (view === undefined) return undefined;
    switch (event.type) {
      case 'CustomerSettingsChanged': {
        const changes = Object.entries(event.data.changes).filter(([, value]) => value !== undefined);
        return { ...view, settings: { ...view.settings, ...Object.fromEntries(changes) } };
      }
      case 'CustomerDisabled':
        return { ...view, standing: 'disabled' };
      case 'CustomerEnabled':
        return { ...view, standing: 'enabled' };
      case 'CustomerRemoved':
        return { ...view, standing: 'removed' };
      case 'WebhookSecretRotated':
        return { ...view, webhookSecretId: event.data.secretId };
      case 'ApiTokenIssued': {
        const { tokenId, label } = event.data;
        const others = view.tokens.filter((token) => token.tokenId !== tokenId);
        return { ...view, tokens: [...others, { tokenId, label, issuedAt: event.metadata.at }] };
      }
      case 'ApiTokenRevoked':
        return { ...view, tokens: view.tokens.filter(({ tokenId }) => tokenId !== event.data.tokenId) };
    }
  },
};
