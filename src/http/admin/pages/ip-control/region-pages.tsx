import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { LoggedCommit } from '../../../../application/ip-control/commits.ts';
import type { RegionStanding, RouterStanding } from '../../../../application/ip-control/region-standing.ts';
import type { Page } from '../page.ts';
import { askingPage, nothingToAskPage } from '../parts/asking.tsx';
import { Badge } from '../parts/badge.tsx';
import { Check, Choice, Field, Form, type FormErrors, TextArea } from '../parts/form.tsx';
import { Filter, List, listAddress, type ListQuery } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { count, countOf, When } from '../parts/text.tsx';
import { commitColumns } from './commit-list.tsx';
import { PATH, REGIONS, RegionTabs } from './region-parts.tsx';

const POLICIES: Readonly<Record<string, string>> = {
  each: 'each router for itself',
  'all-or-nothing': 'all routers or none',
};

/** How commits treat the routers of a region, in words. */
export function policyText(policy: string): string {
  return POLICIES[policy] ?? policy;
}

/** Where a router's page is. */
export function routerAt(regionId: number, router: string): string {
  return `/admin/regions/${regionId}/routers/${encodeURIComponent(router)}`;
}

export type RegionListView = Readonly<{
  regions: readonly RegionStanding[];
  query: ListQuery;
  policies: readonly string[];
  mayWrite: boolean;
  values: Readonly<{ name: string; policy: string }>;
  errors: FormErrors;
}>;

const sumOf = (routers: readonly RouterStanding[], of: (router: RouterStanding) => number): number =>
  routers.reduce((sum, router) => sum + of(router), 0);

/** A column of a number that comes from a region's routers. */
function summed(key: string, name: string, of: (router: RouterStanding) => number): Column<RegionStanding> {
  const sum = ({ routers }: RegionStanding): number => sumOf(routers, of);
  return { key, name, isNumber: true, sortBy: sum, cell: sum };
}

const LIST_COLUMNS: readonly Column<RegionStanding>[] = [
  {
    key: 'name',
    name: 'Region',
    sortBy: ({ name }) => name,
    cell: ({ regionId, name }) => <a href={`/admin/regions/${regionId}`}>{name}</a>,
  },
  {
    key: 'policy',
    name: 'Policy',
    sortBy: ({ deployPolicy }) => deployPolicy,
    cell: ({ deployPolicy }) => policyText(deployPolicy),
  },
  summed('routers', 'Routers', () => 1),
  summed('disabled', 'Disabled', ({ phase }) => (phase === 'disabled' ? 1 : 0)),
  summed('drifted', 'Drifted lists', ({ drifted }) => drifted.length),
  summed('unowned', 'Lists of no customer', ({ unowned }) => unowned.length),
];

/** All regions, and a new one. */
export function regionListPage({ regions, query, policies, mayWrite, values, errors }: RegionListView): Page {
  const table = (
    <List
      path={PATH}
      query={query}
      caption="Regions"
      columns={LIST_COLUMNS}
      rows={regions}
      holds={({ name }) => [name]}
      keyOf={({ regionId }) => String(regionId)}
      noun="region"
      empty="No regions yet. A region holds the routers that get the same lists: create one, then add its routers."
    />
  );
  return {
    title: 'Regions',
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    parts: { 'region-list': table },
    body: (
      <>
        <div class="bar">
          <Filter path={PATH} query={query} label="Name" />
        </div>
        <Live id="region-list" topic="routers" at={listAddress(PATH, query.fields, {})}>
          {table}
        </Live>
        {mayWrite ? (
          <>
            <h2>Create a region</h2>
            <Form action={PATH} errors={errors} submit="Create region">
              <Field name="name" label="Name" value={values.name} errors={errors} isRequired />
              <PolicyChoice value={values.policy} policies={policies} errors={errors} />
            </Form>
          </>
        ) : null}
      </>
    ),
  };
}

