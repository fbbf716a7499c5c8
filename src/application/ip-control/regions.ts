import type { CommandContext } from '../../commands/aggregate.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { type DeployPolicy, deployPolicy } from '../../events/ip-control/vocabulary.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import { invariant } from '../../kernel/invariant.ts';
import { allRegions, findRegion, type RegionLookup } from './lookups.ts';

/** A region: how commits treat its routers, and how many those are. */
export type RegionSummary = Readonly<{
  regionId: number;
  name: string;
  deployPolicy: DeployPolicy;
  routers: number;
}>;

/** How commits may treat the routers of a region. */
export const DEPLOY_POLICIES: readonly DeployPolicy[] = deployPolicy.options;

/** Creates a region; without a policy every router takes a list for itself. */
export async function createRegion(
  { name, deployPolicy: policy = 'each' }: Readonly<{ name: string; deployPolicy?: DeployPolicy | undefined }>,
  context: CommandContext,
  { directory, regions }: RegionLookup,
): Promise<RegionSummary | Refusal> {
  const reserved = await directory.handle(DIRECTORY_ID, { type: 'ReserveRegionName', data: { name } }, context);
  if (isRefusal(reserved)) return reserved;
  const [reservation] = reserved.events;
  invariant(reservation?.type === 'RegionNameReserved', 'a new name is reserved');
  const { regionId } = reservation.data;
  const created = await regions.handle(regionId, { type: 'CreateRegion', data: { regionId, name } }, context);
  if (isRefusal(created)) return created;
  const command = { type: 'ChooseDeployPolicy', data: { deployPolicy: policy } } as const;
  const chosen = await regions.handle(regionId, command, context);
  return isRefusal(chosen) ? chosen : { regionId, name, deployPolicy: policy, routers: 0 };
}

/** Changes how commits treat the routers of a region, which is named by name or number. */
export async function chooseDeployPolicy(
  { region: nameOrNumber, deployPolicy: policy }: Readonly<{ region: string; deployPolicy: DeployPolicy }>,
  context: CommandContext,
  lookup: RegionLookup,
): Promise<RegionSummary | Refusal> {
  const region = await findRegion(nameOrNumber, lookup);
  if (isRefusal(region)) return region;
  const { regionId, name, routers } = region;
  const command = { type: 'ChooseDeployPolicy', data: { deployPolicy: policy } } as const;
  const answer = await lookup.regions.handle(regionId, command, context);
  return isRefusal(answer) ? answer : { regionId, name, deployPolicy: policy, routers: routers.size };
}

/** All regions, by number. */
export async function listRegions(lookup: RegionLookup): Promise<readonly RegionSummary[]> {
  return (await allRegions(lookup)).map(({ regionId, name, deployPolicy: policy, routers }) => ({
    regionId,
    name,
    deployPolicy: policy,
    routers: routers.size,
  }));
}
