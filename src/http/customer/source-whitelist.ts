import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { WhitelistSubmission } from '../../commands/ip-control/source-whitelist.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import type { CustomerState } from '../../commands/ip-control/customer-state.ts';
import type { Aggregate, CommandContext } from '../../commands/aggregate.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { recordProven } from '../../application/ip-control/proven-request.ts';
import type { Evidence } from '../../events/ip-control/source-whitelist.ts';
import {
  EMPTY_WHITELIST,
  newestFirst,
  replayedRequest,
  type SourceWhitelist,
  usedEntries,
  type WhitelistRequest,
  whitelistStatus,
} from '../../domain/ip-control/source-whitelist-ledger.ts';
import { type Grounds, saidOf } from '../../domain/grounds.ts';
import { isRefusal } from '../../kernel/decider.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { EvidenceDraft, EvidenceStore, StoredEvidence } from '../../ports/evidence.ts';
import type { Ids } from '../../ports/ids.ts';
import type { RegionLimits } from '../../commands/ip-control/prefix-limit.ts';
import type { RegionView } from '../../projections/ip-control/region-view.ts';
import type { SourceWhitelistView } from '../../projections/ip-control/source-whitelist-view.ts';
import type { Views } from '../../projections/engine/keyed-views.ts';
import { type FieldErrors, invalid, type Problem, refused, sendJson, sendProblem } from '../problems.ts';
import { queryErrors, refuseQuery } from '../middleware/query.ts';
import { callerOf, contextOf } from '../middleware/request-context.ts';
import { receiveUpload, type Upload } from '../middleware/uploads.ts';
import { requireWhole } from '../middleware/whole-requests.ts';
import { CUSTOMER_PROBLEMS, type Operation, problemAnswers, type Route } from '../route.ts';
import {
  evidenceType,
  submissionForm,
  type WhitelistFields,
  whitelistFields,
  whitelistForm,
  whitelistGrounds,
} from './source-whitelist-form.ts';

export type SourceWhitelistViews = Readonly<{
  sourceWhitelists: Views<SourceWhitelistView>;
  regions: Views<RegionView>;
}>;

export type SourceWhitelistDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  views: SourceWhitelistViews;
  evidence: EvidenceStore;
  ids: Ids;
  /** How many entries the routers of each region take. */
  regionLimits: () => Promise<RegionLimits>;
  /** Waits (bounded) until every view shows this position. */
  shown: (position: bigint) => Promise<boolean>;
}>;

const REGION_ID = /^[1-9]\d{0,14}$/;
const NOT_ALLOWED: Problem = { status: 403, message: 'source whitelist is not enabled for your account' };

const PATH = '/source-whitelist';
const requestSchema = z.strictObject({
  request_id: z.uuid(),
  input: z.string(),
  regions: z.array(z.string()),
  status: z.enum(['pending_review', 'pending_deploy', 'active', 'rejected', 'failed']),
  auto_approved: z.boolean(),
});
const usage = z.strictObject({ used: z.int().nonnegative(), limit: z.int().nonnegative() });
const submitted = z.strictObject({ data: requestSchema, meta: usage });

const listRequests = {
  method: 'GET',
  path: PATH,
  scope: 'customer',
  request: {},
  answers: {
    200: z.strictObject({
      data: z.array(requestSchema.extend({ created_at: z.iso.datetime({ offset: true }) })),
      meta: usage,
    }),
    ...CUSTOMER_PROBLEMS,
    ...problemAnswers(403),
  },
} as const satisfies Operation;

const submitRequest = {
  method: 'POST',
  path: PATH,
  scope: 'customer',
  request: { body: { contentType: 'multipart/form-data', schema: submissionForm } },
  /** 200: the same was submitted before. */
  answers: { 200: submitted, 201: submitted, ...CUSTOMER_PROBLEMS, ...problemAnswers(400, 403, 413, 415) },
} as const satisfies Operation;

const removeRequest = {
  method: 'DELETE',
  path: `${PATH}/{request_id}`,
  scope: 'customer',
  request: { params: z.strictObject({ request_id: z.uuid() }) },
  answers: {
    200: z.strictObject({ data: z.strictObject({ request_id: z.uuid(), status: z.literal('removed') }) }),
    ...CUSTOMER_PROBLEMS,
    ...problemAnswers(403, 404, 413),
  },
} as const satisfies Operation;

