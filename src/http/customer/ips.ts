import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { changedAddresses, pendingAddresses, regionAddresses } from '../../domain/ip-control/address-ledger.ts';
import { formatAddress } from '../../addresses/address.ts';
import { isRefusal } from '../../kernel/decider.ts';
import {
  changeAddresses,
  type ChangeAddressesDependencies,
  prefixesOf,
  tryAddressChange,
} from '../../application/ip-control/change-addresses.ts';
import type { RegionsCommitted } from '../../application/ip-control/commit-now.ts';
import type { Registered } from '../../commands/ip-control/customer-state.ts';
import type { CommandContext } from '../../commands/aggregate.ts';
import { type Grounds, saidOf } from '../../domain/grounds.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { type FieldErrors, type Problem, problems, refused, sendJson, sendProblem } from '../problems.ts';
import { queryErrors } from '../middleware/query.ts';
import { callerOf, contextOf } from '../middleware/request-context.ts';
import { checkedBody, jsonBody, readJson } from '../middleware/json-body.ts';
import { CUSTOMER_PROBLEMS, exactCount, numbersQuery, type Operation, problemAnswers, type Route } from '../route.ts';
import {
  type AskedChange,
  bulkBody,
  bulkRequest,
  disableBody,
  disableRequest,
  enableBody,
  enableRequest,
} from './address-change-body.ts';
import { readListedChange } from './bulk-body-scanner.ts';

export type IpDependencies = ChangeAddressesDependencies &
  Readonly<{
    /** Deploys all that is pending in some regions now, and waits for it within the bound for synchronous requests. */
    commitNow: (customerId: number, regionIds: readonly number[], context: CommandContext) => Promise<RegionsCommitted>;
    /** Waits (bounded) until every view shows this position. */
    shown: (position: bigint) => Promise<boolean>;
  }>;

const SYNCHRONOUS_NOT_ALLOWED: Problem = { status: 403, message: 'synchronous mode is not enabled for your account' };

const changeMeta = z.union([
  z.strictObject({ pending_changes: exactCount }),
  z.strictObject({
    dry_run: z.literal(true),
    pending_changes: exactCount,
    prefixes: z.record(z.string(), z.int().nonnegative()),
  }),
  z.strictObject({
    synchronous: z.literal(true),
    commit_status: z.enum(['success', 'failed', 'in_progress']),
    pending_changes: exactCount,
  }),
]);
const BODY_PROBLEMS = { ...CUSTOMER_PROBLEMS, ...problemAnswers(400, 403, 413, 415) };

const changeQuery = z.strictObject({ dry_run: z.enum(['true', 'false']).optional(), ...numbersQuery });

function changeOfOne(action: 'disable' | 'enable') {
  const data = z.strictObject({ address: z.string(), status: z.literal(`${action}d`), pending_change: z.boolean() });
  return {
    method: 'POST',
    path: `/ips/${action}`,
    scope: 'customer',
    request: {
      query: changeQuery,
      body: { contentType: 'application/json', schema: action === 'disable' ? disableRequest : enableRequest },
    },
    answers: { 200: z.strictObject({ data, meta: changeMeta }), ...BODY_PROBLEMS, ...problemAnswers(404) },
  } as const satisfies Operation;
}

const disableOne = changeOfOne('disable');
const enableOne = changeOfOne('enable');
const bulkChange = {
  method: 'POST',
  path: '/ips/bulk',
  scope: 'customer',
  request: { query: changeQuery, body: { contentType: 'application/json', schema: bulkRequest } },
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
  const single = (schema: typeof disableBody | typeof enableBody): readonly RequestHandler[] => [
    ...jsonBody,
    checkedRoute(schema, (asked, response) => changeOne(asked, response, dependencies)),
  ];
  const bulk = checkedRoute(bulkBody, (asked, response) => changeMany(asked, response, dependencies), readListedChange);
  return [
    { ...disableOne, handle: single(disableBody) },
    { ...enableOne, handle: single(enableBody) },
    { ...bulkChange, handle: [...jsonBody, bulk] },
  ];
}

/** A change as it is asked for; `dryRun`: only to be told what it would come to. */
type Asked = AskedChange & Readonly<{ dryRun: boolean }>;

/** Account flag first, then the body: the order of checks of every endpoint. What `readQuickly` gives has been checked, and has no flag. */
function checkedRoute(
  schema: z.ZodType<AskedChange>,
  respond: (asked: Asked, response: Response) => Promise<void>,
  readQuickly?: (body: Uint8Array) => AskedChange | undefined,
): RequestHandler {
  return async (request, response) => {
    const body: unknown = request.body;
    const query = changeQueryErrors(request);
    const dryRun = request.query['dry_run'] === 'true';
    const quick = body instanceof Uint8Array && Object.keys(query).length === 0 ? readQuickly?.(body) : undefined;
    if (quick !== undefined) return respond({ ...quick, dryRun }, response);
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
    await respond({ ...outcome.value, dryRun }, response);
  };
}

