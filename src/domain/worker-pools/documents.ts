import { z } from 'zod';
import { architecture, architectures } from '../../events/worker-pools/architectures.ts';
import {
  ASSET_CATEGORIES,
  ASSET_DATA,
  type AssetCategory,
  type AssetRecord,
  type Credentials,
} from '../../events/worker-pools/asset-records.ts';
import { check, type Checked, type Problem } from '../../events/worker-pools/document-checks.ts';
import { poolLimits, scopeLimits, type ScopeLimits } from '../../events/worker-pools/limits.ts';
import { assetName, poolName, scopeName } from '../../events/worker-pools/names.ts';
import { type PoolChanges, staticMetadata } from '../../events/worker-pools/pool-record.ts';
import { specifications } from '../../events/worker-pools/specifications.ts';
import type { PendingTasks } from './scaling/snapshot.ts';

/** An asset as it was written by hand: the public part, and the secrets. */
export type GivenAsset = Readonly<{ record: AssetRecord; credentials: Credentials }>;

/** What was written about a pool, field by field; what is undefined was not. */
export type GivenPool = Readonly<{ [Field in keyof PoolChanges]?: unknown }>;

const QUEUE_ENTRIES_MAX = 10_000;

const queueDocument = z
  .array(
    z.strictObject({
      scope: scopeName,
      architecture,
      count: z.int().min(0).max(1_000_000),
      expected_seconds: z.number().min(0).max(31_536_000),
    }),
  )
  .max(QUEUE_ENTRIES_MAX);

/** The categories that an asset may be of. */
export function assetCategories(): readonly AssetCategory[] {
  return ASSET_CATEGORIES;
}

/** The name of a worker pool. */
export function checkPoolName(name: string): Checked<string> {
  return check(poolName, 'worker pool name', name);
}

/** The name of a scope. */
export function checkScopeName(name: string): Checked<string> {
  return check(scopeName, 'scope name', name);
}

/** What a scope limits a pool to. */
export function checkScopeLimits(data: unknown): Checked<ScopeLimits> {
  return check(scopeLimits, 'limits', data);
}

/** Fields of a pool; everything that is wrong with any of them is told at once. */
export function checkPoolChanges(given: GivenPool): Checked<PoolChanges> {
  const problems: Problem[] = [];
  function take<T>(schema: z.ZodType<T>, name: keyof PoolChanges): T | undefined {
    const value = given[name];
    if (value === undefined) return undefined;
    const checked = check(schema, name, value);
    if (checked.ok) return checked.value;
    problems.push(...checked.problems);
    return undefined;
  }
  const named = {
    provider_account: take(assetName, 'provider_account'),
    enabled: take(z.boolean(), 'enabled'),
    architectures: take(architectures, 'architectures'),
    static_metadata: take(staticMetadata, 'static_metadata'),
    specifications: take(specifications, 'specifications'),
    instance_wide: take(z.boolean(), 'instance_wide'),
    ephemeral: take(z.boolean(), 'ephemeral'),
    limits: take(poolLimits, 'limits'),
    apt_authentication: take(assetName.nullable(), 'apt_authentication'),
  };
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)) };
}

/** An asset of a category. What is wrong with it is told without its values: they may be secrets. */
export function checkAsset(category: AssetCategory, data: unknown): Checked<GivenAsset> {
  if (category === 'cloud-provider-account') {
    const checked = check(ASSET_DATA[category], category, data, { confidential: true });
    if (!checked.ok) return checked;
    const { name, provider_type, configuration, credentials } = checked.value;
    const credential_names = Object.keys(credentials).toSorted();
    return {
      ok: true,
      value: { record: { category, name, provider_type, configuration, credential_names }, credentials },
    };
  }
  const checked = check(ASSET_DATA[category], category, data, { confidential: true });
  if (!checked.ok) return checked;
  const { name, configuration, credentials: given } = checked.value;
  const credentials = given === undefined ? {} : { ...given };
  const credential_names = Object.keys(credentials).toSorted();
  return { ok: true, value: { record: { category, name, configuration, credential_names }, credentials } };
}

/** Pending tasks, in the order in which they will be dispatched. */
export function checkQueue(data: unknown): Checked<readonly PendingTasks[]> {
  const checked = check(queueDocument, 'queue', data);
  if (!checked.ok) return checked;
  const value = checked.value.map(({ expected_seconds: expectedSeconds, ...tasks }) => ({ ...tasks, expectedSeconds }));
  return { ok: true, value };
}
