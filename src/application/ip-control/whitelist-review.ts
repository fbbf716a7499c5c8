import { createHash } from 'node:crypto';
import type { CommandContext } from '../../commands/aggregate.ts';
import type { SourceWhitelistCommand } from '../../commands/ip-control/source-whitelist.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import { regionLimits } from '../../domain/ip-control/region-limits.ts';
import {
  newestFirst,
  type Progress,
  type WhitelistStatus,
  whitelistStatus,
} from '../../domain/ip-control/source-whitelist-ledger.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { EvidenceStore } from '../../ports/evidence.ts';
import type { WhitelistRequestView } from '../../projections/ip-control/source-whitelist-request-view.ts';
import type { Application } from '../application.ts';
import { isNamedBy, severalBegin } from '../ids-by-prefix.ts';
import { type CustomerLookup, findCustomer, findRegion, notFound, type RegionLookup } from './lookups.ts';

type ReviewDependencies = CustomerLookup & Pick<Application, 'catchUp' | 'views'>;

/** A request that was not removed. */
export type ListedRequest = Readonly<{
  requestId: string;
  /** By name, or by number where it is not known. */
  customer: string | number;
  input: string;
  regions: readonly string[];
  status: WhitelistStatus;
  autoApproved: boolean;
  submittedAt: string;
}>;

/** A request and what people did with it. `status`: null once it is removed. */
export type ShownRequest = Omit<WhitelistRequestView, 'customerId' | 'regionIds'> &
  Readonly<{
    customer: string | number;
    status: WhitelistStatus | null;
    regions: readonly Readonly<{ name: string; deployment: Progress | null }>[];
  }>;

/** A request after it was decided. `status`: null where it is removed; `isNew`: whether that was not so before. */
export type DecidedRequest = Readonly<{ requestId: string; status: WhitelistStatus | null; isNew: boolean }>;

/** The evidence of a request: what is known of the file, and a way to copy it. */
export type RequestEvidence = Pick<WhitelistRequestView, 'requestId' | 'evidence'> &
  Readonly<{
    /** Gives the bytes piece by piece; refused with `evidence-missing`, or with `evidence-altered` after the last of them. */
    copy: (write: (piece: Uint8Array) => Promise<void>) => Promise<Refusal | undefined>;
  }>;

/** Where a request is among all, whatever has become of it. */
export type RequestPlace = Readonly<{ requestId: string; submittedAt: string }>;

/** Which requests; what is not named does not matter. `since`: submitted then or later, in epoch milliseconds. */
export type RequestFilter = Readonly<{
  customer?: string | undefined;
  status?: string | undefined;
  region?: string | undefined;
  since?: number | undefined;
  behind?: RequestPlace | undefined;
}>;

/** Requests that were not removed, newest first. */
export async function listRequests(
  { customer, status, region: regionName, since, behind }: RequestFilter,
  dependencies: ReviewDependencies & RegionLookup,
): Promise<readonly ListedRequest[] | Refusal> {
  await dependencies.catchUp();
  const only = customer === undefined ? undefined : await findCustomer(customer, dependencies);
  if (only !== undefined && isRefusal(only)) return only;
  const region = regionName === undefined ? undefined : await findRegion(regionName, dependencies);
  if (region !== undefined && isRefusal(region)) return region;
  const views = (await dependencies.views.sourceWhitelists.list()).map(({ view }) => view);
  const requests = views
    .filter(({ customerId }) => only === undefined || customerId === only.customerId)
    .flatMap((view) => newestFirst(view).map((request) => ({ ...request, customerId: view.customerId })))
    .filter((request) => status === undefined || whitelistStatus(request) === status)
    .filter(({ regionIds }) => region === undefined || regionIds.includes(region.regionId))
    .filter(({ submittedAt }) => since === undefined || epochMilliseconds(submittedAt) >= since)
    .filter((request) => behind === undefined || newestFirstOf(behind, request) < 0)
    .toSorted(newestFirstOf);
  return Promise.all(
    requests.map(async (request) => ({
      requestId: request.requestId,
      customer: await customerName(request.customerId, dependencies),
      input: request.input,
      regions: await regionNames(request.regionIds, dependencies),
      status: whitelistStatus(request),
      autoApproved: request.autoApproved,
      submittedAt: request.submittedAt,
    })),
  );
}

/** The place behind which the next page begins; undefined where there was never such a request. */
export async function placeOfRequest(
  requestId: string,
  { views }: Readonly<{ views: Pick<Application['views'], 'whitelistRequests'> }>,
): Promise<RequestPlace | undefined> {
  const view = await views.whitelistRequests.get(requestId);
  return view && { requestId, submittedAt: view.submitted.at };
}

/** Of one instant by their ids: each has a place of its own. */
function newestFirstOf(a: RequestPlace, b: RequestPlace): number {
  if (a.submittedAt !== b.submittedAt) return a.submittedAt < b.submittedAt ? 1 : -1;
  return a.requestId < b.requestId ? -1 : Number(a.requestId !== b.requestId);
}

