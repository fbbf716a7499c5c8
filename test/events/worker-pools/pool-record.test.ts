import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { newPool, type PoolChanges, type PoolRecord } from '../../../src/events/worker-pools/pool-record.ts';

const HETZNER = {
  provider_type: 'hetzner',
  server_type: 'cx32',
  image_name: 'debian-13',
  worker_install_source: 'release' as const,
};

const base = { provider_account: 'hcloud', architectures: ['amd64'], specifications: HETZNER };

type Row = Readonly<{
  field: keyof PoolRecord;
  good: readonly unknown[];
  bad: readonly unknown[];
  byDefault?: unknown;
}>;

let deep: unknown = 1;
for (let level = 0; level < 40; level += 1) deep = { deep };

const NO_FLAG = ['true', 0, 1, null, [], {}];
const limits = { max_active_instances: null, target_max_seconds_per_month: null, max_idle_seconds: 3600 };

/** The rows of the WorkerPool table; `dynamic_metadata` is reported by workers. */
const ROWS: readonly Row[] = [
  {
    field: 'name',
    good: ['a', 'spot', 'spot-amd64-2', 'x'.repeat(50)],
    bad: ['', 'Spot', 'a_b', '-a', 'a-', 'a b', 'ä', 'x'.repeat(51), 7, null],
  },
  { field: 'provider_account', good: ['hcloud', 'aws-main', 'a.b_c'], bad: ['', 'A', '../x', 'a b', 7, null, {}] },
  { field: 'enabled', good: [true, false], bad: NO_FLAG, byDefault: true },
  {
    field: 'architectures',
    good: [['amd64'], ['arm64', 'armel', 'armhf', 'i386', 'ppc64el', 'riscv64', 's390x', 'amd64']],
    bad: [[], ['x86_64'], ['AMD64'], 'amd64', [1], null, {}],
  },
  {
    field: 'static_metadata',
    good: [{}, { any: ['JSON', 1, null, { x: true }] }],
    bad: [[], 'x', 7, null, { text: 'x'.repeat(65_537) }, { deep }, { x: Number.NaN }, { x: undefined, y: () => 1 }],
    byDefault: {},
  },
  { field: 'specifications', good: [HETZNER], bad: [{}, [], null, 'hetzner', { provider_type: 7 }] },
  { field: 'instance_wide', good: [true, false], bad: NO_FLAG, byDefault: true },
  { field: 'ephemeral', good: [true, false], bad: NO_FLAG, byDefault: false },
  { field: 'limits', good: [{}, { max_active_instances: 1 }], bad: [[], null, 5, { max: 1 }], byDefault: limits },
  { field: 'apt_authentication', good: ['nightly', null], bad: ['', 'A B', 7, {}], byDefault: null },
];

function pool(field: string, value: unknown): ReturnType<typeof newPool> {
  const { name = 'spot', ...given } = { ...base, [field]: value } as Record<string, unknown>;
  // The record is what is tested: it must not trust what its types say.
  return newPool(name as string, given);
}

for (const { field, good, bad, ...row } of ROWS) {
  test(`${field} takes what it should`, () => {
    for (const value of good) assert.is(pool(field, value).ok, true, `${field}: ${JSON.stringify(value)}`);
  });

  test(`${field} refuses what it should, and names itself`, () => {
    for (const value of bad) {
      const checked = pool(field, value);
      assert.is(checked.ok, false, `${field}: ${JSON.stringify(value).slice(0, 60)}`);
      if (!checked.ok) for (const { path } of checked.problems) assert.ok(path.startsWith(field), path);
    }
  });

  if ('byDefault' in row)
    test(`${field} has its default`, () => {
      const checked = newPool('spot', base as PoolChanges);
      assert.equal(checked.ok && checked.value[field], row.byDefault);
    });
  else if (field !== 'name')
    test(`${field} is required`, () => {
      const checked = pool(field, undefined);
      assert.is(checked.ok, false);
    });
}

test('architectures are kept once each, in one order', () => {
  const checked = pool('architectures', ['s390x', 'amd64', 's390x']);
  assert.equal(checked.ok && checked.value.architectures, ['amd64', 's390x']);
});

test.run();
