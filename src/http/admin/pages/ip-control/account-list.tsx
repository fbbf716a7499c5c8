import type { Temporal } from '@js-temporal/polyfill';
import type { AdministratorView } from '../../../../projections/ip-control/administrator-view.ts';
import type { Page } from '../page.ts';
import { Badge } from '../parts/badge.tsx';
import { Filter, List, listAddress, type ListQuery } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import type { Column } from '../parts/table.tsx';
import { When } from '../parts/text.tsx';
import { AccountState } from './account-state.tsx';

export const ACCOUNTS = '/admin/accounts';
/** Where a new one is made: beside the accounts, one of which may be called `new`. */
export const NEW_ACCOUNT = '/admin/new-account';

function columnsOf(sessions: ReadonlyMap<string, number>, now: Temporal.Instant): readonly Column<AdministratorView>[] {
  const sessionsOf = ({ name }: AdministratorView): number => sessions.get(name) ?? 0;
  return [
    {
      key: 'name',
      name: 'Name',
      sortBy: ({ name }) => name,
      cell: ({ name }) => <a href={`/admin/accounts/${name}`}>{name}</a>,
    },
    { key: 'role', name: 'Role', sortBy: ({ role }) => role, cell: ({ role }) => role },
    {
      key: 'state',
      name: 'State',
      sortBy: ({ isEnabled, isTemporary }) => Number(isEnabled) - Number(isTemporary),
      cell: (account) => <AccountState account={account} />,
    },
    {
      key: 'factor',
      name: 'Second factor',
      sortBy: ({ secondFactor }) => Number(secondFactor !== null),
      cell: ({ secondFactor }) => (secondFactor === null ? null : <Badge state="ok">set up</Badge>),
    },
    {
      key: 'login',
      name: 'Last login',
      sortBy: ({ lastLogin }) => lastLogin,
      cell: ({ lastLogin }) => (lastLogin === null ? 'never' : <When at={lastLogin} now={now} />),
    },
    { key: 'sessions', name: 'Sessions', isNumber: true, sortBy: sessionsOf, cell: sessionsOf },
    {
      key: 'created',
      name: 'Created',
      sortBy: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <When at={createdAt} now={now} />,
    },
  ];
}

/** All accounts. */
export function accountListPage({
  accounts,
  sessions,
  query,
  mayCreate,
  now,
}: Readonly<{
  accounts: readonly AdministratorView[];
  /** How many sessions each account has, by name. */
  sessions: ReadonlyMap<string, number>;
  query: ListQuery;
  mayCreate: boolean;
  now: Temporal.Instant;
}>): Page {
  const table = (
    <List
      path={ACCOUNTS}
      query={query}
      caption="Accounts"
      columns={columnsOf(sessions, now)}
      rows={accounts}
      holds={({ name, role }) => [name, role]}
      keyOf={({ name }) => name}
      noun="account"
      empty="There are no accounts."
    />
  );
  return {
    title: 'Accounts',
    parts: { 'account-list': table },
    body: (
      <>
        <div class="bar">
          <Filter path={ACCOUNTS} query={query} label="Name or role" />
          {mayCreate ? (
            <a class="button primary" href={NEW_ACCOUNT}>
              New account
            </a>
          ) : null}
        </div>
        <Live id="account-list" topic="accounts" at={listAddress(ACCOUNTS, query.fields, {})}>
          {table}
        </Live>
      </>
    ),
  };
}
