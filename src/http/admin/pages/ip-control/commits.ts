import type { Application } from '../../../../application/application.ts';
import { listDifference } from '../../../../application/ip-control/commit-difference.ts';
import { commitTimeline } from '../../../../application/ip-control/commit-timeline.ts';
import { pageCommits, runCommit, showCommit } from '../../../../application/ip-control/commits.ts';
import { regionNames } from '../../../../application/ip-control/customer-lists.ts';
import { findCustomer, findRegion } from '../../../../application/ip-control/lookups.ts';
import { onItsWayOf } from '../../../../application/ip-control/overview.ts';
import { showOperation } from '../../../../application/ip-control/operations.ts';
import { type LongReads, openLongReads } from '../../../../application/operations/long-reads.ts';
import type { CommitTimes } from '../../../../domain/ip-control/commit-due.ts';
import { LIST_KINDS } from '../../../../domain/ip-control/waiting-changes.ts';
import { isRefusal } from '../../../../kernel/decider.ts';
import type { Log } from '../../../../ports/log.ts';
import { mayDo } from '../../access.ts';
import { within } from '../../within.ts';
import { untilClosed } from '../../../until-closed.ts';
import {
  fieldOf,
  type Message,
  notFoundPage,
  type PageAnswer,
  type PageAsk,
  type PageRoute,
  TOO_MANY_READS,
} from '../page.ts';
import type { FormErrors } from '../parts/form.tsx';
import { listQueryOf, ROWS_MAX } from '../parts/list.tsx';
import { commitListPage } from './commit-list.tsx';
import { commitPage } from './commit-page.tsx';
import { differencePage, type DifferencePageView } from './difference-page.tsx';

export type CommitPagesDependencies = Pick<
  Application,
  'directory' | 'customers' | 'regions' | 'views' | 'store' | 'openRouter' | 'catchUp' | 'commitNow' | 'clock'
> &
  Readonly<{
    /** Resolves when the views show everything that was recorded until now. */
    shown: () => Promise<void>;
    log: Log;
    commitTimes: CommitTimes;
  }>;

/** What is deployed sooner than this is told at once; of anything else its page shows how far it is. */
const SOON_MILLISECONDS = 1_500;

/** The pages of deployments. */
export function commitPages(application: CommitPagesDependencies): readonly PageRoute[] {
  const routerReads = openLongReads();
  return [
    { method: 'GET', path: '/commits', scope: 'read', handle: (ask) => list(ask, application) },
    { method: 'GET', path: '/commits/diff', scope: 'read', handle: (ask) => difference(ask, application, routerReads) },
    { method: 'POST', path: '/commits/run', scope: 'commits:run', handle: (ask) => run(ask, application) },
    { method: 'GET', path: '/commits/{set}', scope: 'read', handle: (ask) => show(ask, application) },
  ];
}

async function list(
  { query: fields, request, principal }: PageAsk,
  application: CommitPagesDependencies,
): Promise<PageAnswer> {
  const query = listQueryOf(fields, '');
  const whose = await whoseOf(fields, application);
  const of = 'problem' in whose ? {} : whose;
  const after = query.after === '' ? undefined : query.after;
  const found = await pageCommits({ ...of, after, limit: ROWS_MAX + 1 }, application);
  if (isRefusal(found)) return notFoundPage(found.because);
  const commits = found.slice(0, ROWS_MAX);
  return {
    page: commitListPage({
      query,
      commits,
      onItsWay: await onItsWayOf(of, application),
      mayRun: mayDo(principal, 'commits:run'),
      next: found.length > ROWS_MAX ? commits.at(-1)?.place : undefined,
      of: of.customer ?? of.region,
      problem: 'problem' in whose ? whose.problem : undefined,
      now: application.clock.now(),
      address: request.originalUrl,
    }),
  };
}

type Whose = Readonly<{ customer?: string; region?: string }>;

