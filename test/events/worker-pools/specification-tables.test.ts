import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { z } from 'zod';
import { jsonSchema, SCHEMA_NAMES, type SchemaName } from '../../../src/domain/worker-pools/json-schemas.ts';
import { poolLimits, scopeLimits } from '../../../src/events/worker-pools/limits.ts';
import { check, pathText } from '../../../src/events/worker-pools/document-checks.ts';
import { specifications } from '../../../src/events/worker-pools/specifications.ts';
import { AWS, HETZNER, ROWS, type Row } from './rows.ts';

const SOURCES: Readonly<Record<SchemaName, z.ZodType<object>>> = {
  aws: specifications,
  hetzner: specifications,
  limits: poolLimits,
  'scope-limits': scopeLimits,
};

const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
const published = new Map(SCHEMA_NAMES.map((name) => [name, ajv.compile(jsonSchema(name))]));

for (const row of ROWS) {
  const field = pathText(row.schema, row.at);
  const source = SOURCES[row.schema];
  const validate = published.get(row.schema)!;

  test(`${field} takes ${row.good.map(shown).join(', ')}`, () => {
    for (const value of row.good) {
      const record = withValue(row.base, row.at, value);
      assert.equal(check(source, row.schema, record).ok, true, `${field} must take ${shown(value)}`);
      assert.ok(validate(record), `the published schema must take ${shown(value)} for ${field}`);
    }
  });

  test(`${field} refuses ${row.bad.map(shown).join(', ')} and names where it is`, () => {
    for (const value of [...row.bad, ...(row.beyondJsonSchema ?? [])]) {
      const checked = check(source, row.schema, withValue(row.base, row.at, value));
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
      const checked = check(source, row.schema, record);
      assert.equal(checked.ok, false);
      if (!checked.ok)
        assert.ok(checked.problems.some(({ path, message }) => path === field && message.startsWith('is required')));
      assert.not.ok(validate(record));
    });
  else if (!row.alternative)
    test(`${field} may be left out${row.byDefault === undefined ? '' : ` and is ${shown(row.byDefault)} then`}`, () => {
      const record = withoutValue(row);
      const checked = check(source, row.schema, record);
      assert.equal(checked.ok, true);
      if (checked.ok) assert.equal(valueAt(checked.value, row.at), row.byDefault);
      assert.ok(validate(record));
    });

  test(`a misspelt ${field} is refused`, () => {
    const last = row.at.at(-1);
    if (typeof last !== 'string') return;
    const at = [...row.at.slice(0, -1), `${last}x`];
    const record = withValue(row.base, at, row.good[0]);
    const checked = check(source, row.schema, record);
    assert.equal(checked.ok, false);
    if (!checked.ok) {
      const problem = checked.problems.find(({ path }) => path === pathText(row.schema, at));
      assert.equal(problem?.message, `is not a field; did you mean ${last}?`);
    }
    assert.not.ok(validate(record));
  });
}

for (const [schema, base] of [
  ['aws', AWS],
  ['hetzner', HETZNER],
] as const)
  test(`provider_type selects the ${schema} format`, () => {
    assert.equal(check(specifications, 'specifications', base).ok, true);
    for (const provider_type of ['AWS', 'Hetzner', 'gcp', '', 1, null]) {
      const checked = check(specifications, 'specifications', { ...base, provider_type });
      assert.equal(checked.ok, false);
      if (!checked.ok)
        assert.equal(
          checked.problems.map(({ path }) => path),
          ['specifications.provider_type'],
        );
    }
  });

test('what a record gives, it takes again unchanged', () => {
  for (const row of ROWS)
    for (const value of row.good) {
      const once = check(SOURCES[row.schema], row.schema, withValue(row.base, row.at, value));
      if (!once.ok) throw new Error('unreachable: tested above');
      const stored: unknown = JSON.parse(JSON.stringify(once.value));
      const twice = check(SOURCES[row.schema], row.schema, stored);
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
