import type { RequestHandler, Response } from 'express';
import { z } from 'zod';
import { changedAddresses, pendingAddresses, regionAddresses } from '../../domain/ip-control/address-ledger.ts';
import { formatAddress } from '../../addresses/address.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { ChangeTarget, CustomerCommand } from '../../commands/ip-control/customer.ts';
import type { CommitStatus, RegionsCommitted } from '../../application/ip-control/commit-now.ts';
import type { CustomerState, Registered } from '../../commands/ip-control/customer-state.ts';
import type { Aggregate, CommandContext, Handled } from '../../commands/aggregate.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { type Problem, problems, refused, sendJson, sendProblem } from '../problems.ts';
import { queryErrors } from '../middleware/query.ts';
import type { RegionLimits } from '../../commands/ip-control/prefix-limit.ts';
import { callerOf, contextOf } from '../middleware/request-context.ts';
import { checkedBody, jsonBody, readJson } from '../middleware/json-body.ts';
import { CUSTOMER_PROBLEMS, exactCount, type Operation, problemAnswers, type Route } from '../route.ts';
import { type BulkChange, bulkBody, bulkRequest, singleBody, singleRequest } from './address-change-body.ts';
import { readListedChange } from './bulk-body-scanner.ts';

export type IpDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  /** How many entries the routers of each region take. */
  regionLimits: () => Promise<RegionLimits>;
  /** Deploys all that is pending in some regions now, and waits for it within the bound for synchronous requests. */
  commitNow: (customerId: number, regionIds: readonly number[], context: CommandContext) => Promise<RegionsCommitted>;
  /** Waits (bounded) until every view shows this position. */
  shown: (position: bigint) => Promise<boolean>;
}>;

const SYNCHRONOUS_NOT_ALLOWED: Problem = { status: 403, message: 'synchronous mode is not enabled for your account' };

const changeMeta = z.union([
  z.strictObject({ pending_changes: exactCount }),
  z.strictObject({
    synchronous: z.literal(true),
    commit_status: z.enum(['success', 'failed', 'in_progress']),
    pending_changes: exactCount,
  }),
]);
const BODY_PROBLEMS = { ...CUSTOMER_PROBLEMS, ...problemAnswers(400, 403, 413, 415) };

function changeOfOne(action: 'disable' | 'enable') {
  const data = z.strictObject({ address: z.string(), status: z.literal(`${action}d`), pending_change: z.boolean() });
  return {
    method: 'POST',
    path: `/ips/${action}`,
    scope: 'customer',
    request: { body: { contentType: 'application/json', schema: singleRequest } },
    answers: { 200: z.strictObject({ data, meta: changeMeta }), ...BODY_PROBLEMS, ...problemAnswers(404) },
  } as const satisfies Operation;
}

const disableOne = changeOfOne('disable');
const enableOne = changeOfOne('enable');
const bulkChange = {
  method: 'POST',
  path: '/ips/bulk',
  scope: 'customer',
  request: { body: { contentType: 'application/json', schema: bulkRequest } },
  answers: {
    200: z.strictObject({
      data: z.strictObject({ changed: exactCount, action: z.enum(['enable', 'disable']) }),
      meta: changeMeta,
    }),
    ...BODY_PROBLEMS,
  },
} as const satisfies Operation;

/** What changes addresses. @public what describes the API is made from it */
export const IP_OPERATIONS: readonly Operation[] = [disableOne, enableOne, bulkChange];

/** What changes addresses, carried out. */
export function ipRoutes(dependencies: IpDependencies): readonly Route[] {
  const single = (action: 'disable' | 'enable'): readonly RequestHandler[] => [
    ...jsonBody,
    checkedRoute(singleBody, (value, response) => changeOne(action, value, response, dependencies)),
  ];
  const bulk = checkedRoute(bulkBody, (value, response) => changeMany(value, response, dependencies), readListedChange);
  return [
    { ...disableOne, handle: single('disable') },
    { ...enableOne, handle: single('enable') },
    { ...bulkChange, handle: [...jsonBody, bulk] },
  ];
}

