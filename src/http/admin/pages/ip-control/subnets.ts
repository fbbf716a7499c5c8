import type { Application } from '../../../../application/application.ts';
import { customerById, regionNames } from '../../../../application/ip-control/customer-lists.ts';
import { instantNamed } from '../../../../application/ip-control/history.ts';
import {
  blockOfSubnet,
  type ListedSubnet,
  MAP_LOOKS,
  openSubnetHistories,
  type SubnetHistories,
  subnetListRows,
  subnetNames,
} from '../../../../application/ip-control/subnet-maps.ts';
import { isRefusal } from '../../../../kernel/decider.ts';
import { fieldOf, notFoundPage, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import { inOrder, listQueryOf, pageOfRows, ROWS_MAX } from '../parts/list.tsx';
import { subnetListPage } from './subnet-list.tsx';
import { addressOfStep, subnetPage } from './subnet-page.tsx';

export type SubnetPagesDependencies = Pick<Application, 'directory' | 'store' | 'clock'> &
  Readonly<{ views: Pick<Application['views'], 'customers' | 'addresses' | 'regions' | 'subnets'> }>;

/** All subnets, and each of them as a map with its history. Administrators look only: customers enable and disable. */
export function subnetPages(application: SubnetPagesDependencies): readonly PageRoute[] {
  const histories = openSubnetHistories(application);
  return [
    { method: 'GET', path: '/subnets', scope: 'read', handle: (ask) => list(ask, application) },
    {
      method: 'GET',
      path: '/subnets/{subnet}',
      scope: 'read',
      handle: (ask) => show(ask, { ...application, histories }),
    },
  ];
}

const CUSTOMER_COLUMN: Parameters<typeof inOrder<ListedSubnet>>[1] = [
  { key: 'customer', sortBy: ({ customer }) => customer.name },
];

async function list({ query: fields, request }: PageAsk, application: SubnetPagesDependencies): Promise<PageAnswer> {
  const query = listQueryOf(fields, 'subnet');
  const found = await subnetNames(query.q, application);
  const inAddresses = query.sort === 'subnet' && query.isDescending ? found.toReversed() : found;
  const { shown, next, total } = pageOfRows(inOrder(inAddresses, CUSTOMER_COLUMN, query), query, ({ subnetId }) =>
    String(subnetId),
  );
  const rows = await subnetListRows(shown, application);
  return { page: subnetListPage({ query, rows, total, next, address: request.originalUrl }) };
}

async function show(
  { params, query }: PageAsk,
  application: SubnetPagesDependencies & Readonly<{ histories: SubnetHistories }>,
): Promise<PageAnswer> {
  const subnetId = params['subnet'] ?? '';
  const given = (name: string): string | undefined => fieldOf(query, name).trim() || undefined;
  const at = given('at');
  if (at !== undefined && instantNamed(at) === undefined)
    return { problem: { status: 422, title: 'Not understood', because: `${at} is no instant with an offset.` } };
  const look = MAP_LOOKS.find((known) => known === given('look')) ?? 'wanted';
  const [block, from] = [given('block'), given('from')];
  const drawn = await blockOfSubnet({ subnetId, block, look, at, from, limit: ROWS_MAX }, application);
  if (isRefusal(drawn)) return notFoundPage(drawn.because);
  const ask = {
    look,
    ...(block === undefined ? {} : { block }),
    ...(at === undefined ? {} : { at }),
    ...(from === undefined ? {} : { from }),
  };
  const step = given('step');
  if (step !== undefined) return { goTo: addressOfStep(drawn, ask, Number(step)) };
  const [customer, regions] = await Promise.all([
    customerById(String(drawn.subnet.customerId), application),
    regionNames(application),
  ]);
  const { customerId, regionId } = drawn.subnet;
  return {
    page: subnetPage({
      drawn,
      ask,
      customer: isRefusal(customer) ? String(customerId) : customer.name,
      region: regions.get(regionId) ?? String(regionId),
      now: application.clock.now(),
    }),
  };
}
