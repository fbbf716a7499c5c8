import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { activationSecretId } from '../../commands/worker-pools/activation-secret.ts';
import type { Application } from '../../application/application.ts';
import { allRegions } from '../lookup.ts';

/** What uses a secret, in an operator's words. */
type Use = Readonly<{ secretId: string; by: string }>;

const REFERENCE = /^secret:(.+)$/;

/** Everything that uses a secret, by the secret's id, whether that is there or not. */
export async function secretUses(application: Application): Promise<ReadonlyMap<string, readonly string[]>> {
  await application.catchUp();
  const uses = [
    ...(await routerUses(application)),
    ...(await customerUses(application)),
    ...(await administratorUses(application)),
    ...(await assetUses(application)),
    ...(await workerUses(application)),
  ];
  const byId = new Map<string, string[]>();
  for (const { secretId, by } of uses) byId.set(secretId, [...(byId.get(secretId) ?? []), by]);
  return byId;
}

async function routerUses(application: Application): Promise<readonly Use[]> {
  return (await allRegions(application)).flatMap(({ name: region, routers }) =>
    [...routers.values()].flatMap(({ router, options }) =>
      Object.entries(options).flatMap(([option, value]) => {
        const secretId = REFERENCE.exec(value)?.[1];
        return secretId === undefined ? [] : [{ secretId, by: `router ${router} in ${region} (${option})` }];
      }),
    ),
  );
}

async function customerUses(application: Application): Promise<readonly Use[]> {
  const { customers } = (await application.directory.state(DIRECTORY_ID)).state;
  const uses: Use[] = [];
  // One after another: a state may be large, and is let go again.
  for (const customerId of customers.keys()) {
    const { state } = await application.customers.state(customerId);
    if (state.phase === 'unregistered') continue;
    const by = `webhooks of customer ${state.name}`;
    if (state.webhookSecretId !== undefined) uses.push({ secretId: state.webhookSecretId, by });
    for (const { secretId, signs } of state.earlierWebhookSecrets) if (signs) uses.push({ secretId, by });
  }
  return uses;
}

async function administratorUses({ views }: Application): Promise<readonly Use[]> {
  return (await views.administrators.list()).map(({ view: { name, secretId } }) => ({
    secretId,
    by: `administrator ${name}`,
  }));
}

async function assetUses({ views, assets }: Application): Promise<readonly Use[]> {
  const names = (await views.assets.list()).map(({ view }) => view.name);
  const states = await Promise.all(names.map(async (name) => ({ name, ...(await assets.state(name)).state })));
  return states.flatMap(({ name, secretId }) => (secretId ? [{ secretId, by: `asset ${name}` }] : []));
}

async function workerUses({ views }: Application): Promise<readonly Use[]> {
  return (await views.workers.list()).flatMap(({ view: { worker, run } }) =>
    run === null ? [] : [{ secretId: activationSecretId(run), by: `worker ${worker}` }],
  );
}
