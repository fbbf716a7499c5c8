import { DIRECTORY_ID } from '../commands/ip-control/directory.ts';
import type { Registered } from '../commands/ip-control/customer-state.ts';
import type { CreatedRegion } from '../commands/ip-control/region-state.ts';
import type { House } from '../application/application.ts';
import { notFound, usage } from './output.ts';

/** A customer by name or number. @throws CommandFailure not found */
export async function findCustomer(
  house: Pick<House, 'directory' | 'customers'>,
  nameOrId: string,
): Promise<Registered> {
  const { customers } = (await house.directory.state(DIRECTORY_ID)).state;
  const id = [...customers].find(([customerId, { name }]) => name === nameOrId || String(customerId) === nameOrId)?.[0];
  const state = id === undefined ? undefined : (await house.customers.state(id)).state;
  if (state?.phase !== 'registered') throw notFound(`customer ${nameOrId} not found.`);
  return state;
}

/** A region by name or number. @throws CommandFailure not found */
export async function findRegion(
  house: Pick<House, 'directory' | 'regions'>,
  nameOrId: string,
): Promise<CreatedRegion> {
  const { regions } = (await house.directory.state(DIRECTORY_ID)).state;
  const byName = [...regions].find(([, name]) => name === nameOrId);
  const id = (byName ?? [...regions].find(([regionId]) => String(regionId) === nameOrId))?.[0];
  const state = id === undefined ? undefined : (await house.regions.state(id)).state;
  if (state?.phase !== 'created') throw notFound(`region ${nameOrId} not found.`);
  return state;
}

/** All regions, by number. */
export async function allRegions(house: House): Promise<readonly CreatedRegion[]> {
  const { regions } = (await house.directory.state(DIRECTORY_ID)).state;
  const states = await Promise.all([...regions.keys()].map((id) => house.regions.state(id)));
  return states.flatMap(({ state }) => (state.phase === 'created' ? [state] : []));
}

/** A router by its name alone, where only one region has it, or by region and name. @throws CommandFailure */
export async function findRouter(house: House, first: string, second: string | undefined) {
  const regions = second === undefined ? await allRegions(house) : [await findRegion(house, first)];
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
