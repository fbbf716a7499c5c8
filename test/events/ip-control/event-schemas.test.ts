import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { contentOf } from '../../../src/domain/ip-control/commit-content.ts';
import { createCodec, UndecodableEvent, UnencodableEvent } from '../../../src/events/codec.ts';
import { administratorEvents } from '../../../src/events/ip-control/administrator.ts';
import { customerEvents } from '../../../src/events/ip-control/customer.ts';
import { directoryEvents } from '../../../src/events/ip-control/directory.ts';
import { regionEvents } from '../../../src/events/ip-control/region.ts';
import { webhookDeliveryEvents } from '../../../src/events/ip-control/webhook-delivery.ts';
import type { Metadata } from '../../../src/kernel/event.ts';
import { SETTINGS } from '../../commands/ip-control/customer-examples.ts';

const definitions = [
  ...customerEvents,
  ...directoryEvents,
  ...regionEvents,
  ...webhookDeliveryEvents,
  ...administratorEvents,
];
const codec = createCodec(definitions);

const subnet = { subnetId: 1, cidr: '192.0.2.0/24', regionId: 1, asn: 64_500, metro: 'AMS' };
const commit = { commitSetId: 'c1', regionId: 1, list: 'BLACKHOLE', attempt: 1 };
const settled = {
  ...commit,
  outcomes: [{ router: 'core1', result: 'unknown', untouched: false, because: 'no answer', milliseconds: 3 }],
  content: contentOf([]),
  completedAt: '2026-11-27T12:00:00.000+00:00',
  notify: true,
};
const notification = { commitSetId: 'c1', customerId: 7, regionId: 1, status: 'success', attempt: 1 };
const core1 = { regionId: 1, router: 'core1' };
const evidence = { sha256: 'aa', bytes: 1, mediaType: 'image/png', fileName: 'a.png' };