/** By number where a link says so, by name where a person does: a customer, or else a region. */
async function whoseOf(
  fields: PageAsk['query'],
  application: CommitPagesDependencies,
): Promise<Whose | Readonly<{ problem: string }>> {
  const { views } = application;
  const [customerId, regionId, text] = ['customer', 'region', 'q'].map((name) => fieldOf(fields, name).trim());
  const customer = customerId === '' ? undefined : (await views.customers.get(customerId ?? ''))?.name;
  if (customer !== undefined) return { customer };
  const region = regionId === '' ? undefined : (await views.regions.get(regionId ?? ''))?.name;
  if (region !== undefined) return { region };
  if (text === undefined || text === '') return {};
  const named = await findCustomer(text, application);
  if (!isRefusal(named)) return { customer: named.name };
  const place = await findRegion(text, application);
  if (!isRefusal(place)) return { region: place.name };
  return { problem: `No customer and no region is called ${text}: all commits are shown.` };
}

async function show({ params, principal }: PageAsk, application: CommitPagesDependencies): Promise<PageAnswer> {
  const commit = await showCommit(params['set'] ?? '', application);
  if (isRefusal(commit)) return notFoundPage(commit.because);
  const timeline = await commitTimeline(commit.view, application);
  const mayRun = mayDo(principal, 'commits:run');
  return { page: commitPage({ commit, timeline, mayRun, now: application.clock.now() }) };
}

async function difference(
  { query, principal, response }: PageAsk,
  application: CommitPagesDependencies,
  routerReads: LongReads,
): Promise<PageAnswer> {
  const regions = [...(await regionNames(application)).values()];
  const names = await namesOf(query, application);
  const answered = (errors: FormErrors, found?: DifferencePageView['found']): PageAnswer => ({
    page: differencePage({
      values: names,
      regions,
      lists: LIST_KINDS,
      errors,
      found,
      mayRun: mayDo(principal, 'commits:run'),
    }),
  });
  if (names.customer === '') return answered({});
  const [customer, region] = [
    await findCustomer(names.customer, application),
    await findRegion(names.region, application),
  ];
  if (isRefusal(customer)) return answered({ customer: customer.because });
  if (isRefusal(region)) return answered({ region: region.because });
  const kind = LIST_KINDS.find((known) => known === names.list);
  if (kind === undefined) return answered({ list: `must be one of ${LIST_KINDS.join(', ')}.` });
  const signal = untilClosed(response);
  const found = await routerReads(signal, () => listDifference({ ...names, list: kind }, application, signal));
  if (found === undefined) return { problem: TOO_MANY_READS };
  if (isRefusal(found)) return answered({ '': found.because });
  const of = { customerId: customer.customerId, regionId: region.regionId, list: kind };
  return answered({}, { difference: found, of });
}

/** Links name customers and regions by number; people name them by name. */
async function namesOf(
  fields: PageAsk['query'],
  { views }: CommitPagesDependencies,
): Promise<DifferencePageView['values']> {
  const [customer, region] = [fieldOf(fields, 'customer').trim(), fieldOf(fields, 'region').trim()];
  return {
    customer: (await views.customers.get(customer))?.name ?? customer,
    region: (await views.regions.get(region))?.name ?? region,
    list: fieldOf(fields, 'list') || 'BLACKHOLE',
  };
}

async function run({ form, context }: PageAsk, application: CommitPagesDependencies): Promise<PageAnswer> {
  const names = await namesOf(form, application);
  const kind = LIST_KINDS.find((known) => known === names.list);
  if (kind === undefined) return notFoundPage(`There is no list ${names.list}.`);
  const { clock, log } = application;
  const operation = context.requestId;
  const ran = await within(SOON_MILLISECONDS, () => runCommit({ ...names, list: kind }, context, application), {
    clock,
    log,
    operation,
  });
  if (ran !== undefined && isRefusal(ran)) return notFoundPage(ran.because);
  await application.shown();
  const asked = await showOperation(operation, application);
  const commitSetId = isRefusal(asked) ? null : asked.commitSetId;
  const goTo = commitSetId === null ? '/admin/commits' : `/admin/commits/${commitSetId}`;
  const of = `${names.customer}, ${kind} in ${names.region}`;
  return { goTo, message: messageOf(ran?.status ?? 'in_progress', of) };
}

function messageOf(status: 'success' | 'failed' | 'in_progress', of: string): Message {
  switch (status) {
    case 'success':
      return { kind: 'ok', text: `${of}: the routers hold everything that was changed.` };
    case 'failed':
      return { kind: 'bad', text: `${of}: not every router has taken it. It is tried again.` };
    case 'in_progress':
      return { kind: 'warn', text: `${of}: under way. How far it is, is shown here.` };
  }
}
