import { test } from 'uvu';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { customerProjection } from '../../../src/projections/ip-control/customer-view.ts';
import type { ApiTokenEvent } from '../../../src/events/ip-control/api-token.ts';
import { removedCustomerProjection } from '../../../src/projections/ip-control/removed-customer-view.ts';
import { tokenProjection, type TokenView } from '../../../src/projections/ip-control/token-view.ts';
import { recordedInOrder, specifyProjection } from '../../specification.ts';
import { registered, SETTINGS } from '../../commands/ip-control/customer-examples.ts';

type Shown = Parameters<typeof customerProjection.keysOf>[0];
type TokenEvent = Parameters<typeof tokenProjection.keysOf>[0];
const handles = new Set<string>(customerProjection.handles);
const tokenHandles = new Set<string>(tokenProjection.handles);

const inOrder = (events: readonly (CustomerEvent | ApiTokenEvent)[]): readonly RecordedEvent[] =>
  recordedInOrder(events, '2026-11-27T12:00:00Z', 60);
const given = (...events: readonly CustomerEvent[]) =>
  specifyProjection(customerProjection).given(
    ...inOrder(events).filter((event): event is Shown => isHandled(handles, event)),
  );
const givenTokens = (...events: readonly (CustomerEvent | ApiTokenEvent)[]) =>
  specifyProjection(tokenProjection).given(
    ...inOrder(events).filter((event): event is TokenEvent => isHandled(tokenHandles, event)),
  );

const customer = {
  customerId: 7,
  name: 'Acme Corp.',
  listName: 'ACME-CORP',
  settings: SETTINGS,
  standing: 'enabled',
  webhookSecretId: null,
  tokens: [],
  registeredAt: '2026-11-27T12:00:00.000+00:00',
} as const;
const issued = (tokenId: string, label = ''): CustomerEvent => ({
  type: 'ApiTokenIssued',
  data: { tokenId, label, sha256: `sha-${tokenId}` },
});
const revoked = (tokenId: string): CustomerEvent => ({
  type: 'ApiTokenRevoked',
  data: { tokenId, sha256: `sha-${tokenId}` },
});

test('a registered customer is shown with its settings', () => {
  given(registered()).shows('7', customer);
});

test('settings are the newest ones', () => {
  given(
    registered(),
    { type: 'CustomerSettingsChanged', data: { changes: { trusted: true, webhookUrl: 'https://a.example/' } } },
    { type: 'CustomerSettingsChanged', data: { changes: { webhookUrl: null } } },
  ).shows('7', { ...customer, settings: { ...SETTINGS, trusted: true } });
});

test('whether it may act is shown, and that it was removed', () => {
  const disabled: CustomerEvent = { type: 'CustomerDisabled', data: { customerId: 7 } };
  const enabled: CustomerEvent = { type: 'CustomerEnabled', data: { customerId: 7 } };
  given(registered(), disabled).shows('7', { ...customer, standing: 'disabled' });
  given(registered(), disabled, enabled).shows('7', customer);
  const removed: CustomerEvent = { type: 'CustomerRemoved', data: { customerId: 7 } };
  given(registered(), removed).shows('7', { ...customer, standing: 'removed' });
});

test('a customer that was removed is among the removed', () => {
  const removed = { type: 'CustomerRemoved', data: { customerId: 7 } } as const;
  const events = recordedInOrder([removed], '2026-11-27T12:00:00Z', 60);
  specifyProjection(removedCustomerProjection)
    .given(...events)
    .shows('7', { customerId: 7 });
});

test('the webhook secret is named, never shown', () => {
  given(registered(), { type: 'WebhookSecretRotated', data: { secretId: 'webhook-7-1' } }).shows('7', {
    ...customer,
    webhookSecretId: 'webhook-7-1',
  });
});

test('tokens are listed by id and label until they are revoked, without their hash', () => {
  const t1 = { tokenId: 't1', label: 'billing', issuedAt: '2026-11-27T12:01:00.000+00:00' };
  const t2 = { tokenId: 't2', label: '', issuedAt: '2026-11-27T12:02:00.000+00:00' };
  given(registered(), issued('t1', 'billing'), issued('t2')).shows('7', { ...customer, tokens: [t1, t2] });
  given(registered(), issued('t1', 'billing'), issued('t2'), revoked('t1')).shows('7', { ...customer, tokens: [t2] });
});

const token: TokenView = {
  customerId: 7,
  tokenId: 't1',
  label: '',
  prefix: null,
  issuedAt: '2026-11-27T12:01:00.000+00:00',
  issuedBy: 'system:specification',
  expiresAt: null,
  readOnly: false,
  allowedAddresses: null,
  isDisabled: false,
  lastUsedHour: null,
};
const own = { tokenId: 't1', sha256: 'sha-t1' };

test('a token is found by its hash, until it is revoked', () => {
  givenTokens(registered(), issued('t1')).shows('sha-t1', token);
  givenTokens(registered(), issued('t1')).shows('sha-t2', undefined);
  givenTokens(registered(), issued('t1'), revoked('t1')).shows('sha-t1', undefined);
});

test('a token says what it may, whether it is disabled, and the hour in which it was last used', () => {
  const terms = {
    prefix: 'edw_abcdef',
    expiresAt: '2026-12-01T00:00:00.000+00:00',
    readOnly: true as const,
    allowedAddresses: ['192.0.2.0/24'],
  };
  givenTokens(registered(), { type: 'ApiTokenIssued', data: { ...own, label: '', ...terms } }).shows('sha-t1', {
    ...token,
    ...terms,
  });
  const disabled = { type: 'ApiTokenDisabled', data: own } as const;
  givenTokens(registered(), issued('t1'), disabled).shows('sha-t1', { ...token, isDisabled: true });
  givenTokens(registered(), issued('t1'), disabled, { type: 'ApiTokenEnabled', data: own }).shows('sha-t1', token);
  const hour = '2026-11-27T12:00:00.000+00:00';
  const used = { type: 'ApiTokenUsed', data: { ...own, customerId: 7, hour } } as const;
  givenTokens(registered(), issued('t1'), used).shows('sha-t1', { ...token, lastUsedHour: hour });
  givenTokens(registered(), issued('t1'), revoked('t1'), used).shows('sha-t1', undefined);
});

test.run();
