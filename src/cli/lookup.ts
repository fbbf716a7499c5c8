import type { Application } from '../application/application.ts';
import * as lookups from '../application/ip-control/lookups.ts';
import { accepted } from './output.ts';

/** A customer by name or number. @throws CommandFailure not found */
export async function findCustomer(application: lookups.CustomerLookup, nameOrId: string) {
  return accepted(await lookups.findCustomer(nameOrId, application));
}

/** A region by name or number. @throws CommandFailure not found */
export async function findRegion(application: lookups.RegionLookup, nameOrId: string) {
  return accepted(await lookups.findRegion(nameOrId, application));
}

/** All regions, by number. */
export function allRegions(application: lookups.RegionLookup) {
  return lookups.allRegions(application);
}

/** A router by its name alone, where only one region has it, or by region and name. @throws CommandFailure */
export async function findRouter(application: Application, first: string, second: string | undefined) {
  const name = second === undefined ? { router: first } : { region: first, router: second };
  return accepted(await lookups.findRouter(name, application));
}
