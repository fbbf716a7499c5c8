import type { Request, Response } from 'express';
import { z } from 'zod';
import { isAddressProblem } from '../../addresses/address-problem.ts';
import { rangeSize } from '../../addresses/range.ts';
import { type Address, parseAddress } from '../../addresses/address.ts';
import { pendingAddresses, regionAddresses, subnetRange } from '../../domain/ip-control/address-ledger.ts';
import { subnetStatus, type SubnetOfCustomer, type SubnetStatus } from '../../domain/ip-control/subnet-status.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AddressView } from '../../projections/ip-control/address-view.ts';
import type { RegionView } from '../../projections/ip-control/region-view.ts';
import type { SubnetView } from '../../projections/ip-control/subnet-view.ts';
import type { Views } from '../../projections/engine/keyed-views.ts';
import { invalid, jsonType, type Problem, problems, sendJson, sendProblem } from '../problems.ts';
import { queryErrors, refuseQuery } from '../middleware/query.ts';
import { callerOf } from '../middleware/request-context.ts';
import {
  CUSTOMER_PROBLEMS,
  exactCount,
  numbersQuery,
  type Operation,
  problemAnswers,
  type Route,
  textOf,
} from '../route.ts';
import { PAGE_MAX, sendListing } from './address-listing.ts';
import { openWaiting, type WaitForCount, waitOf } from './pending-wait.ts';

export type SubnetDependencies = Readonly<{ views: SubnetViews; clock: Clock }>;

export type SubnetViews = Readonly<{
  addresses: Views<AddressView>;
  subnets: Views<SubnetView>;
  regions: Views<RegionView>;
}>;

const NOT_YOURS: Problem = { status: 403, message: 'subnet does not belong to your account.' };
const SUBNET_ID = /^[1-9]\d{0,14}$/;

const subnetOf = {
  id: z.int().positive(),
  cidr: z.string(),
  ip_version: z.union([z.literal(4), z.literal(6)]),
  asn: z.int().nonnegative(),
};
const listSubnets = {
  method: 'GET',
  path: '/subnets',
  scope: 'customer',
  request: { query: z.strictObject(numbersQuery) },
  answers: {
    200: z.strictObject({
      data: z.array(
        z.strictObject({
          ...subnetOf,
          metro: z.string(),
          region: z.string().nullable(),
          ip_counts: z.strictObject({
            total: exactCount,
            enabled: exactCount,
            disabled: exactCount,
            pending: exactCount,
          }),
        }),
      ),
    }),
    ...CUSTOMER_PROBLEMS,
  },
} as const satisfies Operation;

const statusOf = { status: z.enum(['enabled', 'disabled']), pending_change: z.boolean() };
const until = z.iso.datetime({ offset: true });
/** Written row by row, never as a whole: `sendListing`. */
const addressList = z.strictObject({
  data: z.union([
    z.strictObject({
      ...subnetOf,
      ips: z.array(
        z.strictObject({
          address: z.string(),
          ...statusOf,
          /** With `fields=until`. */
          disabled_until: until.nullable().optional(),
        }),
      ),
    }),
    z.strictObject({
      ...subnetOf,
      ranges: z.array(
        z.strictObject({ start: z.string(), end: z.string(), ...statusOf, disabled_until: until.optional() }),
      ),
    }),
  ]),
  meta: z.strictObject({ pending_changes: exactCount, next_after: z.string().optional() }),
});

function addressesOfSubnet(path: string, more: Readonly<{ wait?: z.ZodOptional<z.ZodString> }> = {}) {
  return {
    method: 'GET',
    path,
    scope: 'customer',
    request: {
      params: z.strictObject({ subnet_id: z.string().meta({ type: 'integer', minimum: 1 }) }),
      query: z.strictObject({
        view: z.enum(['ips', 'ranges']).optional(),
        fields: z.literal('until').optional(),
        after: z.string().meta(textOf('ipv4', 'ipv6')).optional(),
        limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
        ...more,
        ...numbersQuery,
      }),
    },
    answers: { 200: addressList, ...CUSTOMER_PROBLEMS, ...problemAnswers(403, 404) },
  } as const satisfies Operation;
}

const showSubnet = addressesOfSubnet('/subnets/{subnet_id}');
/** `wait`: how long to wait for all of it to be deployed, or for another count of what is not. */
const showPending = addressesOfSubnet('/subnets/{subnet_id}/pending', {
  wait: z.string().meta({ format: 'duration', description: 'At most a minute.' }).optional(),
});

/** What shows subnets. @public what describes the API is made from it */
export const SUBNET_OPERATIONS: readonly Operation[] = [listSubnets, showSubnet, showPending];

/** What shows subnets, carried out. */
export function subnetRoutes(dependencies: SubnetDependencies): readonly Route[] {
  const { views, clock } = dependencies;
  const wait = openWaiting(clock);
  return [
    { ...listSubnets, handle: [refuseQuery, (_request, response) => sendSubnets(response, views)] },
    { ...showSubnet, handle: [(request, response) => sendSubnet(request, response, views)] },
    { ...showPending, handle: [(request, response) => sendSubnet(request, response, views, wait)] },
  ];
}

