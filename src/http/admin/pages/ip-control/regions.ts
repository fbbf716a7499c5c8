import type { ServedApplication } from '../../../../application/application.ts';
import {
  chooseDeployPolicy,
  createRegion,
  DEPLOY_POLICIES,
  removeRegion,
} from '../../../../application/ip-control/regions.ts';
import {
  latestCommits,
  type RegionStanding,
  type RegionStandingDependencies,
  regionStanding,
  regionStandings,
} from '../../../../application/ip-control/region-standing.ts';
import { listsOfRegion, type ListStandingDependencies } from '../../../../application/ip-control/list-standing.ts';
import { ensureRouter } from '../../../../application/ip-control/routers.ts';
import { isRefusal, type Refusal } from '../../../../kernel/decider.ts';
import { mayDo } from '../../access.ts';
import { fieldOf, notFoundPage, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import type { FormErrors } from '../parts/form.tsx';
import { listQueryOf, ROWS_MAX } from '../parts/list.tsx';
import { regionListsPage } from './region-lists-page.tsx';
import {
  newRouterPage,
  type NewRouterValues,
  policyText,
  regionListPage,
  regionPage,
  removeRegionPage,
  routerAt,
} from './region-pages.tsx';

export type RegionPagesDependencies = RegionStandingDependencies &
  ListStandingDependencies &
  Pick<ServedApplication, 'openRouter' | 'routerReach' | 'makeFolder' | 'clock'> &
  Readonly<{
    /** Resolves when the views show everything that was recorded until now. */
    shown: () => Promise<void>;
  }>;

const COMMITS_SHOWN = 20;

/** The pages of regions. */
export function regionPages(application: RegionPagesDependencies): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/regions',
      scope: 'read',
      handle: (ask) => list(ask, application, { name: '', policy: 'each' }, {}),
    },
    { method: 'POST', path: '/regions', scope: 'regions:write', handle: (ask) => create(ask, application) },
    {
      method: 'GET',
      path: '/regions/{id}',
      scope: 'read',
      handle: (ask) => withRegion(ask, application, (region) => show(region, ask, application)),
    },
    {
      method: 'GET',
      path: '/regions/{id}/lists',
      scope: 'read',
      handle: (ask) => withRegion(ask, application, (region) => showLists(region, ask, application)),
    },
    {
      method: 'POST',
      path: '/regions/{id}/policy',
      scope: 'regions:write',
      handle: (ask) => withRegion(ask, application, (region) => choosePolicy(region, ask, application)),
    },
    {
      method: 'GET',
      path: '/regions/{id}/remove',
      scope: 'regions:write',
      handle: (ask) => withRegion(ask, application, async (region) => ({ page: removeRegionPage(region) })),
    },
    {
      method: 'POST',
      path: '/regions/{id}/remove',
      scope: 'regions:write',
      handle: (ask) =>
        withRegion(ask, application, async ({ regionId, name }) => {
          const removed = await removeRegion(name, ask.context, application);
          if (isRefusal(removed))
            return { goTo: `/admin/regions/${regionId}`, message: { kind: 'bad', text: removed.because } };
          await application.shown();
          return { goTo: '/admin/regions', message: { kind: 'ok', text: `${name} is removed.` } };
        }),
    },
    {
      method: 'GET',
      path: '/regions/{id}/add-router',
      scope: 'regions:write',
      handle: (ask) => withRegion(ask, application, async (region) => routerForm(region, application, NO_ROUTER, {})),
    },
    {
      method: 'POST',
      path: '/regions/{id}/add-router',
      scope: 'regions:write',
      handle: (ask) => withRegion(ask, application, (region) => addRouter(region, ask, application)),
    },
  ];
}

/** Does something with the region that an address names. */
export async function withRegion(
  { params }: PageAsk,
  application: RegionStandingDependencies,
  work: (region: RegionStanding) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const region = await regionStanding(params['id'] ?? '', application);
  return isRefusal(region) ? notFoundPage(region.because) : work(region);
}

async function list(
  { principal, query: fields }: PageAsk,
  application: RegionPagesDependencies,
  values: Readonly<{ name: string; policy: string }>,
  errors: FormErrors,
): Promise<PageAnswer> {
  const regions = await regionStandings(application);
  const mayWrite = mayDo(principal, 'regions:write');
  return {
    page: regionListPage({
      regions,
      query: listQueryOf(fields, ''),
      policies: DEPLOY_POLICIES,
      mayWrite,
      values,
      errors,
    }),
  };
}

