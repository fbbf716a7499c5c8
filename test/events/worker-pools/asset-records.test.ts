import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { aptAuthentication, cloudProviderAccount } from '../../../src/events/worker-pools/asset-records.ts';
import { check } from '../../../src/events/worker-pools/document-checks.ts';

const ACCOUNT = {
  name: 'aws-main',
  provider_type: 'aws',
  configuration: { region_name: 'eu-central-1' },
  credentials: { access_key_id: 'AKIA', secret_access_key: 'hunter2' },
};

const APT = {
  name: 'nightly',
  configuration: { url: 'https://deb.example.com/debian' },
  credentials: { username: 'worker', password: 'hunter2' },
};

const FORMATS = {
  'cloud-provider-account': cloudProviderAccount(['aws', 'hetzner']),
  'apt-authentication': aptAuthentication,
};

function problemsOf(category: keyof typeof FORMATS, data: unknown): readonly string[] {
  const checked = check<object>(FORMATS[category], category, data, { confidential: true });
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
}

test('a provider account has a name, a provider type, a configuration and credentials', () => {
  assert.equal(problemsOf('cloud-provider-account', ACCOUNT), []);
  assert.equal(
    problemsOf('cloud-provider-account', { ...ACCOUNT, provider_type: 'hetzner', credentials: { api_token: 'x' } }),
    [],
  );
  assert.equal(problemsOf('cloud-provider-account', { ...ACCOUNT, configuration: undefined }), []);
  assert.equal(problemsOf('cloud-provider-account', {}), [
    'cloud-provider-account.name is required: a string (asset name, unique)',
    'cloud-provider-account.provider_type is required: one of aws, hetzner',
    'cloud-provider-account.credentials is required: an object (secrets by name; they go to the secret store)',
  ]);
  assert.equal(problemsOf('cloud-provider-account', { ...ACCOUNT, provider_type: 'gcp' }), [
    'cloud-provider-account.provider_type must be one of aws, hetzner, not a string',
  ]);
  assert.equal(problemsOf('cloud-provider-account', { ...ACCOUNT, region: 'x' }).length, 1);
});

test('an apt authentication says which repository, and who asks', () => {
  assert.equal(problemsOf('apt-authentication', APT), []);
  assert.equal(problemsOf('apt-authentication', { ...APT, credentials: undefined }), []);
  for (const url of [
    'deb.example.com',
    'ftp://deb.example.com/',
    'https://user:pw@deb.example.com/',
    'https://x/ main',
    'https://x/\nY',
  ])
    assert.equal(problemsOf('apt-authentication', { ...APT, configuration: { url } }).length, 1, url);
  for (const suite of ['a b', 'a\nb', '', '[trusted=yes]'])
    assert.equal(
      problemsOf('apt-authentication', { ...APT, configuration: { ...APT.configuration, suite } }).length,
      1,
      suite,
    );
  for (const password of ['a b', 'a\nb', '', 'ü'])
    assert.ok(
      problemsOf('apt-authentication', { ...APT, credentials: { username: 'u', password } }).length > 0,
      password,
    );
});

test('no message repeats a secret', () => {
  const wrong = { ...ACCOUNT, credentials: { access_key_id: ['hunter2'], secret_access_key: 12345678 } };
  const text = problemsOf('cloud-provider-account', wrong).join('\n');
  assert.match(text, /credentials.access_key_id must be a string, not a list/);
  assert.match(text, /credentials.secret_access_key must be a string, not a number/);
  assert.not.match(text, /hunter2|12345678/);
});

test.run();