async function sendSubnets(response: Response, views: SubnetViews): Promise<void> {
  const view = await views.addresses.get(String(callerOf(response).customer.customerId));
  const items = await Promise.all((view?.subnets ?? []).map((subnet) => listItem(subnet, view, views)));
  const body = { data: items.sort((a, b) => a.id - b.id) } satisfies z.input<(typeof listSubnets.answers)[200]>;
  sendJson(response, 200, body);
}

async function listItem(subnet: SubnetOfCustomer, view: AddressView | undefined, { regions }: SubnetViews) {
  const range = subnetRange(subnet.cidr);
  const region = regionAddresses(view?.ledger ?? new Map(), subnet.regionId);
  const total = rangeSize(range);
  const disabled = region.disabled.countWithin(range);
  const pending = pendingAddresses(region).countWithin(range);
  return {
    id: subnet.subnetId,
    cidr: subnet.cidr,
    ip_version: range.version,
    asn: subnet.asn,
    metro: subnet.metro,
    region: (await regions.get(String(subnet.regionId)))?.name ?? null,
    ip_counts: { total, enabled: total - disabled, disabled, pending },
  };
}

async function sendSubnet(
  request: Request,
  response: Response,
  views: SubnetViews,
  waitForCount?: WaitForCount,
): Promise<void> {
  const pendingOnly = waitForCount !== undefined;
  const query = listingQuery(request, pendingOnly);
  if ('problem' in query) return sendProblem(response, query.problem);
  const { customerId } = callerOf(response).customer;
  const find = (): ReturnType<typeof findSubnet> => findSubnet(String(request.params['subnet_id']), customerId, views);
  let found = await find();
  if (!('problem' in found) && query.waitMilliseconds > 0) {
    await waitForCount?.(customerId, async () => pendingCount(await find()), query.waitMilliseconds, response);
    found = await find();
  }
  if ('problem' in found) return sendProblem(response, found.problem);
  const after = query.after;
  if (after !== undefined && after.version !== found.status.range.version) {
    return sendProblem(
      response,
      invalid({ after: [`must be an IPv${found.status.range.version} address, like the subnet.`] }),
    );
  }
  if (response.headersSent) return;
  // An answer to HEAD has no rows.
  if (request.method === 'HEAD') response.setHeader('Content-Type', jsonType(response)).end();
  else await sendListing(response, { status: found.status, pendingOnly, ...query });
}

function pendingCount(found: Awaited<ReturnType<typeof findSubnet>>): bigint {
  return 'problem' in found ? 0n : found.status.pending.countWithin(found.status.range);
}

async function findSubnet(
  id: string,
  customerId: number,
  views: SubnetViews,
): Promise<Readonly<{ status: SubnetStatus }> | Readonly<{ problem: Problem }>> {
  const subnet = SUBNET_ID.test(id) ? await views.subnets.get(id) : undefined;
  if (subnet === undefined) return { problem: problems.notFound };
  if (subnet.customerId !== customerId) return { problem: NOT_YOURS };
  const view = await views.addresses.get(String(customerId));
  const status = view === undefined ? undefined : subnetStatus(view, subnet.subnetId);
  return status === undefined ? { problem: problems.notFound } : { status };
}

type ListingQuery = Readonly<{
  view: 'ips' | 'ranges';
  showsUntil: boolean;
  after: Address | undefined;
  limit: number;
  waitMilliseconds: number;
}>;

const LISTING_FIELDS = ['view', 'fields', 'after', 'limit'];

function listingQuery(request: Request, mayWait: boolean): ListingQuery | Readonly<{ problem: Problem }> {
  const known = mayWait ? [...LISTING_FIELDS, 'wait'] : LISTING_FIELDS;
  const errors: Record<string, readonly string[]> = { ...queryErrors(request, known) };
  const { view = 'ips', fields, after: afterText, limit: limitText, wait: waitText } = request.query;
  const blame = (name: string, message: string): readonly string[] => (errors[name] ??= [message]);
  if (view !== 'ips' && view !== 'ranges') blame('view', 'must be ips or ranges.');
  if (fields !== undefined && fields !== 'until') blame('fields', 'must be until.');
  if (view === 'ranges') {
    for (const name of ['after', 'limit'])
      if (request.query[name] !== undefined) blame(name, 'does not go with view=ranges, which is complete.');
  }
  let limit = PAGE_MAX;
  if (limitText !== undefined) {
    if (typeof limitText === 'string' && /^[1-9]\d{0,4}$/.test(limitText) && Number(limitText) <= PAGE_MAX)
      limit = Number(limitText);
    else blame('limit', `must be a whole number from 1 to ${PAGE_MAX}.`);
  }
  let after: Address | undefined;
  if (typeof afterText === 'string') {
    const parsed = parseAddress(afterText);
    if (isAddressProblem(parsed)) blame('after', parsed.problem);
    else after = parsed;
  }
  const waitMilliseconds = typeof waitText === 'string' ? waitOf(waitText) : 0;
  if (waitMilliseconds === undefined) blame('wait', 'must be a duration of at most a minute, such as PT30S.');
  if (Object.keys(errors).length > 0) return { problem: invalid(errors) };
  return {
    view: view === 'ranges' ? 'ranges' : 'ips',
    showsUntil: fields === 'until',
    after,
    limit,
    waitMilliseconds: waitMilliseconds ?? 0,
  };
}