/** The whole id of a request by the beginning of it that no other has, removed ones too. */
export async function requestNamed(
  beginning: string,
  dependencies: ReviewDependencies,
): Promise<Readonly<{ requestId: string }> | Refusal> {
  await dependencies.catchUp();
  const { whitelistRequests } = dependencies.views;
  const all = beginning === '' ? [] : await whitelistRequests.list(beginning.toLowerCase());
  const found = all.map(({ view }) => view).filter(({ requestId }) => isNamedBy(requestId, beginning));
  const [only, another] = found;
  if (only === undefined) return notFound(`source whitelist request ${beginning} not found.`, 'id');
  if (another === undefined) return only;
  const candidates = await Promise.all(
    found.map(async ({ requestId: id, customerId, input }) => ({
      id,
      about: `${await customerName(customerId, dependencies)}, ${input}`,
    })),
  );
  return refuse('ambiguous-request', severalBegin(beginning, 'requests', candidates), 'id');
}

/** A request by its id, removed ones too. */
export async function showRequest(id: string, dependencies: ReviewDependencies): Promise<ShownRequest | Refusal> {
  const found = await findRequest(id, dependencies);
  if (isRefusal(found)) return found;
  const { customerId, regionIds, ...request } = found;
  const { whitelist } = (await dependencies.views.sourceWhitelists.get(String(customerId))) ?? {};
  const current = whitelist?.requests.get(request.requestId);
  const progress = current?.review.phase === 'approved' ? current.review.progress : undefined;
  const names = await regionNames(regionIds, dependencies);
  return {
    ...request,
    customer: await customerName(customerId, dependencies),
    status: current === undefined ? null : whitelistStatus(current),
    regions: names.map((name, at) => ({ name, deployment: progress?.get(regionIds[at] ?? 0) ?? null })),
  };
}

/** Accepts a request: it is deployed with the next commit of its regions. */
export async function approveRequest(
  id: string,
  context: CommandContext,
  dependencies: ReviewDependencies,
): Promise<DecidedRequest | Refusal> {
  await dependencies.catchUp();
  const limits = regionLimits((await dependencies.views.regions.list()).map(({ view }) => view));
  const approve = (requestId: string) => ({ type: 'ApproveSourceWhitelist', data: { requestId, limits } }) as const;
  return decide(id, approve, context, dependencies);
}

/** Declines a request; the reason is for the record. */
export async function rejectRequest(
  { id, reason }: Readonly<{ id: string; reason: string }>,
  context: CommandContext,
  dependencies: ReviewDependencies,
): Promise<DecidedRequest | Refusal> {
  const reject = (requestId: string) => ({ type: 'RejectSourceWhitelist', data: { requestId, reason } }) as const;
  return decide(id, reject, context, dependencies);
}

/** The evidence of a request, of removed ones too. */
export async function requestEvidence(
  id: string,
  dependencies: ReviewDependencies & Readonly<{ evidence: Pick<EvidenceStore, 'read'> }>,
): Promise<RequestEvidence | Refusal> {
  const found = await findRequest(id, dependencies);
  if (isRefusal(found)) return found;
  const { requestId, customerId, evidence } = found;
  const { sha256 } = evidence;
  return {
    requestId,
    evidence,
    copy: async (write) => {
      const pieces = await dependencies.evidence.read({ customerId, sha256 });
      if (pieces === undefined) return refuse('evidence-missing', `the evidence of request ${requestId} is missing.`);
      const hash = createHash('sha256');
      for await (const piece of pieces) {
        hash.update(piece);
        await write(piece);
      }
      if (hash.digest('hex') === sha256) return undefined;
      return refuse('evidence-altered', `the evidence of request ${requestId} was altered.`);
    },
  };
}

async function decide(
  id: string,
  commandFor: (requestId: string) => SourceWhitelistCommand,
  context: CommandContext,
  dependencies: ReviewDependencies,
): Promise<DecidedRequest | Refusal> {
  const found = await findRequest(id, dependencies);
  if (isRefusal(found)) return found;
  const { customerId, requestId } = found;
  const answer = await dependencies.customers.handle(customerId, commandFor(requestId), context);
  if (isRefusal(answer)) return withDecision(answer, requestId, dependencies);
  const { state, events } = answer;
  const request = state.phase === 'registered' ? state.whitelist.requests.get(requestId) : undefined;
  return { requestId, status: request === undefined ? null : whitelistStatus(request), isNew: events.length > 0 };
}

/** Another person was faster: who that was, and when. */
async function withDecision(refusal: Refusal, requestId: string, dependencies: ReviewDependencies): Promise<Refusal> {
  if (refusal.refused !== 'source-whitelist-decided') return refusal;
  const found = await findRequest(requestId, dependencies);
  if (isRefusal(found) || found.decided === null) return refusal;
  const { by, at } = found.decided;
  return { ...refusal, because: `${refusal.because} It was decided by ${by} at ${at}.` };
}

async function findRequest(
  id: string,
  { catchUp, views }: ReviewDependencies,
): Promise<WhitelistRequestView | Refusal> {
  await catchUp();
  const view = await views.whitelistRequests.get(id.toLowerCase());
  return view ?? notFound(`source whitelist request ${id} not found.`, 'id');
}

async function customerName(customerId: number, { views }: ReviewDependencies): Promise<string | number> {
  return (await views.customers.get(String(customerId)))?.name ?? customerId;
}

function regionNames(regionIds: readonly number[], { views }: ReviewDependencies): Promise<readonly string[]> {
  return Promise.all(regionIds.map(async (id) => (await views.regions.get(String(id)))?.name ?? String(id)));
}
