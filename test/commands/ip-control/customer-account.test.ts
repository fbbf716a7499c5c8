import { test } from 'uvu';
import { type CustomerCommand, customerDecider } from '../../../src/commands/ip-control/customer.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { specify } from '../../specification.ts';
import { block, disable, recordCompleted, registered, requestCommit, SETTINGS } from './customer-examples.ts';

const { given } = specify(customerDecider);

const named = { customerId: 7, name: 'Acme Corp.', listName: 'ACME-CORP' };
const token = { tokenId: 't1', label: 'billing', sha256: 'ab'.repeat(32) };
const issued: CustomerEvent = { type: 'ApiTokenIssued', data: token };
const revoked: CustomerEvent = { type: 'ApiTokenRevoked', data: { tokenId: 't1', sha256: token.sha256 } };

test('a customer is registered with its names and its settings', () => {
  const data = { ...named, settings: SETTINGS };
  given().when({ type: 'RegisterCustomer', data }).yields({ type: 'CustomerRegistered', data });
});

test('registering again, as a restart may, says nothing new', () => {
  const data = { ...named, settings: { ...SETTINGS, trusted: true } };
  given(registered()).when({ type: 'RegisterCustomer', data }).yieldsNothing();
});

test('before it is registered, a customer is refused everything else', () => {
  const refused = 'customer-not-found';
  given()
    .when({ type: 'ChangeCustomerSettings', data: { changes: { trusted: true } } })
    .isRefused(refused);
  given()
    .when({ type: 'IssueApiToken', data: { tokenId: 't1', label: '', sha256: '' } })
    .isRefused(refused);
  given()
    .when({ type: 'RevokeApiToken', data: { tokenId: 't1' } })
    .isRefused(refused);
  given()
    .when({ type: 'RotateWebhookSecret', data: { secretId: 's', keepsPrevious: true } })
    .isRefused(refused);
  given()
    .when({ type: 'ReleaseSubnet', data: { subnetId: 1 } })
    .isRefused(refused);
  given()
    .when(disable(block('192.0.2.0/24')))
    .isRefused(refused);
  given().when(requestCommit()).isRefused(refused);
  given().when(recordCompleted()).isRefused(refused, 'customer not found.');
});

test('a change of settings names only what changed', () => {
  given(registered())
    .when({
      type: 'ChangeCustomerSettings',
      data: { changes: { trusted: true, rateLimitPerMinute: 60, whitelistLimit: 5 } },
    })
    .yields({ type: 'CustomerSettingsChanged', data: { changes: { trusted: true, whitelistLimit: 5 } } });
});

test('settings that are so already are no change', () => {
  const changes: CustomerEvent = {
    type: 'CustomerSettingsChanged',
    data: { changes: { webhookUrl: 'https://a.example/' } },
  };
  given(registered())
    .when({ type: 'ChangeCustomerSettings', data: { changes: {} } })
    .yieldsNothing();
  given(registered(), changes)
    .when({ type: 'ChangeCustomerSettings', data: { changes: { webhookUrl: 'https://a.example/', trusted: false } } })
    .yieldsNothing();
});

test('a webhook URL can be taken away', () => {
  given(registered({ webhookUrl: 'https://a.example/' }))
    .when({ type: 'ChangeCustomerSettings', data: { changes: { webhookUrl: null } } })
    .yields({ type: 'CustomerSettingsChanged', data: { changes: { webhookUrl: null } } });
});

const rotatedTo = (secretId: string, previous?: string): CustomerEvent => ({
  type: 'WebhookSecretRotated',
  data: {
    secretId,
    ...(previous === undefined ? {} : { previous: { secretId: previous, signsForSeconds: 86_400 } }),
  },
});
const retired = (secretId: string): CustomerEvent => ({ type: 'WebhookSecretRetired', data: { secretId } });
const rotate = (secretId: string, keepsPrevious = true): CustomerCommand => ({
  type: 'RotateWebhookSecret',
  data: { secretId, keepsPrevious },
});
const retire = (secretId: string): CustomerCommand => ({ type: 'RetireWebhookSecret', data: { secretId } });

test('a webhook secret is rotated by naming another one; the one before signs for another day', () => {
  given(registered()).when(rotate('s1')).yields(rotatedTo('s1'));
  given(registered(), rotatedTo('s1')).when(rotate('s1')).yieldsNothing();
  given(registered(), rotatedTo('s1')).when(rotate('s2')).yields(rotatedTo('s2', 's1'));
});

test('rotated immediately, no earlier one signs', () => {
  given(registered(), rotatedTo('s1')).when(rotate('s2', false)).yields(rotatedTo('s2'));
});

test('at most four secrets sign at once', () => {
  const history = [registered(), rotatedTo('s1'), rotatedTo('s2', 's1'), rotatedTo('s3', 's2'), rotatedTo('s4', 's3')];
  given(...history)
    .when(rotate('s5'))
    .isRefused(
      'webhook-secrets-in-use',
      'webhooks of Acme Corp. are signed with 4 secrets already: rotate after the oldest has ended, or end the earlier ones at once.',
    );
  given(...history)
    .when(rotate('s5', false))
    .yields(rotatedTo('s5'));
  given(...history, retired('s1'))
    .when(rotate('s5'))
    .yields(rotatedTo('s5', 's4'));
  given(...history, rotatedTo('s5'))
    .when(rotate('s6'))
    .yields(rotatedTo('s6', 's5'));
});

test('an earlier secret is retired once, and never the one in use', () => {
  const history = [registered(), rotatedTo('s1'), rotatedTo('s2', 's1')];
  given(...history)
    .when(retire('s1'))
    .yields(retired('s1'));
  given(...history, retired('s1'))
    .when(retire('s1'))
    .yieldsNothing();
  given(...history)
    .when(retire('s2'))
    .yieldsNothing();
  given(...history, rotatedTo('s3'))
    .when(retire('s2'))
    .yields(retired('s2'));
});

test('a token is issued once', () => {
  given(registered()).when({ type: 'IssueApiToken', data: token }).yields(issued);
  given(registered(), issued).when({ type: 'IssueApiToken', data: token }).yieldsNothing();
});

test('a token is revoked once; one that is not there is not found', () => {
  given(registered(), issued)
    .when({ type: 'RevokeApiToken', data: { tokenId: 't1' } })
    .yields(revoked);
  given(registered(), issued, revoked)
    .when({ type: 'RevokeApiToken', data: { tokenId: 't1' } })
    .isRefused('token-not-found');
  given(registered(), issued)
    .when({ type: 'RevokeApiToken', data: { tokenId: 't2' } })
    .isRefused('token-not-found', 'token not found.');
});

test.run();
