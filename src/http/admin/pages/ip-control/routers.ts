import type { ServedApplication } from '../../../../application/application.ts';
import { showOperation } from '../../../../application/ip-control/operations.ts';
import { type RouterHistory, routerHistory } from '../../../../application/ip-control/region-standing.ts';
import {
  checkRouters,
  chooseRouterRepair,
  disableRouter,
  enableRouter,
  pruneRouter,
} from '../../../../application/ip-control/router-maintenance.ts';
import { drainRouter } from '../../../../application/ip-control/router-changes.ts';
import { removeRouter, testRouter } from '../../../../application/ip-control/routers.ts';
import type { AdminScope } from '../../../../events/ip-control/administrator.ts';
import { isRefusal, type Refusal } from '../../../../kernel/decider.ts';
import type { Log } from '../../../../ports/log.ts';
import { mayDo } from '../../access.ts';
import { within } from '../../within.ts';
import { fieldOf, notFoundPage, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import { routerAt } from './region-pages.tsx';
import type { RegionPagesDependencies } from './regions.ts';
import { type AskedFor, drainPage, prunePage, removeRouterPage, routerPage } from './router-page.tsx';

export type RouterPagesDependencies = RegionPagesDependencies &
  Pick<ServedApplication, 'routerChecks'> &
  Readonly<{ log: Log }>;

/** What is done sooner than this is told at once; of anything else the page says that it is under way. */
const SOON_MILLISECONDS = 1_500;

const PATH = '/regions/{id}/routers/{router}';

/** The pages of routers, and what is done with them. */
export function routerPages(application: RouterPagesDependencies): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: PATH,
      scope: 'read',
      handle: (ask) => withRouter(ask, application, (history) => show(history, ask, application)),
    },
    confirmation('prune', 'routers:operate', prunePage, application),
    confirmation('drain', 'routers:operate', drainPage, application),
    confirmation('remove', 'regions:write', removeRouterPage, application),
    action('test', 'routers:operate', application, test),
    action('check', 'routers:operate', application, (name, ask) =>
      asked(name, ask, application, () => checkRouters(name, ask.context, application)),
    ),
    action('prune', 'routers:operate', application, (name, ask) =>
      asked(name, ask, application, () => pruneRouter(name, ask.context, application)),
    ),
    action('enable', 'routers:operate', application, (name, ask) =>
      asked(name, ask, application, () => enableRouter(name, ask.context, application)),
    ),
    action('drain', 'routers:operate', application, (name, ask) =>
      asked(name, ask, application, () => drainRouter(name, ask.context, application)),
    ),
    action('disable', 'routers:operate', application, async (name, ask) =>
      done(await disableRouter(name, ask.context, application), name, 'Commits pass it by until it is enabled again.'),
    ),
    action('repair', 'regions:write', application, async (name, ask) => {
      const repair = fieldOf(ask.form, 'repair') === 'true';
      const text = repair ? 'What others change in our lists is put right.' : 'Differences are told and left alone.';
      return done(await chooseRouterRepair({ ...name, repair }, ask.context, application), name, text);
    }),
    action('remove', 'regions:write', application, async (name, ask) => {
      const removed = await removeRouter(name, ask.context, application);
      if (isRefusal(removed)) return done(removed, name, '');
      await application.shown();
      const text = `${removed.router} is removed from ${removed.region}.`;
      return { goTo: `/admin/regions/${name.regionId}`, message: { kind: 'ok', text } };
    }),
  ];
}

type Named = Readonly<{ regionId: number; region: string; router: string }>;

function action(
  name: string,
  scope: AdminScope,
  application: RouterPagesDependencies,
  perform: (named: Named, ask: PageAsk, application: RouterPagesDependencies) => Promise<PageAnswer>,
): PageRoute {
  return {
    method: 'POST',
    path: `${PATH}/${name}`,
    scope,
    handle: (ask) =>
      withRouter(ask, application, async ({ region, router }) => {
        const answer = await perform(
          { regionId: region.regionId, region: region.name, router: router.router },
          ask,
          application,
        );
        await application.shown();
        return answer;
      }),
  };
}

function confirmation(
  name: string,
  scope: AdminScope,
  page: (history: RouterHistory) => ReturnType<typeof prunePage>,
  application: RouterPagesDependencies,
): PageRoute {
  return {
    method: 'GET',
    path: `${PATH}/${name}`,
    scope,
    handle: (ask) => withRouter(ask, application, async (history) => ({ page: page(history) })),
  };
}

async function withRouter(
  { params }: PageAsk,
  application: RouterPagesDependencies,
  work: (history: RouterHistory) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const history = await routerHistory({ regionId: params['id'] ?? '', router: params['router'] ?? '' }, application);
  return isRefusal(history) ? notFoundPage(history.because) : work(history);
}

async function show(
  history: RouterHistory,
  { principal, query }: PageAsk,
  application: RouterPagesDependencies,
): Promise<PageAnswer> {
  return {
    page: routerPage({
      history,
      now: application.clock.now(),
      mayOperate: mayDo(principal, 'routers:operate'),
      mayWrite: mayDo(principal, 'regions:write'),
      asked: await askedFor(fieldOf(query, 'operation'), application),
    }),
  };
}

async function askedFor(id: string, application: RouterPagesDependencies): Promise<AskedFor | undefined> {
  if (id === '') return undefined;
  const operation = await showOperation(id, application);
  return { id, operation: isRefusal(operation) ? undefined : operation };
}

async function test(named: Named, _ask: PageAsk, application: RouterPagesDependencies): Promise<PageAnswer> {
  const tested = await testRouter(named, application);
  if (isRefusal(tested)) return done(tested, named, '');
  const goTo = routerAt(named.regionId, named.router);
  if (tested.problem === undefined)
    return { goTo, message: { kind: 'ok', text: 'It answers, and takes our lists. Nothing was changed.' } };
  const { code, because } = tested.problem;
  return { goTo, message: { kind: 'bad', text: `${code}: ${because}` } };
}

/** Asks for what may take a while: the page that follows shows how far it is, and what comes of it. */
async function asked(
  named: Named,
  { context: { requestId } }: PageAsk,
  { clock, log }: RouterPagesDependencies,
  perform: () => Promise<object>,
): Promise<PageAnswer> {
  const soon = await within(SOON_MILLISECONDS, perform, { clock, log, operation: requestId });
  if (soon !== undefined && 'refused' in soon && 'because' in soon)
    return done({ refused: String(soon.refused), because: String(soon.because) }, named, '');
  return { goTo: `${routerAt(named.regionId, named.router)}?operation=${encodeURIComponent(requestId)}` };
}

function done(outcome: object | Refusal, { regionId, router }: Named, text: string): PageAnswer {
  const goTo = routerAt(regionId, router);
  if ('because' in outcome) return { goTo, message: { kind: 'bad', text: outcome.because } };
  return { goTo, message: { kind: 'ok', text } };
}
