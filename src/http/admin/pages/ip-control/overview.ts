import { type OverviewDependencies, overviewOf } from '../../../../application/ip-control/overview.ts';
import type { Application } from '../../../../application/application.ts';
import { mayDo } from '../../access.ts';
import type { Live } from '../../live.ts';
import type { PageRoute } from '../page.ts';
import { overviewPage } from './overview-page.tsx';

export type OverviewPageDependencies = OverviewDependencies & Pick<Application, 'clock'> & Readonly<{ live: Live }>;

const EVENTS_SHOWN = 50;

/** The first page. */
export function overviewPages(application: OverviewPageDependencies): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/',
      scope: 'read',
      handle: async ({ principal }) => {
        const overview = await overviewOf(application);
        const events = application.live.newestEvents().slice(0, EVENTS_SHOWN);
        return {
          page: overviewPage({
            overview,
            events,
            now: application.clock.now(),
            mayRun: mayDo(principal, 'commits:run'),
          }),
        };
      },
    },
  ];
}