/** Account flag first, then the body: the order of checks of every endpoint. What `readQuickly` gives has been checked, and has no flag. */
function checkedRoute<T>(
  schema: z.ZodType<T>,
  respond: (value: T, response: Response) => Promise<void>,
  readQuickly?: (body: Uint8Array) => T | undefined,
): RequestHandler {
  return async (request, response) => {
    const body: unknown = request.body;
    const query = queryErrors(request);
    const quick = body instanceof Uint8Array && Object.keys(query).length === 0 ? readQuickly?.(body) : undefined;
    if (quick !== undefined) return respond(quick, response);
    const read = readJson(body);
    if (read === undefined) return sendProblem(response, problems.malformedJson);
    const { sent } = read;
    const { allowSynchronous } = callerOf(response).customer.settings;
    if (
      !allowSynchronous &&
      typeof sent === 'object' &&
      sent !== null &&
      'synchronous' in sent &&
      sent.synchronous === true
    ) {
      return sendProblem(response, SYNCHRONOUS_NOT_ALLOWED);
    }
    const outcome = checkedBody(schema, read, query);
    if ('problem' in outcome) return sendProblem(response, outcome.problem);
    await respond(outcome.value, response);
  };
}

type OneChange = Readonly<{ target: ChangeTarget; synchronous: boolean }>;

async function changeOne(
  action: 'enable' | 'disable',
  { target, synchronous }: OneChange,
  response: Response,
  dependencies: IpDependencies,
): Promise<void> {
  if (target.mode !== 'one')
    return sendProblem(response, { ...problems.internal, because: `a single address was read as ${target.mode}` });
  const { address } = target;
  const changed = await change({ action, synchronous, target }, response, dependencies);
  if (changed === undefined) return;
  const regionId = [...changed.state.ledger].find(([, { owned }]) => owned.contains(address))?.[0];
  const regionIds = regionId === undefined ? [] : [regionId];
  const { state, status } = synchronous ? await deployed(changed.state, regionIds, response, dependencies) : changed;
  const isPending = regionIds.some((id) => pendingAddresses(regionAddresses(state.ledger, id)).contains(address));
  sendJson(response, 200, {
    data: { address: formatAddress(address), status: `${action}d`, pending_change: isPending },
    meta: meta(state, regionIds, status),
  });
}

async function changeMany(
  { action, target, synchronous }: BulkChange,
  response: Response,
  dependencies: IpDependencies,
): Promise<void> {
  const changed = await change({ action, synchronous, target }, response, dependencies);
  if (changed === undefined || target.mode === 'one') return;
  let count = 0n;
  for (const event of changed.events) {
    if (event.type === 'AddressesDisabled' || event.type === 'AddressesEnabled')
      count += changedAddresses(event.data.ranges).count();
  }
  const regionIds = [...changed.state.ledger].filter(([, { owned }]) => owned.intersects(target.set)).map(([id]) => id);
  const { state, status } = synchronous ? await deployed(changed.state, regionIds, response, dependencies) : changed;
  sendJson(response, 200, { data: { changed: count, action }, meta: meta(state, regionIds, status) });
}

type Changed = Omit<Handled<CustomerState, CustomerEvent>, 'state'> &
  Readonly<{ state: Registered; status?: undefined }>;

/** Records the change and waits until it can be read; `undefined` when a problem was answered instead. */
async function change(
  data: Extract<CustomerCommand, { type: 'ChangeAddresses' }>['data'],
  response: Response,
  { customers, regionLimits, shown }: IpDependencies,
): Promise<Changed | undefined> {
  const limits = await regionLimits();
  const answer = await customers.handle(
    callerOf(response).customer.customerId,
    { type: 'ChangeAddresses', data: { ...data, limits } },
    commandContext(response),
  );
  if (isRefusal(answer)) {
    sendProblem(response, refused(answer));
    return undefined;
  }
  const { state } = answer;
  if (state.phase === 'unregistered') {
    sendProblem(response, problems.authenticationRequired);
    return undefined;
  }
  await shown(answer.position);
  return { ...answer, state };
}

/** Has all that is pending in the regions deployed, and gives the state that the answer tells of. */
async function deployed(
  before: Registered,
  regionIds: readonly number[],
  response: Response,
  { commitNow, shown }: IpDependencies,
): Promise<Readonly<{ state: Registered; status: CommitStatus }>> {
  const { customerId } = callerOf(response).customer;
  const { state, status, position } = await commitNow(customerId, regionIds, commandContext(response));
  await shown(position);
  return { state: state.phase === 'unregistered' ? before : state, status };
}

function commandContext(response: Response): CommandContext {
  return { actor: `token:${callerOf(response).tokenId}`, requestId: contextOf(response).requestId };
}

function meta(state: Registered, regionIds: readonly number[], commit: CommitStatus | undefined): object {
  const pending = regionIds.reduce((sum, id) => sum + pendingAddresses(regionAddresses(state.ledger, id)).count(), 0n);
  return commit === undefined
    ? { pending_changes: pending }
    : { synchronous: true, commit_status: commit, pending_changes: pending };
}
