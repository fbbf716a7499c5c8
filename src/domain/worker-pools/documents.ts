import { z } from 'zod';
import { type Architecture, architecture, architectures } from '../../events/worker-pools/architectures.ts';
import {
  aptAuthentication,
  ASSET_CATEGORIES,
  type AssetCategory,
  type AssetRecord,
  cloudProviderAccount,
  credentials as secretsByName,
  type Credentials,
} from '../../events/worker-pools/asset-records.ts';
import { check, type Checked, type Problem } from '../../events/worker-pools/document-checks.ts';
import { poolLimits, scopeLimits, type ScopeLimits } from '../../events/worker-pools/limits.ts';
import { assetName, poolName, scopeName, workerName } from '../../events/worker-pools/names.ts';
import { type PoolChanges, staticMetadata } from '../../events/worker-pools/pool-record.ts';
import { type Specifications, specifications } from '../../events/worker-pools/specifications.ts';
import type { PendingTasks } from './scaling/snapshot.ts';

/** An asset as it was written by hand: the public part, and the secrets. */
export type GivenAsset = Readonly<{ record: AssetRecord; credentials: Credentials }>;

/** What was written about a pool, field by field; what is undefined was not. */
export type GivenPool = Readonly<{ [Field in keyof PoolChanges]?: unknown }>;

/** What one provider takes, as its driver checks it. Account problems have paths that start with `name`, and repeat no value. */
export type ProviderFormat = Readonly<{
  providerType: string;
  checkSpecifications: (input: unknown) => Checked<object>;
  checkAccount: (
    account: Readonly<{ configuration: AccountConfiguration; credentials: Credentials }>,
    name: string,
  ) => readonly Problem[];
}>;

type AccountConfiguration = Extract<AssetRecord, { category: 'cloud-provider-account' }>['configuration'];

const workDocument = z.strictObject({
  scope: scopeName,
  architecture,
  pool: poolName.nullable(),
  payload: z.json(),
  expected_seconds: z.int().min(1).max(31_536_000).nullable(),
});

/** Work as it was written by hand. */
export type GivenWork = Readonly<{
  scope: string;
  architecture: Architecture;
  pool: string | null;
  payload: z.infer<typeof workDocument>['payload'];
  expectedSeconds: number | null;
}>;

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

/** The name of a worker pool; `path` is what a problem calls it. */
export function checkPoolName(name: string, path = 'worker pool name'): Checked<string> {
  return check(poolName, path, name);
}

/** The name of a scope; `path` is what a problem calls it. */
export function checkScopeName(name: string, path = 'scope name'): Checked<string> {
  return check(scopeName, path, name);
}

/** The name and the architectures of a worker without a pool. */
export function checkWorker(given: unknown): Checked<Readonly<{ name: string; architectures: Architecture[] }>> {
  return check(z.strictObject({ name: workerName, architectures }), '', given);
}

/** Work that is to be queued. */
export function checkWork(given: unknown): Checked<GivenWork> {
  const checked = check(workDocument, '', given);
  if (!checked.ok) return checked;
  const { expected_seconds: expectedSeconds, ...work } = checked.value;
  return { ok: true, value: { ...work, expectedSeconds } };
}

/** The secrets of an asset by name, as a body of the API says them. */
export const credentialsBody = secretsByName;

/** What a scope limits a pool to, as a body of the API says it. */
export const scopeLimitsBody = scopeLimits;

/** What a scope limits a pool to. */
export function checkScopeLimits(data: unknown): Checked<ScopeLimits> {
  return check(scopeLimits, 'limits', data);
}

const POOL_FIELDS = [
  'provider_account',
  'enabled',
  'architectures',
  'static_metadata',
  'specifications',
  'instance_wide',
  'ephemeral',
  'limits',
  'apt_authentication',
] as const satisfies readonly (keyof PoolChanges)[];

/** What a pool has that is said to be nothing else. */
const POOL_DEFAULTS: GivenPool = {
  enabled: true,
  static_metadata: {},
  instance_wide: true,
  ephemeral: false,
  limits: {},
  apt_authentication: null,
};

