import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CLOUD_DRIVERS } from '../../../src/adapters/clouds/open-cloud.ts';
import { checkPoolChanges, checkScopeLimits } from '../../../src/domain/worker-pools/documents.ts';
import { jsonSchema, schemaNames } from '../../../src/domain/worker-pools/json-schemas.ts';
import { type Checked, pathText } from '../../../src/events/worker-pools/document-checks.ts';
import { ROWS, type Row } from './specification-rows.ts';

const PROVIDERS = CLOUD_DRIVERS.map(({ providerType }) => providerType);

function checkOf(schema: Row['schema']): (record: unknown) => Checked<unknown> {
  if (schema === 'limits') return (record) => fieldOf(checkPoolChanges({ limits: record }, CLOUD_DRIVERS), 'limits');
  if (schema === 'scope-limits') return checkScopeLimits;
  assert.ok(PROVIDERS.includes(schema), `${schema} is no provider`);
  return specificationsOf;
}

function specificationsOf(record: unknown): Checked<unknown> {
  return fieldOf(checkPoolChanges({ specifications: record }, CLOUD_DRIVERS), 'specifications');
}

function fieldOf<T extends object>(checked: Checked<T>, field: keyof T): Checked<unknown> {
  return checked.ok ? { ok: true, value: checked.value[field] } : checked;
}

/** Where a document starts in the paths of its problems. */
function rootOf(schema: Row['schema']): string {
  return PROVIDERS.includes(schema) ? 'specifications' : 'limits';
}

const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
const published = new Map(
  schemaNames(CLOUD_DRIVERS).map((name) => [name, ajv.compile(jsonSchema(name, CLOUD_DRIVERS)!)]),
);

for (const row of ROWS) {
  const field = pathText(rootOf(row.schema), row.at);
  const source = checkOf(row.schema);
  const validate = published.get(row.schema)!;

  test(`${field} takes ${row.good.map(shown).join(', ')}`, () => {
    for (const value of row.good) {
      const record = withValue(row.base, row.at, value);
      assert.equal(source(record).ok, true, `${field} must take ${shown(value)}`);
      assert.ok(validate(record), `the published schema must take ${shown(value)} for ${field}`);
    }
  });

  test(`${field} refuses ${row.bad.map(shown).join(', ')} and names where it is`, () => {
    for (const value of [...row.bad, ...(row.beyondJsonSchema ?? [])]) {
      const checked = source(withValue(row.base, row.at, value));
      assert.equal(checked.ok, false, `${field} must refuse ${shown(value)}`);
      if (checked.ok) continue;
      assert.ok(
        checked.problems.some(({ path }) => path.startsWith(field)),
        `${shown(value)} is reported at ${checked.problems.map(({ path }) => path).join(', ')}, not at ${field}`,
      );
      for (const { message } of checked.problems) assert.match(message, /^(is|must|excludes) /);
    }
  });

  test(`the published schema refuses the same for ${field}`, () => {
    for (const value of row.bad)
      assert.not.ok(validate(withValue(row.base, row.at, value)), `${field} must refuse ${shown(value)}`);
  });

  if (row.required)
    test(`${field} is required`, () => {
      const record = withoutValue(row);
      const checked = source(record);
      assert.equal(checked.ok, false);
      if (!checked.ok)
        assert.ok(checked.problems.some(({ path, message }) => path === field && message.startsWith('is required')));
      assert.not.ok(validate(record));
    });
  else if (!row.alternative)
    test(`${field} may be left out${row.byDefault === undefined ? '' : ` and is ${shown(row.byDefault)} then`}`, () => {
      const record = withoutValue(row);
      const checked = source(record);
      assert.equal(checked.ok, true);
      if (checked.ok) assert.equal(valueAt(checked.value, row.at), row.byDefault);
      assert.ok(validate(record));
    });

  test(`a misspelt ${field} is refused`, () => {
    const last = row.at.at(-1);
    if (typeof last !== 'string') return;
    const at = [...row.at.slice(0, -1), `${last}x`];
    const record = withValue(row.base, at, row.good[0]);
    const checked = source(record);
    assert.equal(checked.ok, false);
    if (!checked.ok) {
      const problem = checked.problems.find(({ path }) => path === pathText(rootOf(row.schema), at));
      assert.equal(problem?.message, `is not a field; did you mean ${last}?`);
    }
    assert.not.ok(validate(record));
  });
}

test('every field of every provider has a row', () => {
  for (const driver of CLOUD_DRIVERS) {
    const { properties = {} } = driver.specificationsSchema() as { properties?: object };
    const fields = Object.keys(properties).filter((field) => field !== 'provider_type');
    const tested = ROWS.filter(({ schema }) => schema === driver.providerType).map(({ at: [field] }) => field);
    assert.equal(
      fields.filter((field) => !tested.includes(field)),
      [],
      driver.providerType,
    );
  }
});

for (const schema of PROVIDERS) {
  const base = ROWS.find((row) => row.schema === schema)?.base;
  test(`provider_type selects the ${schema} format`, () => {
    assert.equal(specificationsOf(base).ok, true);
    for (const provider_type of ['AWS', 'Hetzner', 'gcp', '', 1, null]) {
      const checked = specificationsOf({ ...base, provider_type });
      assert.equal(checked.ok, false);
      if (!checked.ok)
        assert.equal(
          checked.problems.map(({ path }) => path),
          ['specifications.provider_type'],
        );
    }
  });
}

test('what a record gives, it takes again unchanged', () => {
  for (const row of ROWS)
    for (const value of row.good) {
      const once = checkOf(row.schema)(withValue(row.base, row.at, value));
      if (!once.ok) throw new Error('unreachable: tested above');
      const stored: unknown = JSON.parse(JSON.stringify(once.value));
      const twice = checkOf(row.schema)(stored);
      assert.equal(twice.ok && JSON.parse(JSON.stringify(twice.value)), stored);
    }
});

function withValue(base: object, at: readonly (string | number)[], value: unknown): unknown {
  const record: unknown = structuredClone(base);
  const holder = valueAt(record, at.slice(0, -1));
  if (typeof holder !== 'object' || holder === null) throw new Error(`nothing at ${at.join('.')}`);
  Object.defineProperty(holder, at.at(-1)!, { value, enumerable: true, configurable: true, writable: true });
  return record;
}

function withoutValue(row: Row): unknown {
  const record: unknown = structuredClone(row.base);
  const holder = valueAt(record, row.at.slice(0, -1));
  if (typeof holder !== 'object' || holder === null) throw new Error(`nothing at ${row.at.join('.')}`);
  Reflect.deleteProperty(holder, row.at.at(-1)!);
  return record;
}

function valueAt(record: unknown, at: readonly (string | number)[]): unknown {
  return at.reduce<unknown>(
    (value, step) => (typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined),
    record,
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 50 ? `${text.slice(0, 47)}…` : text;
}

test.run();