function PolicyChoice({
  value,
  policies,
  errors,
}: Readonly<{ value: string; policies: readonly string[]; errors: FormErrors }>): JSX.Element {
  return (
    <Choice
      name="policy"
      label="Policy"
      value={value}
      options={policies.map((policy) => ({ value: policy, text: policyText(policy) }))}
      hint="Whether a commit counts on each router for itself, or on none until all have taken it."
      errors={errors}
    />
  );
}

function Policy({
  at,
  policy,
  policies,
  mayWrite,
}: Readonly<{ at: string; policy: string; policies: readonly string[]; mayWrite: boolean }>): JSX.Element {
  if (!mayWrite) return <p>{policyText(policy)}</p>;
  return (
    <Form action={`${at}/policy`} errors={{}} submit="Save policy">
      <PolicyChoice value={policy} policies={policies} errors={{}} />
    </Form>
  );
}

export type RegionPageView = Readonly<{
  region: RegionStanding;
  /** Of the list of its routers. */
  query: ListQuery;
  commits: readonly LoggedCommit[];
  policies: readonly string[];
  mayWrite: boolean;
  now: Temporal.Instant;
}>;

/** One region: how its routers stand, and what went to them last. */
export function regionPage({ region, query, commits, policies, mayWrite, now }: RegionPageView): Page {
  const { regionId, name, deployPolicy, routers } = region;
  const at = `/admin/regions/${regionId}`;
  const parts = {
    routers: (
      <List
        path={at}
        query={query}
        caption="Routers"
        columns={routerColumns(regionId, now)}
        rows={routers}
        holds={({ router, driver }) => [router, driver]}
        keyOf={({ router }) => router}
        noun="router"
        empty="No routers yet: a commit of this region has nowhere to go until one is added."
      />
    ),
    commits: (
      <Table
        caption="Latest commits"
        columns={commitColumns(now)}
        rows={commits}
        keyOf={({ view }) => view.commitSetId}
        empty="Nothing was deployed here yet."
      />
    ),
  };
  return {
    title: name,
    crumbs: [REGIONS],
    parts,
    body: (
      <>
        <RegionTabs regionId={regionId} path={at} />
        <h2>Routers</h2>
        <div class="bar">
          <Filter path={at} query={query} label="Name or driver" />
          {mayWrite ? (
            <a class="button" href={`${at}/add-router`}>
              Add router
            </a>
          ) : null}
        </div>
        <Live id="routers" topic={`region:${regionId}`} at={listAddress(at, query.fields, {})}>
          {parts.routers}
        </Live>
        <h2>Latest commits</h2>
        <Live id="commits" topic={`region:${regionId}`} at={at}>
          {parts.commits}
        </Live>
        <p class="pager">
          <a href={`/admin/commits?region=${regionId}`}>All commits of this region</a>
        </p>
        <h2>Policy</h2>
        <Policy at={at} policy={deployPolicy} policies={policies} mayWrite={mayWrite} />
        {mayWrite && routers.length === 0 ? (
          <>
            <h2>Remove the region</h2>
            <p>It has no routers. Where no subnet lies in it either, it can go, and its name is free again.</p>
            <a class="button danger" href={`${at}/remove`}>
              Remove region
            </a>
          </>
        ) : null}
      </>
    ),
  };
}

/** Asks once more before a region is gone. */
export function removeRegionPage({ regionId, name, routers }: RegionStanding): Page {
  const at = `${PATH}/${regionId}`;
  const [title, crumbs] = [`Remove ${name}`, [REGIONS, { name, href: at }]];
  if (routers.length > 0) {
    const says = `${name} has ${countOf(routers.length, 'router')}: these are removed first.`;
    return nothingToAskPage({ title, crumbs, says, back: at });
  }
  return askingPage({
    title,
    crumbs,
    says: [
      `${name} has no routers: nothing changes on any. Its commits stay in the log.`,
      'Another region may be given its name, never its number. Where a subnet lies in it, it stays.',
    ],
    action: `${at}/remove`,
    submit: `Remove ${name}`,
    cancel: at,
  });
}