/** One of each, as it is stored. What is here must be readable for ever: a change of a schema adds, it replaces nothing. */
const SAMPLES: Readonly<Record<string, object>> = {
  CustomerRegistered: { customerId: 7, name: 'Acme Corp.', listName: 'ACME-CORP', settings: SETTINGS },
  CustomerSettingsChanged: { changes: { trusted: true, webhookUrl: null } },
  CustomerDisabled: { customerId: 7 },
  CustomerEnabled: { customerId: 7 },
  CustomerRemoved: { customerId: 7 },
  WebhookSecretRotated: { secretId: 'webhook-7' },
  WebhookSecretRetired: { secretId: 'webhook-7' },
  ApiTokenIssued: { tokenId: 't1', label: '', sha256: 'ab' },
  ApiTokenDisabled: { tokenId: 't1', sha256: 'ab' },
  ApiTokenEnabled: { tokenId: 't1', sha256: 'ab' },
  ApiTokenRevoked: { tokenId: 't1', sha256: 'ab' },
  SubnetAssigned: subnet,
  SubnetReleased: { subnetId: 1, cidr: '192.0.2.0/24', regionId: 1, wasDisabled: [] },
  AddressesDisabled: { regionId: 1, ranges: ['192.0.2.1'] },
  AddressesEnabled: { regionId: 1, ranges: ['192.0.2.1-192.0.2.9', '2001:db8::1'] },
  DisabledTermChanged: { regionId: 1, ranges: ['192.0.2.1'] },
  AddressesKept: { regionId: 1, router: 'core1', ranges: ['192.0.2.77'] },
  CommitRequested: { ...commit, reason: 'quiet' },
  CommitCompleted: settled,
  CommitFailed: settled,
  CommitSliceDeployed: { ...commit, done: 1200, total: 5000 },
  CommitHeldUp: { ...commit, routers: ['core1'] },
  SourceWhitelistSubmitted: {
    requestId: 'r1',
    input: '8.8.8.8',
    prefixes: ['8.8.8.8/32'],
    regionIds: [1],
    evidence,
    autoApproved: false,
  },
  SourceWhitelistApproved: { requestId: 'r1', regionIds: [1] },
  SourceWhitelistRejected: { requestId: 'r1', reason: 'not your network' },
  SourceWhitelistRemoved: { requestId: 'r1', regionIds: [] },
  CustomerNameReserved: { customerId: 7, name: 'Acme Corp.', listName: 'ACME-CORP', settings: SETTINGS },
  RegionNameReserved: { regionId: 1, name: 'ams' },
  RegionNameReleased: { regionId: 1, name: 'ams' },
  SubnetReserved: { ...subnet, customerId: 7 },
  SubnetReservationReleased: { subnetId: 1 },
  SecretStored: { secretId: 'core1-key', changeId: 'k1' },
  SecretRemoved: { secretId: 'core1-key' },
  RestoreBegan: { because: 'operator', customers: [{ customerId: 7, revision: 12 }] },
  RestoreAccepted: { regionIds: [1] },
  RegionCreated: { regionId: 1, name: 'ams' },
  RegionRemovalBegan: { regionId: 1, name: 'ams' },
  RegionRemovalCalledOff: { regionId: 1, name: 'ams' },
  RouterAdded: { regionId: 1, router: 'core1', driver: 'file', options: { path: '/srv' } },
  RouterRemoved: { regionId: 1, router: 'core1' },
  DeployPolicyChosen: { regionId: 1, deployPolicy: 'all-or-nothing' },
  RouterRepairChosen: { ...core1, repair: false },
  RouterReconfigured: { ...core1, options: { host: '192.0.2.1' } },
  RouterDrainRequested: core1,
  RouterDrained: { ...core1, removed: ['Svc-ACME-BLACKHOLE'], problems: [] },
  RouterDisabled: core1,
  RouterEnabled: core1,
  RouterCaughtUp: { ...core1, lists: 2, changed: 1 },
  RouterCheckRequested: { ...core1, checkId: 'k1', prune: false },
  RouterChecked: {
    ...core1,
    checkId: 'k1',
    lists: 2,
    underWay: 0,
    drifted: ['Svc-A-BLACKHOLE'],
    repaired: [],
    unowned: ['Svc-OLD'],
    removed: [],
    problems: ['Svc-A-BLACKHOLE: no answer'],
  },
  DriftDetected: {
    ...core1,
    list: 'Svc-A-BLACKHOLE',
    missing: 1,
    extra: 0,
    held: contentOf([]),
  },
  DriftRepaired: { ...core1, list: 'Svc-A-BLACKHOLE', how: 'pushed' },
  RouterNotSaved: { ...core1, because: 'not-saved: Svc-A-BLACKHOLE is in force, and was not saved: Permission denied' },
  RouterSaved: core1,
  UnownedListsSeen: { ...core1, lists: ['Svc-OLD'] },
  WebhookDelivered: { ...notification, httpStatus: 204 },
  WebhookAttemptFailed: { ...notification, because: 'status 500' },
  WebhookAbandoned: { ...notification, because: 'status 500' },
  WebhookRedeliveryRequested: { ...notification, list: 'BLACKHOLE', completedAt: '2026-11-27T12:00:00.000+00:00' },
  WebhookTested: { customerId: 7, delivered: true },
  AdministratorCreated: { name: 'ada', secretId: 'administrator-ada' },
  AdministratorRoleChosen: { role: 'reviewer' },
  AdministratorPasswordChanged: { secretId: 'administrator-ada-2', temporary: false },
  AdministratorDisabled: {},
  AdministratorEnabled: {},
  SecondFactorEnrolled: { secretId: 'administrator-ada-codes', recoveryCodes: ['ab'] },
  SecondFactorRemoved: {},
  AdministratorSessionOpened: {
    sessionId: 's1',
    sha256: 'ab',
    until: '2026-11-28T12:00:00.000+00:00',
    failuresBefore: 2,
  },
  AdministratorSessionEnded: { sessionId: 's1', sha256: 'ab', because: 'logged-out' },
  AdminTokenIssued: {
    tokenId: 't1',
    label: 'backup',
    sha256: 'ab',
    scopes: ['read', 'events:export'],
    until: '2027-02-26T12:00:00.000+00:00',
  },
  AdminTokenRevoked: { tokenId: 't1', sha256: 'ab' },
};

