import type { JSX } from 'preact';
import type { Application, ProjectionStatus } from '../../../../application/application.ts';
import type { Page, PageRoute } from '../page.ts';
import { Badge } from '../parts/badge.tsx';
import { Facts } from '../parts/facts.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, count } from '../parts/text.tsx';

/** What a server knows of itself. */
export type ServerFacts = Readonly<{
  version: string;
  node: string;
  /** Where the views are, for people; without passwords. */
  readModels: string;
  /** Whether this server leads at this moment: it keeps the views and runs the processes. */
  leads: () => boolean;
  /** Each setting by its name, as it is in force; none of them is a secret. */
  settings: readonly (readonly [name: string, value: string])[];
}>;

export type SystemPageDependencies = Pick<Application, 'store' | 'projections'> & Readonly<{ server: ServerFacts }>;

/** How the service itself stands. */
export function systemPages({ store, projections, server }: SystemPageDependencies): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/system',
      scope: 'read',
      handle: async () => {
        const [status, end] = await Promise.all([projections.status(), store.end()]);
        return { page: systemPage({ server, store: store.name, end, status, isLeading: server.leads() }) };
      },
    },
  ];
}

type SystemView = Readonly<{
  server: ServerFacts;
  store: string;
  /** The position of the newest event. */
  end: bigint;
  status: readonly ProjectionStatus[];
  isLeading: boolean;
}>;

const VIEW_COLUMNS: readonly Column<ProjectionStatus>[] = [
  { key: 'name', name: 'View', cell: ({ name }) => name },
  { key: 'version', name: 'Version', isNumber: true, cell: ({ version }) => version },
  { key: 'position', name: 'Position saved', isNumber: true, cell: ({ position }) => position },
  { key: 'behind', name: 'Events behind', isNumber: true, cell: ({ behind }) => behind },
];

const SETTING_COLUMNS: readonly Column<ServerFacts['settings'][number]>[] = [
  { key: 'name', name: 'Setting', cell: ([name]) => <Code>{name}</Code> },
  { key: 'value', name: 'In force', cell: ([, value]) => (value === '' ? null : <Code>{value}</Code>) },
];

/** Version, stores, views and how far they are, who leads, and the settings. */
export function systemPage({ server, store, end, status, isLeading }: SystemView): Page {
  const facts: readonly (readonly [string, JSX.Element | string])[] = [
    ['Version', server.version],
    ['Node', server.node],
    ['Log', <Code>{store}</Code>],
    ['Newest position', count(end < 0n ? 0n : end)],
    ['Views', <Code>{server.readModels}</Code>],
    ['This server', isLeading ? <Badge state="ok">leads</Badge> : <Badge state="off">serves; another one leads</Badge>],
  ];
  return {
    title: 'System',
    body: (
      <>
        <Facts facts={facts} />
        <h2>Views</h2>
        <Table caption="Views" columns={VIEW_COLUMNS} rows={status} keyOf={({ name }) => name} empty="No views." />
        <h2>Settings</h2>
        <Table
          caption="Settings"
          columns={SETTING_COLUMNS}
          rows={server.settings}
          keyOf={([name]) => name}
          empty="No settings."
        />
      </>
    ),
  };
}
