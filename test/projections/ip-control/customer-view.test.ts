import { test } from 'uvu';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { customerProjection } from '../../../src/projections/ip-control/customer-view.ts';
import { tokenProjection } from '../../../src/projections/ip-control/token-view.ts';
import { recordedInOrder, specifyProjection } from '../../specification.ts';
import { registered, SETTINGS } from '../../commands/ip-control/customer-examples.ts';

type Shown = Parameters<typeof customerProjection.keysOf>[0];
type TokenEvent = Parameters<typeof tokenProjection.keysOf>[0];
const handles = new Set<string>(customerProjection.handles);
const tokenHandles = new Set<string>(tokenProjection.handles);

const inOrder = (events: readonly CustomerEvent[]): readonly RecordedEvent[] =>
  recordedInOrder(events, '2026-11-27T12:00:00Z', 60);
const given = (...events: readonly CustomerEvent[]) =>
  specifyProjection(customerProjection).given(
    ...inOrder(events).filter((event): event is Shown => isHandled(handles, event)),
  );
const givenTokens = (...events: readonly CustomerEvent[]) =>
  specifyProjection(tokenProjection).given(
    ...inOrder(events).filter((event): event is TokenEvent => isHandled(tokenHandles, event)),
  );

const customer = {
  customerId: 7,
  name: 'Acme Corp.',
  listName: 'ACME-CORP',
  settings: SETTINGS,
  webhookSecretId: null,
  tokens: [],
  registeredAt: '2026-11-27T12:00:00.000+00:00',
};
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

test('a token is found by its hash, until it is revoked', () => {
  givenTokens(registered(), issued('t1')).shows('sha-t1', { customerId: 7, tokenId: 't1' });
  givenTokens(registered(), issued('t1')).shows('sha-t2', undefined);
  givenTokens(registered(), issued('t1'), revoked('t1')).shows('sha-t1', undefined);
});

test.run();