/** Optional fields beside those of the samples. */
const ADDED_LATER: Readonly<Record<string, object>> = {
  WebhookSecretRotated: { previous: { secretId: 'webhook-6', signsForSeconds: 86_400 } },
  AdministratorSessionOpened: { secondFactor: { step: 59_000_000 } },
  WebhookDelivered: { milliseconds: 41 },
  WebhookAttemptFailed: { httpStatus: 500, milliseconds: 41 },
  WebhookAbandoned: { httpStatus: 500, milliseconds: 41 },
  WebhookTested: { because: 'answered 500', httpStatus: 500, milliseconds: 41 },
};

const metadata: Metadata = {
  actor: 'admin:ada',
  at: '2026-11-27T12:00:00.000+00:00',
  schema: 1,
  $correlationId: 'r',
  $causationId: 'r',
  previousHash: '',
  hash: '',
};
const stored = (type: string, data: unknown) => ({
  id: 'e1',
  stream: 's-1',
  revision: 0n,
  position: 0n,
  type,
  data,
  metadata,
});

test('there is a sample of every event', () => {
  assert.equal(definitions.map(({ type }) => type).toSorted(), Object.keys(SAMPLES).toSorted());
});

test('every sample is written and read back as it is', () => {
  for (const [type, data] of Object.entries(SAMPLES)) {
    codec.encode({ type, data, id: 'e1', metadata });
    assert.equal(codec.decode(stored(type, JSON.parse(JSON.stringify(data)))).data, data, type);
  }
});

test('what is not in the schema is not read past', () => {
  for (const [type, data] of Object.entries(SAMPLES)) {
    const more = stored(type, { ...data, surprise: 1 });
    assert.throws(
      () => codec.decode(more),
      (error: unknown) => error instanceof UndecodableEvent,
      type,
    );
  }
});

test('drift as events of old tell it, and with what differs, are both read', () => {
  const difference = { missing: ['192.0.2.7/32'], extra: ['10.0.0.0/8 le 32'], more: 7 };
  for (const data of [SAMPLES['DriftDetected'], { ...SAMPLES['DriftDetected'], difference }])
    assert.equal(codec.decode(stored('DriftDetected', { ...data })).data, data);
});

test('what is missing is not made up', () => {
  for (const [type, data] of Object.entries(SAMPLES)) {
    for (const field of Object.keys(data)) {
      const less = Object.fromEntries(Object.entries(data).filter(([name]) => name !== field));
      assert.throws(
        () => codec.decode(stored(type, less)),
        (error: unknown) => error instanceof UndecodableEvent,
        `${type}.${field}`,
      );
    }
  }
});

test('what was added to an event later may be there or not', () => {
  for (const [type, more] of Object.entries(ADDED_LATER)) {
    const data = { ...SAMPLES[type], ...more };
    codec.encode({ type, data, id: 'e1', metadata });
    assert.equal(codec.decode(stored(type, JSON.parse(JSON.stringify(data)))).data, data, type);
  }
});

test('what could not be read back is not written', () => {
  const wrong = { type: 'AddressesDisabled', data: { regionId: 0, ranges: [] }, id: 'e1', metadata };
  assert.throws(
    () => codec.encode(wrong),
    (error: unknown) => error instanceof UnencodableEvent,
  );
});

test('the content of a list is its number of blocks and the hash of their text, one a line', () => {
  assert.equal(contentOf([]), {
    prefixes: 0,
    sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  });
  assert.equal(contentOf(['192.0.2.0/30', '192.0.2.4/32']), {
    prefixes: 2,
    sha256: 'd1a5648f52af7335b1bc6b77b225c07e3e6d33700f6577a34041feac89f3aad8',
  });
});

test.run();