/** What a customer does with its source whitelist. @public what describes the API is made from it */
export const SOURCE_WHITELIST_OPERATIONS: readonly Operation[] = [listRequests, submitRequest, removeRequest];

/** What a customer does with its source whitelist, carried out. */
export function sourceWhitelistRoutes(dependencies: SourceWhitelistDependencies): readonly Route[] {
  const { views } = dependencies;
  return [
    {
      ...listRequests,
      handle: [requireAllowed, refuseQuery, (_request, response) => sendRequests(response, views)],
    },
    {
      ...submitRequest,
      handle: [requireAllowed, (asked, response) => submit(asked, response, dependencies)],
    },
    {
      ...removeRequest,
      handle: [
        requireAllowed,
        refuseQuery,
        requireWhole,
        (asked, response) => remove(String(asked.params['request_id']).toLowerCase(), response, dependencies),
      ],
    },
  ];
}

/** The account flag comes before everything that is read of the request. */
const requireAllowed: RequestHandler = (_request, response, next) => {
  if (callerOf(response).customer.settings.allowSourceWhitelist) next();
  else sendProblem(response, NOT_ALLOWED);
};

async function sendRequests(response: Response, views: SourceWhitelistViews): Promise<void> {
  const { customerId, settings } = callerOf(response).customer;
  const view = await views.sourceWhitelists.get(String(customerId));
  const requests = view === undefined ? [] : newestFirst(view);
  const data = await Promise.all(
    requests.map(async (request) => ({ ...(await shownRequest(request, views)), created_at: request.submittedAt })),
  );
  sendJson(response, 200, { data, meta: metaOf(view?.whitelist ?? EMPTY_WHITELIST, settings.whitelistLimit) });
}

async function shownRequest(request: WhitelistRequest, { regions }: SourceWhitelistViews) {
  const names = request.regionIds.map(async (id) => (await regions.get(String(id)))?.name ?? String(id));
  return {
    request_id: request.requestId,
    input: request.input,
    regions: await Promise.all(names),
    status: whitelistStatus(request),
    auto_approved: request.autoApproved,
  };
}

async function submit(request: Request, response: Response, dependencies: SourceWhitelistDependencies): Promise<void> {
  const received = await receive(request, response, dependencies);
  if ('problem' in received) return answer(response, received);
  const { stored, submission, grounds } = received;
  const decided = await recordProven(stored, () => record(submission, grounds, response, dependencies));
  if ('problem' in decided) return answer(response, decided);
  await dependencies.shown(decided.position);
  const data = await shownRequest(decided.request, dependencies.views);
  sendJson(response, decided.isNew ? 201 : 200, { data, meta: decided.meta });
}

type Received = Readonly<{ stored: StoredEvidence; submission: WhitelistSubmission; grounds: Grounds }>;

/** Reads the form and stores the evidence; whatever is wrong with either leaves nothing on disk. */
async function receive(
  request: Request,
  response: Response,
  { evidence, ids, views }: SourceWhitelistDependencies,
): Promise<Received | Readonly<{ problem: Problem }>> {
  const { customerId, settings } = callerOf(response).customer;
  const sink = new EvidenceSink(evidence, customerId);
  try {
    const form = whitelistForm(settings.evidenceMaxBytes);
    const upload = await receiveUpload(request, form, (bytes) => sink.write(bytes));
    if ('problem' in upload) return upload;
    const read = await readForm(upload, views, queryErrors(request));
    if ('problem' in read) return read;
    const stored = await sink.store();
    const { sha256, bytes } = stored;
    const submission = { ...read.fields, requestId: ids.uuid(), evidence: { sha256, bytes, ...read.file } };
    return { stored, submission, grounds: read.grounds };
  } finally {
    await sink.discard();
  }
}

/** Where an upload goes: a draft from its first byte on, which is discarded unless it was stored. */
class EvidenceSink {
  readonly #evidence: EvidenceStore;
  readonly #customerId: number;
  #draft: EvidenceDraft | undefined;

