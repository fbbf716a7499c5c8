import { createHash } from 'node:crypto';
import { Temporal } from '@js-temporal/polyfill';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CommitStatus } from '../../../src/application/ip-control/commit-now.ts';
import { listCommits, runCommit } from '../../../src/application/ip-control/commits.ts';
import { createCustomer } from '../../../src/application/ip-control/customers.ts';
import { customerStateAt } from '../../../src/application/ip-control/customer-state-at.ts';
import { type HistoryFilter, type HistoryOf, openHistory } from '../../../src/application/ip-control/history.ts';
import { createRegion } from '../../../src/application/ip-control/regions.ts';
import { addSubnet } from '../../../src/application/ip-control/subnets.ts';
import {
  approveRequest,
  listRequests,
  rejectRequest,
  requestEvidence,
  showRequest,
} from '../../../src/application/ip-control/whitelist-review.ts';
import { type CustomerEvent, customerEvents } from '../../../src/events/ip-control/customer.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { disable, enable, one, recordCompleted, requestCommit } from '../../commands/ip-control/customer-examples.ts';
import { submit } from '../../commands/ip-control/source-whitelist-examples.ts';
import { openTestApplication } from '../../support/test-application.ts';

const context = { actor: 'admin:ada', requestId: 'request-1' };
const CUSTOMER_TYPES = new Set<string>(customerEvents.map(({ type }) => type));
const PROOF = Buffer.from('a contract');
const SHA256 = createHash('sha256').update(PROOF).digest('hex');

async function openApplication() {
  const opened = await openTestApplication();
  const files = new Map([[SHA256, PROOF]]);
  let deployed: CommitStatus = 'success';
  const application = {
    ...opened,
    eventTypes: ['CustomerRegistered'],
    isCustomerEvent: (event: { type: string }): event is CustomerEvent => CUSTOMER_TYPES.has(event.type),
    commitNow: async () => ({ status: deployed, isRequested: deployed !== 'success' }),
    evidence: {
      read: async ({ sha256 }: { sha256: string }) => {
        const file = files.get(sha256);
        if (file === undefined) return undefined;
        return (async function* () {
          yield file.subarray(0, 3);
          yield file.subarray(3);
        })();
      },
    },
  };
  await createRegion({ name: 'eu-west' }, context, application);
  await createCustomer({ name: 'acme', settings: { allowSourceWhitelist: true } }, context, application);
  const subnet = { customer: 'acme', region: 'eu-west', cidr: '192.0.2.0/24', asn: 64500, metro: 'AMS' };
  await addSubnet(subnet, context, application);
  const says = async (command: Parameters<typeof opened.customers.handle>[1]): Promise<void> => {
    const answer = await opened.customers.handle(1, command, context);
    if (isRefusal(answer)) throw new Error(answer.because);
  };
  return { application, files, says, willBe: (status: CommitStatus) => void (deployed = status) };
}

const test = suite<{ at: Awaited<ReturnType<typeof openApplication>> }>('use cases that look back');

test.before.each(async (world) => {
  world.at = await openApplication();
});
test.after.each(({ at }) => at.application.close());

function taken<T extends object>(answer: T): Exclude<T, { refused: string }> {
  assert.not(isRefusal(answer), JSON.stringify(answer));
  return answer as Exclude<T, { refused: string }>;
}

function refused(answer: object | undefined): string {
  assert.ok(answer !== undefined && isRefusal(answer), JSON.stringify(answer));
  return answer.refused;
}

test('a change waits alone until a commit carries it, and is then told with the commit', async ({ at }) => {
  const { application, says } = at;
  await says(disable(one('192.0.2.7')));
  await application.clock.advance({ seconds: 30 });
  const list = { customer: 'acme', region: 'eu-west', list: 'BLACKHOLE' } as const;
  assert.equal(await listCommits({}, application), { commits: [], waiting: [{ ...list, waitingSeconds: 30 }] });
  await says(requestCommit());
  const carried = taken(await listCommits({ customer: 'acme' }, application));
  assert.equal(carried.waiting, []);
  assert.equal(
    carried.commits.map(({ customer, region, status, waitingSeconds }) => [customer, region, status, waitingSeconds]),
    [['acme', 'eu-west', 'deploying', 30]],
  );
  assert.equal(taken(await listCommits({ list: 'SRC_WHITELIST' }, application)).commits, []);
  assert.is(refused(await listCommits({ customer: 'nobody' }, application)), 'not-found');
});

test('a commit that was asked for tells what it came to on each router once it has ended', async ({ at }) => {
  const { application, says, willBe } = at;
  await says(disable(one('192.0.2.7')));
  await says(requestCommit());
  await says(recordCompleted());
  const list = { customer: 'acme', region: 'eu-west', list: 'BLACKHOLE' } as const;
  const commits = {
    ...application.views.commits,
    get: (key: string) => application.views.commits.get(key),
    list: () => Promise.reject(new Error('no commit set but those of the customer is read')),
  };
  const dependencies = { ...application, views: { ...application.views, commits } };
  const run = taken(await runCommit({ ...list, customer: '1', region: '1' }, context, dependencies));
  const [{ outcomes } = { outcomes: [] }] = taken(await listCommits({}, application)).commits;
  assert.ok(outcomes.length > 0);
  assert.equal(run, { ...list, status: 'success', isRequested: false, outcomes });
  willBe('in_progress');
  const late = { ...list, status: 'in_progress', isRequested: true, outcomes: [] };
  assert.equal(await runCommit(list, context, application), late);
  assert.is(refused(await runCommit({ ...list, region: 'nowhere' }, context, application)), 'not-found');
});

