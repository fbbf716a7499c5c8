import { DIRECTORY_ID } from '../commands/ip-control/directory.ts';
import type { Registered } from '../commands/ip-control/customer-state.ts';
import type { CreatedRegion } from '../commands/ip-control/region-state.ts';
import type { Application } from '../application/application.ts';
import { notFound, usage } from './output.ts';

/** A customer by name or number. @throws CommandFailure not found */
export async function findCustomer(
  application: Pick<Application, 'directory' | 'customers'>,
  nameOrId: string,
): Promise<Registered> {
  const { customers } = (await application.directory.state(DIRECTORY_ID)).state;
  const id = [...customers].find(([customerId, { name }]) => name === nameOrId || String(customerId) === nameOrId)?.[0];
  const state = id === undefined ? undefined : (await application.customers.state(id)).state;
  if (state?.phase !== 'registered') throw notFound(`customer ${nameOrId} not found.`);
  return state;
}

/** A region by name or number. @throws CommandFailure not found */
export async function findRegion(
  application: Pick<Application, 'directory' | 'regions'>,
  nameOrId: string,
): Promise<CreatedRegion> {
  const { regions } = (await application.directory.state(DIRECTORY_ID)).state;
  const byName = [...regions].find(([, name]) => name === nameOrId);
  const id = (byName ?? [...regions].find(([regionId]) => String(regionId) === nameOrId))?.[0];
  const state = id === undefined ? undefined : (await application.regions.state(id)).state;
  if (state?.phase !== 'created') throw notFound(`region ${nameOrId} not found.`);
  return state;
}

/** All regions, by number. */
export async function allRegions(application: Application): Promise<readonly CreatedRegion[]> {
  const { regions } = (await application.directory.state(DIRECTORY_ID)).state;
  const states = await Promise.all([...regions.keys()].map((id) => application.regions.state(id)));
  return states.flatMap(({ state }) => (state.phase === 'created' ? [state] : []));
}

/** A router by its name alone, where only one region has it, or by region and name. @throws CommandFailure */
export async function findRouter(application: Application, first: string, second: string | undefined) {
  const regions = second === undefined ? await allRegions(application) : [await findRegion(application, first)];
  const name = second ?? first;
  const found = regions.flatMap((region) => {
    const router = region.routers.get(name);
    return router === undefined ? [] : [{ region, router }];
  });
  const [only, another] = found;
  if (only === undefined) throw notFound(`router ${name} not found.`);
  if (another !== undefined) throw usage(`several regions have a router ${name}: name the region first.`);
  return only;
}