function changeQueryErrors(request: Request): FieldErrors {
  const errors = queryErrors(request, ['dry_run']);
  const { dry_run: dryRun } = request.query;
  if (dryRun === undefined || dryRun === 'true' || dryRun === 'false' || 'dry_run' in errors) return errors;
  return { ...errors, dry_run: ['must be true or false.'] };
}

async function changeOne(asked: Asked, response: Response, dependencies: IpDependencies): Promise<void> {
  const { action, target } = asked;
  if (target.mode !== 'one')
    return sendProblem(response, { ...problems.internal, because: `a single address was read as ${target.mode}` });
  const { address } = target;
  const changed = await change(asked, response, dependencies);
  if (changed === undefined) return;
  const regionId = [...changed.state.ledger].find(([, { owned }]) => owned.contains(address))?.[0];
  const regionIds = regionId === undefined ? [] : [regionId];
  const { state, meta } = await settled(changed.state, regionIds, asked, response, dependencies);
  const isPending = regionIds.some((id) => pendingAddresses(regionAddresses(state.ledger, id)).contains(address));
  sendJson(response, 200, {
    data: { address: formatAddress(address), status: `${action}d`, pending_change: isPending },
    meta,
  });
}

async function changeMany(asked: Asked, response: Response, dependencies: IpDependencies): Promise<void> {
  const { action, target } = asked;
  const changed = await change(asked, response, dependencies);
  if (changed === undefined || target.mode === 'one') return;
  let count = 0n;
  for (const event of changed.events) {
    if (event.type === 'AddressesDisabled' || event.type === 'AddressesEnabled')
      count += changedAddresses(event.data.ranges).count();
  }
  const regionIds = [...changed.state.ledger].filter(([, { owned }]) => owned.intersects(target.set)).map(([id]) => id);
  const { meta } = await settled(changed.state, regionIds, asked, response, dependencies);
  sendJson(response, 200, { data: { changed: count, action }, meta });
}

type Changed = Readonly<{ events: readonly CustomerEvent[]; state: Registered }>;

/** Records the change and waits until it can be read; `undefined` when a problem was answered instead. */
async function change(
  { dryRun, grounds, ...asked }: Asked,
  response: Response,
  dependencies: IpDependencies,
): Promise<Changed | undefined> {
  const { customer, tokenId } = callerOf(response);
  const { customerId } = customer;
  const wanted = { ...asked, tokenId };
  const answer = dryRun
    ? await tryAddressChange(customerId, wanted, dependencies)
    : await changeAddresses(customerId, wanted, commandContext(response, grounds), dependencies);
  if (isRefusal(answer)) {
    sendProblem(response, refused(answer));
    return undefined;
  }
  const { events, state, position } = answer;
  if (state.phase === 'unregistered') {
    sendProblem(response, problems.authenticationRequired);
    return undefined;
  }
  if (!dryRun) await dependencies.shown(position);
  return { events, state };
}

type Settled = Readonly<{ state: Registered; meta: object }>;

/** What the answer tells of the regions, after all that is pending in them is deployed where that was asked for. */
async function settled(
  changed: Registered,
  regionIds: readonly number[],
  { synchronous, dryRun, grounds }: Asked,
  response: Response,
  dependencies: IpDependencies,
): Promise<Settled> {
  if (dryRun) {
    const prefixes = await prefixesOf(changed.ledger, regionIds, dependencies);
    return { state: changed, meta: { dry_run: true, pending_changes: pendingIn(changed, regionIds), prefixes } };
  }
  if (!synchronous) return { state: changed, meta: { pending_changes: pendingIn(changed, regionIds) } };
  const { customerId } = callerOf(response).customer;
  const committed = await dependencies.commitNow(customerId, regionIds, commandContext(response, grounds));
  await dependencies.shown(committed.position);
  const state = committed.state.phase === 'unregistered' ? changed : committed.state;
  const meta = {
    synchronous: true,
    commit_status: committed.status,
    pending_changes: pendingIn(state, regionIds),
  };
  return { state, meta };
}

function commandContext(response: Response, grounds: Grounds): CommandContext {
  return {
    actor: `token:${callerOf(response).tokenId}`,
    requestId: contextOf(response).requestId,
    ...saidOf(grounds),
  };
}

function pendingIn(state: Registered, regionIds: readonly number[]): bigint {
  return regionIds.reduce((sum, id) => sum + pendingAddresses(regionAddresses(state.ledger, id)).count(), 0n);
}
