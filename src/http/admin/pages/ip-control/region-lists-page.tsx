import type { Temporal } from '@js-temporal/polyfill';
import type { ListPage } from '../../../../application/ip-control/list-standing.ts';
import type { RegionStanding } from '../../../../application/ip-control/region-standing.ts';
import type { Page } from '../page.ts';
import { Filter, type ListQuery, Pager } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { ListTable } from './list-table.tsx';
import { PATH, REGIONS, RegionTabs } from './region-parts.tsx';

export type RegionListsView = Readonly<{
  region: Pick<RegionStanding, 'regionId' | 'name'>;
  query: ListQuery;
  lists: ListPage;
  now: Temporal.Instant;
  /** Where this very page is, with its filter. */
  address: string;
}>;

/** What is on the routers of a region: the lists of its customers, in pages, as there may be thousands. */
export function regionListsPage({ region: { regionId, name }, query, lists, now, address }: RegionListsView): Page {
  const base = `${PATH}/${regionId}`;
  const path = `${base}/lists`;
  const table = (
    <>
      <ListTable
        of="region"
        lists={lists.lists}
        empty={
          query.q === ''
            ? 'No lists yet: one comes when a customer disables its first address here, or has a block of the whitelist.'
            : `No customer with a list here has “${query.q}” in its name or list name.`
        }
        now={now}
      />
      <Pager path={path} query={query} next={lists.nextAfter} noun="list" />
    </>
  );
  return {
    title: 'Lists',
    crumbs: [REGIONS, { name, href: base }],
    parts: { lists: table },
    body: (
      <>
        <RegionTabs regionId={regionId} path={path} />
        <div class="bar">
          <Filter path={path} query={query} label="Customer or list name" />
        </div>
        <Live id="lists" topic={`region:${regionId}`} at={address}>
          {table}
        </Live>
      </>
    ),
  };
}
