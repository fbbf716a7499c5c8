import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { listSecrets, putSecret, removeSecret } from '../../../src/application/operations/secrets.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

async function withApplication(work: (application: TestApplication) => Promise<void>): Promise<void> {
  const application = await openTestApplication();
  try {
    await work(application);
  } finally {
    await application.close();
  }
}

test('who keeps and forgets a secret is recorded, its value never', () =>
  withApplication(async (application) => {
    const { context } = application;
    accepted(await putSecret('edge1', 'hunter2', context, application));
    assert.is(await application.secrets.get('edge1'), 'hunter2');
    accepted(await removeSecret('edge1', context, application));
    assert.is(await application.secrets.get('edge1'), undefined);
    const types: string[] = [];
    for await (const page of application.store.readAll(-1n)) types.push(...page.map(({ type }) => type));
    assert.equal(types, ['SecretStored', 'SecretRemoved']);
    assert.not.match(await application.logText(), /hunter/);
  }));

test('a secret that something uses is not removed; the list says by what, and since when it is there', () =>
  withApplication(async (application) => {
    await foundPool(application);
    accepted(await putSecret('spare', 'hunter3', application.context, application));
    const [used, spare, ...others] = await listSecrets(application);
    assert.equal(others, []);
    assert.match(used?.id ?? '', /^asset-hcloud-/);
    assert.equal(used?.usedBy, ['asset hcloud']);
    assert.ok(used?.since);
    assert.equal([spare?.id, spare?.usedBy], ['spare', []]);
    const answer = await removeSecret(used.id, application.context, application);
    assert.ok(isRefusal(answer) && answer.refused === 'secret-in-use');
    assert.match(answer.because, 'is used by asset hcloud.');
    assert.is(await application.secrets.get(used.id), '{"api_token":"hunter2"}');
  }));

test('a secret that is used and not there is listed without an instant', () =>
  withApplication(async (application) => {
    await foundPool(application);
    const [id = ''] = application.secretIds();
    await application.secrets.remove(id);
    assert.equal(await listSecrets(application), [{ id, since: null, usedBy: ['asset hcloud'] }]);
  }));

test('the mark of the instances at providers is not removed: nothing would find them again', () =>
  withApplication(async (application) => {
    assert.equal(await listSecrets(application), []);
    accepted(await putSecret('installation', '0f0c2a9e', application.context, application));
    const answer = await removeSecret('installation', application.context, application);
    assert.ok(isRefusal(answer) && answer.refused === 'secret-in-use');
    assert.is((await listSecrets(application)).length, 1);
  }));

test('what is no id or no value is refused, and nothing is kept or recorded', () =>
  withApplication(async (application) => {
    const put = (id: string, value: string) => putSecret(id, value, application.context, application);
    for (const [id, value, code] of [
      ['../edge1', 'hunter2', 'bad-secret-id'],
      ['edge1', '', 'bad-secret'],
      ['edge1', 'x'.repeat(65_537), 'bad-secret'],
    ] as const) {
      const answer = await put(id, value);
      assert.ok(isRefusal(answer) && answer.refused === code, code);
    }
    const unknown = await removeSecret('edge1', application.context, application);
    assert.equal(unknown, { refused: 'not-found', because: 'secret edge1 not found.', field: 'id' });
    assert.equal(await application.secrets.list(), []);
    assert.is(await application.logText(), '');
  }));

test.run();
