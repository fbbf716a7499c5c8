import { z } from 'zod';
import {
  type CustomersSubnet,
  ensureSubnet,
  findSubnet,
  pageSubnets,
  removeSubnet,
} from '../../../application/ip-control/subnets.ts';
import { customerRevision } from '../../../application/ip-control/customers.ts';
import { groundsFields } from '../../../domain/grounds.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import { customerParams, streamOfCustomer } from './customers.ts';
import { PRECONDITION_FAILED } from './refusals.ts';
import {
  ADMIN_PROBLEMS,
  BODY_PROBLEMS,
  changed,
  changeQuery,
  deletionQuery,
  numberedPageFields,
  pageAnswer,
  pageOf,
  showing,
  text,
  wholeNumber,
} from './shapes.ts';

const subnet = z.strictObject({
  id: z.int().positive(),
  customer: z.string().nullable(),
  cidr: z.string(),
  region: z.string().nullable(),
  asn: z.int(),
  metro: z.string(),
});

/** RFC 6793. */
const ASN_MAX = 4_294_967_295;

/** `203.0.113.0%2F24`, or the subnet's number. */
const subnetParams = customerParams.extend({ subnet: z.string().meta({ format: 'cidr' }) });

const listAll = {
  method: 'GET',
  path: '/subnets',
  scope: 'admin',
  needs: 'read',
  request: { query: z.strictObject(numberedPageFields) },
  answers: { 200: pageOf(subnet), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const listOf = {
  method: 'GET',
  path: '/customers/{customer}/subnets',
  scope: 'admin',
  needs: 'read',
  request: { params: customerParams, query: z.strictObject(numberedPageFields) },
  answers: { 200: pageOf(subnet), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const show = showing('/customers/{customer}/subnets/{subnet}', subnetParams, subnet);

const put = {
  method: 'PUT',
  path: '/customers/{customer}/subnets/{subnet}',
  scope: 'admin',
  needs: 'subnets:write',
  request: {
    params: subnetParams,
    query: changeQuery,
    body: jsonOf(
      z.strictObject({ region: text(64, 1), asn: wholeNumber(1, ASN_MAX), metro: text(64, 1), ...groundsFields }),
    ),
  },
  answers: { 200: changed(subnet), 201: changed(subnet), ...BODY_PROBLEMS, ...problemAnswers(409, 412) },
} as const satisfies AdminOperation;

const remove = {
  method: 'DELETE',
  path: '/customers/{customer}/subnets/{subnet}',
  scope: 'admin',
  needs: 'subnets:write',
  request: { params: subnetParams, query: deletionQuery },
  answers: { 200: changed(subnet), ...ADMIN_PROBLEMS, ...problemAnswers(412) },
} as const satisfies AdminOperation;

/** Subnets and whose they are. @public what describes the API is made from it */
export const ADMIN_SUBNET_OPERATIONS: readonly AdminOperation[] = [listAll, listOf, show, put, remove];

/** Subnets and whose they are, carried out. */
export function adminSubnetRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(listAll, api, async ({ application, query: { after, limit } }) => {
      const found = await pageSubnets({ customer: undefined, after, limit: limit + 1 }, application);
      return isRefusal(found) ? found : pageAnswer(found, limit, rowOf, ({ subnetId }) => String(subnetId));
    }),
    adminRoute(listOf, api, async ({ application, params, query: { after, limit } }) => {
      const found = await pageSubnets({ customer: params.customer, after, limit: limit + 1 }, application);
      return isRefusal(found) ? found : pageAnswer(found, limit, rowOf, ({ subnetId }) => String(subnetId));
    }),
    adminRoute(show, api, async ({ application, params }) => {
      const found = await findSubnet(params, application);
      if (isRefusal(found)) return found;
      const there = await customerRevision(params.customer, application);
      return isRefusal(there) ? there : { data: rowOf(found), etag: there.revision };
    }),
    adminRoute(put, api, async ({ application, params, body, context, heldTo, onlyNew, isRehearsal }) => {
      const there = await customerRevision(params.customer, application);
      if (isRefusal(there)) return there;
      const known = await findSubnet(params, application);
      const held = heldTo(streamOfCustomer(there), !isRefusal(known));
      if (isRefusal(held)) return held;
      const { region, asn, metro } = body;
      const wanted = { customer: params.customer, cidr: params.subnet, region, asn, metro };
      // What is there never changes, and a new one takes its addresses from the directory: that the customer has moved meanwhile is no hindrance.
      const made = await ensureSubnet(wanted, context, application);
      if (isRefusal(made)) return made;
      if (onlyNew && !made.isNew) return PRECONDITION_FAILED;
      const after = await customerRevision(params.customer, application);
      if (isRefusal(after)) return after;
      return { status: made.isNew && !isRehearsal ? 201 : 200, data: rowOf(made.subnet), etag: after.revision };
    }),
    adminRoute(remove, api, async ({ application, params, context, heldTo }) => {
      const found = await findSubnet(params, application);
      if (isRefusal(found)) return found;
      const there = await customerRevision(params.customer, application);
      if (isRefusal(there)) return there;
      const held = heldTo(streamOfCustomer(there));
      if (isRefusal(held)) return held;
      const removed = await removeSubnet(String(found.subnetId), context, held);
      return isRefusal(removed) ? removed : { data: rowOf(found) };
    }),
  ];
}

function rowOf({ subnetId, customer, cidr, region, asn, metro }: CustomersSubnet) {
  return { id: subnetId, customer: customer ?? null, cidr, region: region ?? null, asn, metro };
}
