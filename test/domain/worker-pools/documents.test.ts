import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkAsset, checkPoolChanges, checkQueue } from '../../../src/domain/worker-pools/documents.ts';

test('fields of a pool are checked each by itself, and everything that is wrong is told at once', () => {
  const given = { enabled: undefined, architectures: ['amd64'], apt_authentication: null };
  assert.equal(checkPoolChanges(given), { ok: true, value: { architectures: ['amd64'], apt_authentication: null } });
  const checked = checkPoolChanges({ provider_account: '-', limits: { max: 1 }, architectures: ['vax'] });
  assert.equal(checked.ok ? [] : checked.problems.map(({ path }) => path), [
    'provider_account',
    'architectures[0]',
    'limits.max',
  ]);
});

test('an asset is parted into what all may read and its secrets', () => {
  const account = { name: 'hcloud', provider_type: 'hetzner', credentials: { b: 'hunter2', a: 'hunter3' } };
  const checked = checkAsset('cloud-provider-account', account);
  assert.ok(checked.ok);
  assert.equal(checked.value.record, {
    category: 'cloud-provider-account',
    name: 'hcloud',
    provider_type: 'hetzner',
    configuration: {},
    credential_names: ['a', 'b'],
  });
  const open = checkAsset('apt-authentication', { name: 'n', configuration: { url: 'https://deb.example.com/' } });
  assert.equal(open.ok && open.value.credentials, {});
});

test('what is wrong with an asset is told without repeating its values', () => {
  const account = { name: 'hcloud', provider_type: 'hetzner', credentials: { token: ['hunter2'] } };
  const checked = checkAsset('cloud-provider-account', account);
  assert.not(checked.ok);
  assert.not.match(JSON.stringify(checked), /hunter/);
});

test('a queue is a list of tasks in the order of dispatch', () => {
  const tasks = { scope: 'debian', architecture: 'amd64', count: 2, expected_seconds: 60 };
  const { expected_seconds: expectedSeconds, ...rest } = tasks;
  assert.equal(checkQueue([tasks]), { ok: true, value: [{ ...rest, expectedSeconds }] });
  assert.not(checkQueue([{ ...tasks, count: -1 }]).ok);
  assert.not(checkQueue({}).ok);
});

test.run();
