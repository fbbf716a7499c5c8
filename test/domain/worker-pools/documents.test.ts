import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CLOUD_DRIVERS } from '../../../src/adapters/clouds/open-cloud.ts';
import { checkAsset, checkPoolChanges, checkQueue } from '../../../src/domain/worker-pools/documents.ts';

test('fields of a pool are checked each by itself, and everything that is wrong is told at once', () => {
  const given = { enabled: undefined, architectures: ['amd64'], apt_authentication: null };
  assert.equal(checkPoolChanges(given, CLOUD_DRIVERS), {
    ok: true,
    value: { architectures: ['amd64'], apt_authentication: null },
  });
  const checked = checkPoolChanges(
    { provider_account: '-', limits: { max: 1 }, architectures: ['vax'] },
    CLOUD_DRIVERS,
  );
  assert.equal(checked.ok ? [] : checked.problems.map(({ path }) => path), [
    'provider_account',
    'architectures[0]',
    'limits.max',
  ]);
});

test('an asset is parted into what all may read and its secrets', () => {
  const account = {
    name: 'ec2',
    provider_type: 'aws',
    configuration: { region_name: 'eu-central-1' },
    credentials: { secret_access_key: 'hunter2', access_key_id: 'hunter3' },
  };
  const checked = checkAsset('cloud-provider-account', account, CLOUD_DRIVERS);
  assert.ok(checked.ok);
  assert.equal(checked.value.record, {
    category: 'cloud-provider-account',
    name: 'ec2',
    provider_type: 'aws',
    configuration: { region_name: 'eu-central-1' },
    credential_names: ['access_key_id', 'secret_access_key'],
  });
  const open = checkAsset(
    'apt-authentication',
    { name: 'n', configuration: { url: 'https://deb.example.com/' } },
    CLOUD_DRIVERS,
  );
  assert.equal(open.ok && open.value.credentials, {});
});

test('what is wrong with an asset is told without repeating its values', () => {
  const account = { name: 'hcloud', provider_type: 'hetzner', credentials: { token: ['hunter2'] } };
  const checked = checkAsset('cloud-provider-account', account, CLOUD_DRIVERS);
  assert.not(checked.ok);
  assert.not.match(JSON.stringify(checked), /hunter/);
});

function accountProblems(account: object): readonly string[] {
  const checked = checkAsset('cloud-provider-account', { name: 'x', ...account }, CLOUD_DRIVERS);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
}

test('an account has exactly the fields of its provider', () => {
  const keys = { access_key_id: 'AKIA', secret_access_key: 'hunter2' };
  const configuration = { region_name: 'eu-central-1', ec2_endpoint_url: 'http://127.0.0.1:5000' };
  assert.equal(
    accountProblems({ provider_type: 'aws', configuration, credentials: { ...keys, session_token: 't' } }),
    [],
  );
  assert.equal(accountProblems({ provider_type: 'hetzner', credentials: { api_token: 'hunter2' } }), []);
  assert.equal(
    accountProblems({ provider_type: 'aws', credentials: { access_key_id: 'AKIA', api_token: 'hunter2' } }),
    [
      'cloud-provider-account.configuration.region_name is required: a string (region of the account, such as eu-central-1)',
      'cloud-provider-account.credentials.secret_access_key is required: a string (secret access key)',
      'cloud-provider-account.credentials.api_token is not a field; the fields are access_key_id, secret_access_key, session_token',
    ],
  );
  const hetzner = { provider_type: 'hetzner', configuration: { region_name: 'x', endpoint: 'ftp://x' } };
  assert.equal(accountProblems({ ...hetzner, credentials: { api_token: 'two words' } }), [
    'cloud-provider-account.configuration.endpoint must be an http or https URL',
    'cloud-provider-account.configuration.region_name is not a field; the fields are endpoint, server_url',
    'cloud-provider-account.credentials.api_token must be printable ASCII without blanks',
  ]);
});

test('a queue is a list of tasks in the order of dispatch', () => {
  const tasks = { scope: 'debian', architecture: 'amd64', count: 2, expected_seconds: 60 };
  const { expected_seconds: expectedSeconds, ...rest } = tasks;
  assert.equal(checkQueue([tasks]), { ok: true, value: [{ ...rest, expectedSeconds }] });
  assert.not(checkQueue([{ ...tasks, count: -1 }]).ok);
  assert.not(checkQueue({}).ok);
});

test.run();