  constructor(evidence: EvidenceStore, customerId: number) {
    this.#evidence = evidence;
    this.#customerId = customerId;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#draft ??= await this.#evidence.begin(this.#customerId);
    await this.#draft.write(bytes);
  }

  async store(): Promise<StoredEvidence> {
    invariant(this.#draft, 'something was written');
    const stored = await this.#draft.store();
    this.#draft = undefined;
    return stored;
  }

  async discard(): Promise<void> {
    await this.#draft?.discard();
  }
}

type ReadForm = Readonly<{ fields: WhitelistFields; grounds: Grounds; file: Pick<Evidence, 'mediaType' | 'fileName'> }>;

async function readForm(
  { fields, file, wrong }: Upload,
  { regions }: SourceWhitelistViews,
  query: FieldErrors,
): Promise<ReadForm | Readonly<{ problem: Problem }>> {
  const errors = new Map(Object.entries({ ...query, ...wrong }));
  const report = (field: string, message: string): void => {
    if (!errors.has(field)) errors.set(field, [message]);
  };
  const read = await whitelistFields(fields, (text) => findRegion(text, regions), report);
  const grounds = whitelistGrounds(fields, report);
  const type = file === undefined ? { problem: 'is required.' } : await evidenceType(file);
  if ('problem' in type) report('evidence', type.problem);
  if (errors.size > 0 || read === undefined || file === undefined || 'problem' in type)
    return { problem: invalid(Object.fromEntries(errors)) };
  return { fields: read, grounds, file: { mediaType: type.mediaType, fileName: file.fileName } };
}

/** A region by its number or its name; what could be either is the number. */
async function findRegion(text: string, regions: Views<RegionView>): Promise<RegionView | undefined> {
  const numbered = REGION_ID.test(text) ? await regions.get(text) : undefined;
  if (numbered !== undefined) return numbered;
  return (await regions.list()).find(({ view }) => view.name === text)?.view;
}

type Decided =
  | Readonly<{ isNew: boolean; request: WhitelistRequest; meta: ReturnType<typeof metaOf>; position: bigint }>
  | Readonly<{ isNew: false; problem: Problem }>;

async function record(
  submission: WhitelistSubmission,
  grounds: Grounds,
  response: Response,
  { customers, regionLimits }: SourceWhitelistDependencies,
): Promise<Decided> {
  const limits = await regionLimits();
  const { customer, tokenId } = callerOf(response);
  const command = { type: 'SubmitSourceWhitelist', data: { ...submission, limits, tokenId } } as const;
  const context = { ...contextFor(response), ...saidOf(grounds) };
  const decision = await customers.handle(customer.customerId, command, context);
  if (isRefusal(decision)) return { isNew: false, problem: refused(decision) };
  const { state, events, position } = decision;
  invariant(state.phase === 'registered', 'who submits is a customer');
  const isNew = events.length > 0;
  const { whitelist, settings } = state;
  const request = isNew ? whitelist.requests.get(submission.requestId) : replayedRequest(whitelist, submission);
  invariant(request, 'what was submitted is there');
  return { isNew, request, meta: metaOf(whitelist, settings.whitelistLimit), position };
}

function metaOf(whitelist: SourceWhitelist, limit: number) {
  return { used: usedEntries(whitelist), limit };
}

async function remove(
  requestId: string,
  response: Response,
  { customers, shown }: SourceWhitelistDependencies,
): Promise<void> {
  const { customer, tokenId } = callerOf(response);
  const command = { type: 'RemoveSourceWhitelist', data: { requestId, tokenId } } as const;
  const decision = await customers.handle(customer.customerId, command, contextFor(response));
  if (isRefusal(decision)) return sendProblem(response, refused(decision));
  await shown(decision.position);
  sendJson(response, 200, { data: { request_id: requestId, status: 'removed' } });
}

function contextFor(response: Response): CommandContext {
  return { actor: `token:${callerOf(response).tokenId}`, requestId: contextOf(response).requestId };
}

/** A request that broke off may have been answered already, or have no client left to answer. */
function answer(response: Response, { problem }: Readonly<{ problem: Problem }>): void {
  if (!response.headersSent) sendProblem(response, problem);
}
