import type { CommandContext } from '../../commands/aggregate.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { activationSecretId, INSTALLATION_SECRET_ID } from '../../commands/worker-pools/activation-secret.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';
import { allRegions } from '../ip-control/lookups.ts';

/** A secret that is there (`since` when), or is used and not there (null); and what uses it, in an operator's words. */
export type ListedSecret = Readonly<{ id: string; since: string | null; usedBy: readonly string[] }>;

export type SecretUsesDependencies = Pick<Application, 'catchUp' | 'directory' | 'regions' | 'customers' | 'assets'> &
  Readonly<{ views: Pick<Application['views'], 'administrators' | 'assets' | 'workers'> }>;

export type PutSecretDependencies = Pick<Application, 'secrets' | 'directory' | 'ids'>;

/** What uses a secret. */
type Use = Readonly<{ secretId: string; by: string }>;

/** What signs the cookies of the pages for administrators. */
export const COOKIES_SECRET_ID = 'admin-cookies';
/** What the installation makes for itself, when it is first needed. */
const OWN_SECRETS = [
  { secretId: INSTALLATION_SECRET_ID, by: 'worker pools (the mark of their instances at providers)' },
  { secretId: COOKIES_SECRET_ID, by: 'pages for administrators (their cookies)' },
];

const SECRET_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const SECRET_BYTES_MAX = 64 * 1024;
const REFERENCE = /^secret:(.+)$/;

/** Keeps a secret, in place of the one that has the id. Who did it is recorded, the value never. */
export async function putSecret(
  id: string,
  value: string,
  context: CommandContext,
  { secrets, directory, ids }: PutSecretDependencies,
): Promise<Refusal | Readonly<{ id: string }>> {
  const problem = idProblem(id) ?? valueProblem(id, value);
  if (problem !== undefined) return problem;
  await secrets.put(id, value);
  const command = { type: 'RecordSecretStored', data: { secretId: id, changeId: ids.uuid() } } as const;
  const answer = await directory.handle(DIRECTORY_ID, command, context);
  return isRefusal(answer) ? answer : { id };
}

/** Forgets a secret that nothing uses. */
export async function removeSecret(
  id: string,
  context: CommandContext,
  dependencies: SecretUsesDependencies & Pick<Application, 'secrets'>,
): Promise<Refusal | Readonly<{ id: string }>> {
  const { secrets, directory } = dependencies;
  const problem = idProblem(id);
  if (problem !== undefined) return problem;
  if ((await secrets.get(id)) === undefined) return refuse('not-found', `secret ${id} not found.`, 'id');
  const uses = (await secretUses(dependencies)).get(id);
  if (uses !== undefined) return refuse('secret-in-use', `secret ${id} is used by ${uses.join(', ')}.`, 'id');
  // Recorded first: had it gone before, a crash in between would leave nothing that tells who has removed it.
  const command = { type: 'RecordSecretRemoved', data: { secretId: id } } as const;
  const answer = await directory.handle(DIRECTORY_ID, command, context);
  if (isRefusal(answer)) return answer;
  await secrets.remove(id);
  return { id };
}

/** All secrets that are there or are used, by id. */
export async function listSecrets(
  dependencies: SecretUsesDependencies & Pick<Application, 'secrets'>,
): Promise<readonly ListedSecret[]> {
  const uses = new Map(await secretUses(dependencies));
  const kept = new Map((await dependencies.secrets.list()).map(({ id, since }) => [id, since]));
  // Until these are made they are not missing.
  for (const { secretId } of OWN_SECRETS) if (!kept.has(secretId)) uses.delete(secretId);
  return [...new Set([...kept.keys(), ...uses.keys()])]
    .toSorted()
    .map((id) => ({ id, since: kept.get(id) ?? null, usedBy: uses.get(id) ?? [] }));
}

function idProblem(id: string): Refusal | undefined {
  if (SECRET_ID.test(id)) return undefined;
  const because = 'a secret id has 1 to 128 of A–Z a–z 0–9 _ . - and starts with a letter or digit.';
  return refuse('bad-secret-id', because, 'id');
}

function valueProblem(id: string, value: string): Refusal | undefined {
  if (value === '') return refuse('bad-secret', `the secret ${id} is empty.`, 'value');
  if (Buffer.byteLength(value) <= SECRET_BYTES_MAX) return undefined;
  return refuse('bad-secret', `a secret has at most ${SECRET_BYTES_MAX} bytes.`, 'value');
}

/** Everything that uses a secret, by the secret's id, whether that is there or not. */
async function secretUses(dependencies: SecretUsesDependencies): Promise<ReadonlyMap<string, readonly string[]>> {
  await dependencies.catchUp();
  const uses = [
    ...(await routerUses(dependencies)),
    ...(await customerUses(dependencies)),
    ...(await administratorUses(dependencies)),
    ...(await assetUses(dependencies)),
    ...(await workerUses(dependencies)),
    ...OWN_SECRETS,
  ];
  const byId = new Map<string, string[]>();
  for (const { secretId, by } of uses) byId.set(secretId, [...(byId.get(secretId) ?? []), by]);
  return byId;
}

async function routerUses(dependencies: SecretUsesDependencies): Promise<readonly Use[]> {
  return (await allRegions(dependencies)).flatMap(({ name: region, routers }) =>
    [...routers.values()].flatMap(({ router, options }) =>
      Object.entries(options).flatMap(([option, value]) => {
        const secretId = REFERENCE.exec(value)?.[1];
        return secretId === undefined ? [] : [{ secretId, by: `router ${router} in ${region} (${option})` }];
      }),
    ),
  );
}

async function customerUses({ directory, customers }: SecretUsesDependencies): Promise<readonly Use[]> {
  const known = (await directory.state(DIRECTORY_ID)).state.customers;
  const uses: Use[] = [];
  // One after another: a state may be large, and is let go again.
  for (const customerId of known.keys()) {
    const { state } = await customers.state(customerId);
    if (state.phase === 'unregistered') continue;
    const by = `webhooks of customer ${state.name}`;
    if (state.webhookSecretId !== undefined) uses.push({ secretId: state.webhookSecretId, by });
    for (const { secretId, signs } of state.earlierWebhookSecrets) if (signs) uses.push({ secretId, by });
  }
  return uses;
}

async function administratorUses({ views }: SecretUsesDependencies): Promise<readonly Use[]> {
  return (await views.administrators.list()).map(({ view: { name, secretId } }) => ({
    secretId,
    by: `administrator ${name}`,
  }));
}

async function assetUses({ views, assets }: SecretUsesDependencies): Promise<readonly Use[]> {
  const names = (await views.assets.list()).map(({ view }) => view.name);
  const states = await Promise.all(names.map(async (name) => ({ name, ...(await assets.state(name)).state })));
  return states.flatMap(({ name, secretId }) => (secretId ? [{ secretId, by: `asset ${name}` }] : []));
}

async function workerUses({ views }: SecretUsesDependencies): Promise<readonly Use[]> {
  return (await views.workers.list()).flatMap(({ view: { worker, run } }) =>
    run === null ? [] : [{ secretId: activationSecretId(run), by: `worker ${worker}` }],
  );
}
