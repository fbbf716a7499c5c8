import { orLate } from '../../concurrency/deadline.ts';
import type { CommandContext } from '../../commands/aggregate.ts';
import { DIRECTORY_ID, subnetsRefusal } from '../../commands/ip-control/directory.ts';
import { endRegionRemoval } from '../../commands/ip-control/end-region-removal.ts';
import type { CreatedRegion } from '../../commands/ip-control/region-state.ts';
import type { RegionLimits } from '../../commands/ip-control/prefix-limit.ts';
import { regionLimits } from '../../domain/ip-control/region-limits.ts';
import { deployPolicy, type DeployPolicy } from '../../events/ip-control/vocabulary.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Views } from '../../projections/engine/keyed-views.ts';
import type { RegionView } from '../../projections/ip-control/region-view.ts';
import type { Application } from '../application.ts';
import { allRegions, findRegion, regionNamed, type RegionLookup } from './lookups.ts';

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

/**
 * Removes a region that nothing uses; its name is free again. Refused with `region-in-use` while it has routers or subnets. Its own stream says
 * first that it is to be removed, and takes no router from then on; the directory then releases its name, or else it stays: a process ends
 * what was begun here.
 */
export async function removeRegion(
  nameOrNumber: string,
  context: CommandContext,
  lookup: RegionLookup,
): Promise<RegionSummary | Refusal> {
  const region = await findRegion(nameOrNumber, lookup);
  if (isRefusal(region)) return region;
  const { regionId, name, deployPolicy: policy, routers } = region;
  // Routers are told of first: with some of them its own stream refuses.
  const inUse =
    routers.size > 0 ? undefined : subnetsRefusal(regionId, (await lookup.directory.state(DIRECTORY_ID)).state);
  if (inUse !== undefined) return inUse;
  const begun = await lookup.regions.handle(regionId, { type: 'BeginRegionRemoval', data: {} }, context);
  if (isRefusal(begun)) return begun;
  const ended = await endRegionRemoval(regionId, context, lookup);
  return ended ?? { regionId, name, deployPolicy: policy, routers: 0 };
}

/** Makes a region of that name, never of that number, be as it is given; without a policy every router takes a list for itself. */
export async function ensureRegion(
  { name, deployPolicy: policy }: Readonly<{ name: string; deployPolicy: DeployPolicy }>,
  context: CommandContext,
  lookup: RegionLookup,
): Promise<Readonly<{ region: RegionSummary; isNew: boolean }> | Refusal> {
  const isNew = isRefusal(await regionNamed(name, lookup));
  const region = isNew
    ? await createRegion({ name, deployPolicy: policy }, context, lookup)
    : await chooseDeployPolicy({ region: name, deployPolicy: policy }, context, lookup);
  return isRefusal(region) ? region : { region, isNew };
}

/** A region by name or number, and the revision of its stream. */
export async function regionRevision(
  nameOrNumber: string,
  lookup: RegionLookup,
): Promise<Readonly<{ region: RegionSummary; revision: bigint }> | Refusal> {
  const found = await findRegion(nameOrNumber, lookup);
  return isRefusal(found) ? found : revisionOf(found, lookup);
}

/** A region by its name alone, and the revision of its stream. */
export async function namedRegionRevision(
  name: string,
  lookup: RegionLookup,
): Promise<Readonly<{ region: RegionSummary; revision: bigint }> | Refusal> {
  const found = await regionNamed(name, lookup);
  return isRefusal(found) ? found : revisionOf(found, lookup);
}

async function revisionOf(found: CreatedRegion, lookup: RegionLookup) {
  const { state, revision } = await lookup.regions.state(found.regionId);
  const { regionId, name, deployPolicy: policy, routers } = state.phase === 'created' ? state : found;
  return { region: { regionId, name, deployPolicy: policy, routers: routers.size }, revision };
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

/** When each region was created. */
export async function regionsCreatedAt({
  catchUp,
  views,
}: Pick<Application, 'catchUp'> & Readonly<{ views: Pick<Application['views'], 'regions'> }>): Promise<
  ReadonlyMap<number, string>
> {
  await catchUp();
  return new Map((await views.regions.list()).map(({ view }) => [view.regionId, view.createdAt]));
}

/** Limits change when an operator changes routers; a change of theirs counts for the customers' after this at the latest. */
const REMEMBERED_MILLISECONDS = 250;
/** A change does not wait longer than this for the read models when older limits are known. */
const PATIENCE_MILLISECONDS = 100;

/**
 * Gives the limits of all regions to each change of a customer. Reading the regions for every change would cost a read of the read
 * models each, and would refuse changes while these are away: limits that were read before serve until newer ones have come.
 */
export function rememberedRegionLimits(
  regions: Pick<Views<RegionView>, 'list'>,
  clock: Clock,
): () => Promise<RegionLimits> {
  let known: Readonly<{ limits: RegionLimits; until: number }> | undefined;
  let reading: Promise<RegionLimits> | undefined;

  const read = async (): Promise<RegionLimits> => {
    try {
      const limits = regionLimits((await regions.list()).map(({ view }) => view));
      known = { limits, until: clock.monotonicMilliseconds() + REMEMBERED_MILLISECONDS };
      return limits;
    } finally {
      reading = undefined;
    }
  };

  return async () => {
    if (known !== undefined && clock.monotonicMilliseconds() < known.until) return known.limits;
    reading ??= read();
    if (known === undefined) return reading;
    const { limits } = known;
    const newer = await orLate(
      reading.catch(() => limits),
      PATIENCE_MILLISECONDS,
      clock,
    );
    return newer === 'late' ? limits : newer;
  };
}
