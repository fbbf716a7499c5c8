import { Temporal } from '@js-temporal/polyfill';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Secrets } from '../../src/ports/secrets.ts';

/** A secret store of its own, and what removes it. `reopen` opens the same one as another process would. */
export type SecretsUnderTest = Readonly<{ secrets: Secrets; reopen: () => Secrets; stop: () => Promise<void> }>;

/** What every secret store does. */
export function secretsContract(name: string, start: () => Promise<SecretsUnderTest>): void {
  const test = suite<SecretsUnderTest>(name);

  test.before.each(async (context) => {
    Object.assign(context, await start());
  });
  test.after.each(({ stop }) => stop());

  test('a secret that nobody put is not there', async ({ secrets }) => {
    assert.is(await secrets.get('webhook-12'), undefined);
  });

  test('a secret is what was put last, byte for byte, also for others', async ({ secrets, reopen }) => {
    await secrets.put('webhook-12', 'old');
    await secrets.put('webhook-12', 'whsec_ü\n\u0000🗝 ');
    assert.is(await secrets.get('webhook-12'), 'whsec_ü\n\u0000🗝 ');
    assert.is(await reopen().get('webhook-12'), 'whsec_ü\n\u0000🗝 ');
    assert.is(await secrets.get('webhook-1'), undefined);
  });

  test('an empty secret is a secret', async ({ secrets }) => {
    await secrets.put('router-core1', '');
    assert.is(await secrets.get('router-core1'), '');
  });

  test('a removed secret is gone; removing it again is harmless', async ({ secrets }) => {
    await secrets.put('router-core1', 'x');
    await secrets.remove('router-core1');
    await secrets.remove('router-core1');
    assert.is(await secrets.get('router-core1'), undefined);
  });

  test('secrets are listed by their ids, with the time of their present value', async ({ secrets, reopen }) => {
    assert.equal(await secrets.list(), []);
    for (const id of ['webhook-12', 'router-core1', 'gone']) await secrets.put(id, 'x');
    await secrets.remove('gone');
    const listed = await reopen().list();
    assert.equal(
      listed.map(({ id }) => id),
      ['router-core1', 'webhook-12'],
    );
    for (const { since } of listed) {
      assert.match(since, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
      const age = Temporal.Now.instant().since(Temporal.Instant.from(since)).total('seconds');
      assert.ok(age > -1 && age < 60, `${age} seconds ago`);
    }
  });

  test('puts at the same time leave one of the values', async ({ secrets, reopen }) => {
    const values = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
    const other = reopen();
    await Promise.all(values.map((value, index) => (index % 2 === 0 ? secrets : other).put('router-core1', value)));
    assert.ok(values.includes((await secrets.get('router-core1')) ?? ''));
  });

  test('of values that are put where there is none the first stays', async ({ secrets, reopen }) => {
    const other = reopen();
    const values = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
    const put = async (value: string, index: number): Promise<string | undefined> => {
      const store = index % 2 === 0 ? secrets : other;
      await store.putIfAbsent('router-core1', value);
      return store.get('router-core1');
    };
    const seen = new Set(await Promise.all(values.map(put)));
    assert.is(seen.size, 1);
    assert.ok(values.includes([...seen][0] ?? ''));
    await secrets.put('router-core1', 'another');
    await secrets.putIfAbsent('router-core1', 'too late');
    assert.is(await other.get('router-core1'), 'another');
    assert.equal(
      (await secrets.list()).map(({ id }) => id),
      ['router-core1'],
    );
  });

  for (const id of ['', '.', '..', '.hidden', '-rf', 'a/b', '../a', 'a\0b', 'a b', 'ä', 'a\n', 'x'.repeat(129)]) {
    test(`is no id of a secret: ${JSON.stringify(id.slice(0, 20))}`, async ({ secrets }) => {
      for (const work of [
        () => secrets.get(id),
        () => secrets.put(id, 'x'),
        () => secrets.putIfAbsent(id, 'x'),
        () => secrets.remove(id),
      ]) {
        const error = await work().catch((thrown: unknown) => thrown);
        assert.instance(error, RangeError);
      }
    });
  }

  test('a secret that is too large is refused', async ({ secrets }) => {
    const error = await secrets.put('router-core1', 'x'.repeat(64 * 1024 + 1)).catch((thrown: unknown) => thrown);
    assert.instance(error, RangeError);
    assert.is(await secrets.get('router-core1'), undefined);
    await secrets.put('router-core1', 'x'.repeat(64 * 1024));
  });

  test.run();
}
