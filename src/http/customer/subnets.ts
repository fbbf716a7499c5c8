import type { Request, Response } from 'express';
import { z } from 'zod';
import { isAddressProblem } from '../../addresses/address-problem.ts';
import { rangeSize } from '../../addresses/range.ts';
import { type Address, parseAddress } from '../../addresses/address.ts';
import { pendingAddresses, regionAddresses, subnetRange } from '../../domain/ip-control/address-ledger.ts';
import { subnetStatus, type SubnetOfCustomer, type SubnetStatus } from '../../domain/ip-control/subnet-status.ts';
import type { AddressView } from '../../projections/ip-control/address-view.ts';
import type { RegionView } from '../../projections/ip-control/region-view.ts';
import type { SubnetView } from '../../projections/ip-control/subnet-view.ts';
import type { Views } from '../../projections/engine/view-cache.ts';
import { invalid, type Problem, problems, sendJson, sendProblem } from '../problems.ts';
import { queryErrors, refuseQuery } from '../middleware/query.ts';
import { callerOf } from '../middleware/request-context.ts';
import { CUSTOMER_PROBLEMS, exactCount, type Operation, problemAnswers, type Route } from '../route.ts';
import { LISTING_TYPE, PAGE_MAX, sendListing } from './address-listing.ts';

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
  request: {},
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
/** Written row by row, never as a whole: `sendListing`. */
const addressList = z.strictObject({
  data: z.union([
    z.strictObject({ ...subnetOf, ips: z.array(z.strictObject({ address: z.string(), ...statusOf })) }),
    z.strictObject({
      ...subnetOf,
      ranges: z.array(z.strictObject({ start: z.string(), end: z.string(), ...statusOf })),
    }),
  ]),
  meta: z.strictObject({ pending_changes: exactCount, next_after: z.string().optional() }),
});

function addressesOfSubnet(path: string) {
  return {
    method: 'GET',
    path,
    scope: 'customer',
    request: {
      params: z.strictObject({ subnet_id: z.string().regex(SUBNET_ID) }),
      query: z.strictObject({
        view: z.enum(['ips', 'ranges']).optional(),
        after: z.string().optional(),
        limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
      }),
    },
    answers: { 200: addressList, ...CUSTOMER_PROBLEMS, ...problemAnswers(403, 404) },
  } as const satisfies Operation;
}

const showSubnet = addressesOfSubnet('/subnets/{subnet_id}');
const showPending = addressesOfSubnet('/subnets/{subnet_id}/pending');

/** What shows subnets. @public what describes the API is made from it */
export const SUBNET_OPERATIONS: readonly Operation[] = [listSubnets, showSubnet, showPending];

/** What shows subnets, carried out. */
export function subnetRoutes(views: SubnetViews): readonly Route[] {
  return [
    { ...listSubnets, handle: [refuseQuery, (_request, response) => sendSubnets(response, views)] },
    { ...showSubnet, handle: [(request, response) => sendSubnet(request, response, views, false)] },
    { ...showPending, handle: [(request, response) => sendSubnet(request, response, views, true)] },
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
  pendingOnly: boolean,
): Promise<void> {
  const query = listingQuery(request);
  if ('problem' in query) return sendProblem(response, query.problem);
  const found = await findSubnet(String(request.params['subnet_id']), callerOf(response).customer.customerId, views);
  if ('problem' in found) return sendProblem(response, found.problem);
  const after = query.after;
  if (after !== undefined && after.version !== found.status.range.version) {
    return sendProblem(
      response,
      invalid({ after: [`must be an IPv${found.status.range.version} address, like the subnet.`] }),
    );
  }
  if (response.headersSent) return;
  // Nobody reads the rows of an answer to HEAD.
  if (request.method === 'HEAD') response.setHeader('Content-Type', LISTING_TYPE).end();
  else await sendListing(response, { status: found.status, pendingOnly, ...query });
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

type ListingQuery = Readonly<{ view: 'ips' | 'ranges'; after: Address | undefined; limit: number }>;

function listingQuery(request: Request): ListingQuery | Readonly<{ problem: Problem }> {
  const errors: Record<string, readonly string[]> = { ...queryErrors(request, ['view', 'after', 'limit']) };
  const { view = 'ips', after: afterText, limit: limitText } = request.query;
  const blame = (name: string, message: string): readonly string[] => (errors[name] ??= [message]);
  if (view !== 'ips' && view !== 'ranges') blame('view', 'must be ips or ranges.');
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
  if (Object.keys(errors).length > 0) return { problem: invalid(errors) };
  return { view: view === 'ranges' ? 'ranges' : 'ips', after, limit };
}