/** A pool as a body says it, with why it is asked for beside: `whole`, where what is left out has its default, or the `changes` alone. */
export function givenPool(
  { reason: _reason, ticket: _ticket, ...body }: Readonly<Record<string, unknown>>,
  as: 'whole' | 'changes',
  formats: readonly ProviderFormat[],
): Checked<PoolChanges> {
  const unknown = Object.keys(body).filter((name) => !POOL_FIELDS.some((field) => field === name));
  const checked = checkPoolChanges(as === 'whole' ? { ...POOL_DEFAULTS, ...body } : body, formats);
  if (unknown.length === 0) return checked;
  const problems = unknown.map((path) => ({ path, message: 'is not a known field.' }));
  return { ok: false, problems: checked.ok ? problems : [...problems, ...checked.problems] };
}

/** What is wrong with a document, by the path to it. */
export function documentErrors(problems: readonly Problem[]): Readonly<Record<string, readonly string[]>> {
  const errors = new Map<string, readonly string[]>();
  for (const { path, message } of problems) errors.set(path, [...(errors.get(path) ?? []), message]);
  return Object.fromEntries(errors);
}

/** Fields of a pool; everything that is wrong with any of them is told at once. */
export function checkPoolChanges(given: GivenPool, formats: readonly ProviderFormat[]): Checked<PoolChanges> {
  const problems: Problem[] = [];
  function taken<T>(checked: Checked<T>): T | undefined {
    if (checked.ok) return checked.value;
    problems.push(...checked.problems);
    return undefined;
  }
  function take<T>(schema: z.ZodType<T>, name: keyof PoolChanges): T | undefined {
    const value = given[name];
    return value === undefined ? undefined : taken(check(schema, name, value));
  }
  const givenSpecifications = given.specifications;
  const named = {
    provider_account: take(assetName, 'provider_account'),
    enabled: take(z.boolean(), 'enabled'),
    architectures: take(architectures, 'architectures'),
    static_metadata: take(staticMetadata, 'static_metadata'),
    specifications:
      givenSpecifications === undefined ? undefined : taken(checkSpecifications(givenSpecifications, formats)),
    instance_wide: take(z.boolean(), 'instance_wide'),
    ephemeral: take(z.boolean(), 'ephemeral'),
    limits: take(poolLimits, 'limits'),
    apt_authentication: take(assetName.nullable(), 'apt_authentication'),
  };
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, value: Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)) };
}

/** Specifications in the format of the provider that they name. */
function checkSpecifications(input: unknown, formats: readonly ProviderFormat[]): Checked<Specifications> {
  const types = formats.map(({ providerType }) => providerType);
  const named = check(z.looseObject({ provider_type: z.enum(types) }), 'specifications', input);
  if (!named.ok) return named;
  const format = formats.find(({ providerType }) => providerType === named.value.provider_type);
  const checked = format?.checkSpecifications(input);
  if (checked === undefined || !checked.ok) return { ok: false, problems: checked?.problems ?? [] };
  return check(specifications, 'specifications', checked.value);
}

/** An asset of a category. What is wrong with it is told without its values, which may be secrets, by paths that begin at `root`. */
export function checkAsset(
  category: AssetCategory,
  data: unknown,
  formats: readonly ProviderFormat[],
  root: string = category,
): Checked<GivenAsset> {
  if (category === 'cloud-provider-account') {
    const schema = cloudProviderAccount(formats.map(({ providerType }) => providerType));
    const checked = check(schema, root, data, { confidential: true });
    if (!checked.ok) return checked;
    const format = formats.find(({ providerType }) => providerType === checked.value.provider_type);
    const problems = format?.checkAccount(checked.value, root) ?? [];
    if (problems.length > 0) return { ok: false, problems };
    const { name, provider_type, configuration, credentials } = checked.value;
    const credential_names = Object.keys(credentials).toSorted();
    return {
      ok: true,
      value: { record: { category, name, provider_type, configuration, credential_names }, credentials },
    };
  }
  const checked = check(aptAuthentication, root, data, { confidential: true });
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