async function create(ask: PageAsk, application: RegionPagesDependencies): Promise<PageAnswer> {
  const name = fieldOf(ask.form, 'name').trim();
  const policy = policyOf(ask);
  if (policy === undefined) return list(ask, application, { name, policy: '' }, { policy: 'is no policy.' });
  const created = await createRegion({ name, deployPolicy: policy }, ask.context, application);
  if (isRefusal(created)) return list(ask, application, { name, policy }, { name: created.because });
  await application.shown();
  const text = `${created.name} is created. Next: its routers.`;
  return { goTo: `/admin/regions/${created.regionId}`, message: { kind: 'ok', text } };
}

function policyOf({ form }: PageAsk) {
  return DEPLOY_POLICIES.find((known) => known === fieldOf(form, 'policy'));
}

async function show(
  region: RegionStanding,
  { principal, query: fields }: PageAsk,
  application: RegionPagesDependencies,
): Promise<PageAnswer> {
  const commits = await latestCommits(region, COMMITS_SHOWN, application);
  const mayWrite = mayDo(principal, 'regions:write');
  const now = application.clock.now();
  return {
    page: regionPage({ region, query: listQueryOf(fields, ''), commits, policies: DEPLOY_POLICIES, mayWrite, now }),
  };
}

async function showLists(
  region: RegionStanding,
  { query: fields, request }: PageAsk,
  application: RegionPagesDependencies,
): Promise<PageAnswer> {
  const query = listQueryOf(fields, '');
  const after = query.after === '' ? undefined : query.after;
  const { regionId } = region;
  const lists = await listsOfRegion({ regionId, text: query.q, after, limit: ROWS_MAX }, application);
  const now = application.clock.now();
  return { page: regionListsPage({ region, query, lists, now, address: request.originalUrl }) };
}

async function choosePolicy(
  { regionId, name }: RegionStanding,
  ask: PageAsk,
  application: RegionPagesDependencies,
): Promise<PageAnswer> {
  const deployPolicy = policyOf(ask);
  const goTo = `/admin/regions/${regionId}`;
  if (deployPolicy === undefined) return { goTo, message: { kind: 'bad', text: 'There is no such policy.' } };
  const chosen = await chooseDeployPolicy({ region: name, deployPolicy }, ask.context, application);
  if (isRefusal(chosen)) return { goTo, message: { kind: 'bad', text: chosen.because } };
  await application.shown();
  return { goTo, message: { kind: 'ok', text: `From the next commit on: ${policyText(deployPolicy)}.` } };
}

const NO_ROUTER: NewRouterValues = { router: '', driver: '', options: '', repair: true };

function routerForm(
  region: RegionStanding,
  { routerReach }: RegionPagesDependencies,
  values: NewRouterValues,
  errors: FormErrors,
): PageAnswer {
  const drivers = routerReach.drivers.map(({ driver }) => driver).toSorted();
  return { page: newRouterPage({ region, drivers, values, errors }) };
}

async function addRouter(
  region: RegionStanding,
  { form, context }: PageAsk,
  application: RegionPagesDependencies,
): Promise<PageAnswer> {
  const values = {
    router: fieldOf(form, 'router').trim(),
    driver: fieldOf(form, 'driver'),
    options: fieldOf(form, 'options').replaceAll('\r\n', '\n'),
    repair: fieldOf(form, 'repair') === 'true',
  };
  const options = optionsOf(values.options);
  if (typeof options === 'string') return routerForm(region, application, values, { options });
  if (region.routers.some(({ router }) => router === values.router))
    return routerForm(region, application, values, { router: `${region.name} has a router of this name already.` });
  const wanted = { ...values, region: region.name, options };
  const added = await ensureRouter(wanted, context, { ...application, isRehearsal: false });
  if (isRefusal(added)) return routerForm(region, application, values, routerErrors(added));
  await application.shown();
  const text = `${added.router} is added: the next commit of each list of ${region.name} goes to it, too.`;
  return { goTo: routerAt(region.regionId, added.router), message: { kind: 'ok', text } };
}

/** One option a line; or what is wrong with a line. */
function optionsOf(text: string): Readonly<Record<string, string>> | string {
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return `“${line.trim()}” is not name=value.`;
    if (options.has(name)) return `${name} is given twice.`;
    options.set(name, value);
  }
  return Object.fromEntries(options);
}

/** What is wrong, beside the field that it is about. */
function routerErrors({ field = '', because }: Refusal): FormErrors {
  const [name = ''] = field.split('.', 1);
  return { [FIELDS[name] ?? '']: because };
}

const FIELDS: Readonly<Record<string, string>> = {
  name: 'router',
  router: 'router',
  driver: 'driver',
  options: 'options',
};