test('the state of a customer is that of the moment', async ({ at }) => {
  const { application, says } = at;
  await says(disable(one('192.0.2.7')));
  const then = application.clock.now();
  await application.clock.advance({ minutes: 1 });
  await says(enable(one('192.0.2.7')));
  const before = taken(await customerStateAt({ customer: 'acme', at: then }, application));
  assert.equal(
    before.regions.map(({ region, disabled }) => [region, disabled]),
    [['eu-west', ['192.0.2.7/32']]],
  );
  const now = taken(await customerStateAt({ customer: 'acme' }, application));
  assert.equal(
    now.regions.flatMap(({ disabled }) => disabled),
    [],
  );
  assert.is(refused(await customerStateAt({ customer: 'nobody' }, application)), 'not-found');
});

test('a history is that of its customer, its region or all, from, to, and of one type', async ({ at }) => {
  const { application, says } = at;
  await application.clock.advance({ minutes: 1 });
  const between = application.clock.now().subtract({ seconds: 1 });
  await says(disable(one('192.0.2.7')));
  const typesOf = async (of: HistoryOf, filter: HistoryFilter = {}): Promise<readonly string[]> => {
    const history = taken(await openHistory(of, application));
    const types: string[] = [];
    for await (const page of history.recorded(await history.endOfLog(), filter))
      for (const { type } of page) types.push(type);
    return types;
  };
  const acme = { customer: 'acme', deliveries: false };
  assert.equal(await typesOf(acme), ['CustomerRegistered', 'SubnetAssigned', 'AddressesDisabled']);
  assert.equal(await typesOf({ ...acme, deliveries: true }), await typesOf(acme));
  assert.equal(await typesOf(acme, { from: between }), ['AddressesDisabled']);
  assert.equal(await typesOf(acme, { to: between, type: 'SubnetAssigned' }), ['SubnetAssigned']);
  assert.equal(await typesOf(acme, { from: Temporal.Instant.from('2027-01-01T00:00:00Z') }), []);
  assert.equal(await typesOf({ region: 'eu-west' }), ['RegionCreated']);
  assert.is((await typesOf({ all: true })).length, 7);
  assert.is(refused(await openHistory({ region: 'nowhere' }, application)), 'not-found');
});

test('what happens after the end of a history is followed, and only what belongs to it', async ({ at }) => {
  const { application, says } = at;
  const history = taken(await openHistory({ customer: 'acme', deliveries: false }, application));
  const end = await history.endOfLog();
  await createRegion({ name: 'us-east' }, context, application);
  await says(disable(one('192.0.2.7')));
  const stop = new AbortController();
  const types: string[] = [];
  for await (const page of history.following(end, {}, stop.signal)) {
    types.push(...page.map(({ type }) => type));
    stop.abort();
  }
  assert.equal(types, ['AddressesDisabled']);
});

test('a request is reviewed once; what was decided is told again as it was', async ({ at }) => {
  const { application, says } = at;
  for (const requestId of ['r1', 'r2']) await says(submit(`9.9.9.${requestId === 'r1' ? 1 : 2}`, { requestId }));
  const approved = { requestId: 'r1', status: 'pending_deploy' };
  assert.equal(await approveRequest('R1', context, application), { ...approved, isNew: true });
  assert.equal(await approveRequest('r1', context, application), { ...approved, isNew: false });
  assert.is(
    refused(await rejectRequest({ id: 'r1', reason: 'late' }, context, application)),
    'source-whitelist-decided',
  );
  const rejected = { requestId: 'r2', status: 'rejected', isNew: true };
  assert.equal(await rejectRequest({ id: 'r2', reason: 'not yours' }, context, application), rejected);
  assert.is(refused(await approveRequest('r3', context, application)), 'not-found');
  assert.equal(
    taken(await listRequests({ status: 'rejected' }, application)).map(({ requestId }) => requestId),
    ['r2'],
  );
  const shown = taken(await showRequest('r1', application));
  assert.equal([shown.customer, shown.status], ['acme', 'pending_deploy']);
  assert.equal(
    shown.regions.map(({ name }) => name),
    ['eu-west'],
  );
  await says({ type: 'RemoveSourceWhitelist', data: { requestId: 'r1' } });
  assert.is(taken(await showRequest('r1', application)).status, null);
});

test('evidence is copied whole, or told to be missing or altered', async ({ at }) => {
  const { application, files, says } = at;
  await says(submit('9.9.9.1', { sha256: SHA256 }));
  const copyOf = async () => {
    const pieces: Uint8Array[] = [];
    const { copy } = taken(await requestEvidence('r1', application));
    return { refusal: await copy(async (piece) => void pieces.push(piece)), text: Buffer.concat(pieces).toString() };
  };
  assert.equal(await copyOf(), { refusal: undefined, text: 'a contract' });
  files.set(SHA256, Buffer.from('a contrast'));
  assert.is(refused((await copyOf()).refusal), 'evidence-altered');
  files.delete(SHA256);
  assert.is(refused((await copyOf()).refusal), 'evidence-missing');
});

test.run();