function routerColumns(regionId: number, now: Temporal.Instant): readonly Column<RouterStanding>[] {
  const when = (at: string | null | undefined): JSX.Element | null =>
    at === null || at === undefined ? null : <When at={at} now={now} />;
  return [
    {
      key: 'router',
      name: 'Router',
      sortBy: ({ router }) => router,
      cell: ({ router }) => <a href={routerAt(regionId, router)}>{router}</a>,
    },
    { key: 'driver', name: 'Driver', sortBy: ({ driver }) => driver, cell: ({ driver }) => driver },
    {
      key: 'state',
      name: 'State',
      sortBy: ({ phase }) => phase,
      cell: (router) => <RouterState router={router} />,
    },
    {
      key: 'repair',
      name: 'Repair',
      sortBy: ({ repair }) => Number(repair),
      cell: ({ repair }) => (repair ? 'on' : 'off'),
    },
    {
      key: 'drifted',
      name: 'Drifted lists',
      isNumber: true,
      sortBy: ({ drifted }) => drifted.length,
      cell: ({ drifted }) => drifted.length,
    },
    {
      key: 'unowned',
      name: 'Lists of no customer',
      isNumber: true,
      sortBy: ({ unowned }) => unowned.length,
      cell: ({ unowned }) => unowned.length,
    },
    {
      key: 'driftedAt',
      name: 'Last difference',
      sortBy: ({ upkeep }) => upkeep?.driftedAt ?? null,
      cell: ({ upkeep }) => when(upkeep?.driftedAt),
    },
    {
      key: 'repairedAt',
      name: 'Last repair',
      sortBy: ({ upkeep }) => upkeep?.repairedAt ?? null,
      cell: ({ upkeep }) => when(upkeep?.repairedAt),
    },
  ];
}

/** What is to be known first of a router. */
export function RouterState({ router }: Readonly<{ router: RouterStanding }>): JSX.Element {
  const { phase, drifted, unowned, unsaved, checks } = router;
  if (phase === 'disabled') return <Badge state="off">disabled</Badge>;
  if (phase === 'catching-up') return <Badge state="busy">catching up</Badge>;
  if (checks > 0) return <Badge state="busy">being checked</Badge>;
  if (drifted.length > 0) return <Badge state="warn">drifted</Badge>;
  if (unsaved !== undefined) return <Badge state="warn">not saved</Badge>;
  if (unowned.length > 0) return <Badge state="warn">{`${count(unowned.length)} of no customer`}</Badge>;
  return <Badge state="ok">enabled</Badge>;
}

export type NewRouterValues = Readonly<{ router: string; driver: string; options: string; repair: boolean }>;

/** The form of a new router. */
export function newRouterPage({
  region: { regionId, name },
  drivers,
  values,
  errors,
}: Readonly<{
  region: Pick<RegionStanding, 'regionId' | 'name'>;
  drivers: readonly string[];
  values: NewRouterValues;
  errors: FormErrors;
}>): Page {
  const at = `/admin/regions/${regionId}`;
  return {
    title: 'Add a router',
    crumbs: [REGIONS, { name, href: at }],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    body: (
      <Form action={`${at}/add-router`} errors={errors} submit="Add router" cancel={at}>
        <Field name="router" label="Name" value={values.router} errors={errors} isRequired />
        <Choice
          name="driver"
          label="Driver"
          value={values.driver}
          options={drivers.map((driver) => ({ value: driver, text: driver }))}
          errors={errors}
        />
        <TextArea
          name="options"
          label="Options"
          value={values.options}
          errors={errors}
          rows={6}
          hint="One a line, such as host=192.0.2.1 or password=secret:router-edge1: a secret is named and never written here. Files and programs of the server are for the command line alone."
        />
        <Check name="repair" label="Put right what others change in our lists" isChecked={values.repair} />
      </Form>
    ),
  };
}
