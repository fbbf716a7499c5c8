import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { AdminSession, AdminToken } from '../../../../commands/ip-control/administrator-state.ts';
import { ADMIN_ROLES, SCOPES_OF_ROLE } from '../../../../domain/ip-control/admin-roles.ts';
import type { AdministratorView } from '../../../../projections/ip-control/administrator-view.ts';
import type { Crumb, Page } from '../page.ts';
import { askingPage, nothingToAskPage } from '../parts/asking.tsx';
import { Badge } from '../parts/badge.tsx';
import { Facts } from '../parts/facts.tsx';
import { ActionButton, Choice, Field, Form, type FormErrors } from '../parts/form.tsx';
import { AccountState } from './account-state.tsx';
import { ACCOUNTS, NEW_ACCOUNT } from './account-list.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, countOf, When } from '../parts/text.tsx';

const LIST: Crumb = { name: 'Accounts', href: ACCOUNTS };

const ROLE_OPTIONS = ADMIN_ROLES.map((role) => ({ value: role, text: role }));

/** What each role may do, under the choice of one. */
function RoleScopes(): JSX.Element {
  return (
    <dl class="facts hint">
      {ADMIN_ROLES.map((role) => (
        <>
          <dt>{role}</dt>
          <dd>{SCOPES_OF_ROLE[role].join(', ')}</dd>
        </>
      ))}
    </dl>
  );
}

/** A new account. */
export function accountFormPage({
  name,
  role,
  errors,
}: Readonly<{ name: string; role: string; errors: FormErrors }>): Page {
  return {
    title: 'New account',
    crumbs: [LIST],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    body: (
      <Form action={NEW_ACCOUNT} errors={errors} submit="Create account" cancel={ACCOUNTS}>
        <Field name="name" label="Name" value={name} errors={errors} isRequired autofocus hint="a–z 0–9 _ . -" />
        <Choice name="role" label="Role" value={role} options={ROLE_OPTIONS} errors={errors} />
        <RoleScopes />
      </Form>
    ),
  };
}

export type AccountPageView = Readonly<{
  account: AdministratorView;
  sessions: readonly AdminSession[];
  tokens: readonly AdminToken[];
  mayChange: boolean;
  /** It is the one who looks. */
  isOwn: boolean;
  now: Temporal.Instant;
  errors: FormErrors;
  /** Made just now, shown this once. */
  password?: string;
}>;

/** One account, as those see it who look after accounts. */
export function accountPage(view: AccountPageView): Page {
  const { account, sessions, tokens, mayChange, isOwn, now, errors, password } = view;
  const base = `/admin/accounts/${account.name}`;
  return {
    title: account.name,
    crumbs: [LIST],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    body: (
      <>
        {password === undefined ? null : (
          <section class="once" aria-label="Password">
            <p>
              <strong>Password</strong>, shown this once; it must be changed at the next login:
            </p>
            <p>
              <code data-copy>{password}</code>
            </p>
          </section>
        )}
        <AccountFacts account={account} now={now} />
        {isOwn ? (
          <p>
            This is you: <a href="/admin/account">your own pages</a> have your password and second factor.
          </p>
        ) : null}
        {mayChange ? <AccountActions base={base} account={account} errors={errors} /> : null}
        <h2>Sessions</h2>
        <SessionTable sessions={sessions} now={now} endAt={mayChange ? base : undefined} own={undefined} />
        <h2>Tokens of the administration API</h2>
        <AdminTokenTable tokens={tokens} now={now} />
      </>
    ),
  };
}

function sessionsEnd(name: string, sessions: number): string {
  if (sessions === 0) return `${name} is not logged in.`;
  return `${countOf(sessions, 'session')} of ${name} ${sessions === 1 ? 'ends' : 'end'} at once.`;
}

/** Asks once more before an account's password is worth nothing. */
export function resetPasswordPage({ name }: Pick<AdministratorView, 'name'>, sessions: number): Page {
  const base = `/admin/accounts/${name}`;
  return askingPage({
    title: `Reset the password of ${name}`,
    crumbs: [LIST, { name, href: base }],
    says: [
      'The password of now is worth nothing any more. The new one is shown once, and must be changed at the next login.',
      sessionsEnd(name, sessions),
    ],
    action: `${base}/reset-password`,
    submit: 'Reset password',
    cancel: base,
  });
}

/** Asks once more before an account's logins need its password alone. */
export function removeFactorPage({ name, secondFactor }: AdministratorView, sessions: number): Page {
  const base = `/admin/accounts/${name}`;
  const [title, crumbs] = [`Remove the second factor of ${name}`, [LIST, { name, href: base }]];
  if (secondFactor === null)
    return nothingToAskPage({ title, crumbs, says: `${name} has no second factor.`, back: base });
  return askingPage({
    title,
    crumbs,
    says: [
      `Logins of ${name} need the password alone, until a new one is set up; the ${countOf(secondFactor.recoveryCodes.length, 'recovery code')} that are left are worth nothing any more.`,
      sessionsEnd(name, sessions),
    ],
    action: `${base}/remove-second-factor`,
    submit: 'Remove second factor',
    cancel: base,
  });
}

/** What there is to know of an account. */
export function AccountFacts({
  account,
  now,
}: Readonly<{ account: AdministratorView; now: Temporal.Instant }>): JSX.Element {
  const { role, secondFactor, lastLogin, createdAt } = account;
  return (
    <Facts
      facts={[
        ['State', <AccountState account={account} />],
        ['Role', role],
        [
          'Second factor',
          secondFactor === null ? 'none' : `set up, ${secondFactor.recoveryCodes.length} recovery codes left`,
        ],
        ['Last login', lastLogin === null ? 'never' : <When at={lastLogin} now={now} />],
        ['Created', <When at={createdAt} now={now} />],
      ]}
    />
  );
}

function AccountActions({
  base,
  account,
  errors,
}: Readonly<{ base: string; account: AdministratorView; errors: FormErrors }>): JSX.Element {
  return (
    <>
      <div class="inline">
        {account.isEnabled ? (
          <ActionButton action={`${base}/disable`} id="disable" label="Disable" isDangerous />
        ) : (
          <ActionButton action={`${base}/enable`} id="enable" label="Enable" />
        )}
        <a class="button" href={`${base}/reset-password`}>
          Reset password
        </a>
        {account.secondFactor === null ? null : (
          <a class="button danger" href={`${base}/remove-second-factor`}>
            Remove second factor
          </a>
        )}
      </div>
      <h2>Role</h2>
      <Form action={`${base}/role`} errors={errors} submit="Choose role">
        <Choice name="role" label="Role" value={account.role} options={ROLE_OPTIONS} errors={errors} />
        <RoleScopes />
      </Form>
    </>
  );
}

/** Where an account is logged in; `endAt`: where a session may be ended. */
export function SessionTable({
  sessions,
  now,
  endAt,
  own,
}: Readonly<{
  sessions: readonly AdminSession[];
  now: Temporal.Instant;
  endAt: string | undefined;
  /** The session of the one who looks. */
  own: string | undefined;
}>): JSX.Element {
  const columns: readonly Column<AdminSession>[] = [
    { key: 'id', name: 'Session', cell: ({ sessionId }) => <Code>{sessionId.slice(0, 8)}</Code> },
    { key: 'until', name: 'Ends', cell: ({ until }) => <When at={until} now={now} /> },
    {
      key: 'own',
      name: 'This one',
      cell: ({ sessionId }) => (sessionId === own ? <Badge state="ok">this one</Badge> : null),
    },
    ...(endAt === undefined
      ? []
      : [
          {
            key: 'actions',
            name: 'Actions',
            isHeadingHidden: true,
            cell: ({ sessionId }: AdminSession) =>
              sessionId === own ? (
                ''
              ) : (
                <ActionButton
                  action={`${endAt}/sessions/${sessionId}/end`}
                  id={`end-${sessionId}`}
                  label="End"
                  isDangerous
                />
              ),
          } as const,
        ]),
  ];
  return (
    <Table
      caption="Sessions"
      columns={own === undefined ? columns.filter(({ key }) => key !== 'own') : columns}
      rows={sessions}
      keyOf={({ sessionId }) => sessionId}
      empty="Nobody is logged in with this account."
    />
  );
}

/** Tokens for the administration API. */
export function AdminTokenTable({
  tokens,
  now,
  revokeAt,
}: Readonly<{ tokens: readonly AdminToken[]; now: Temporal.Instant; revokeAt?: string }>): JSX.Element {
  const columns: readonly Column<AdminToken>[] = [
    { key: 'label', name: 'Label', cell: ({ label }) => (label === '' ? null : label) },
    { key: 'id', name: 'Id', cell: ({ tokenId }) => <Code>{tokenId.slice(0, 8)}</Code> },
    { key: 'scopes', name: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
    { key: 'until', name: 'Runs out', cell: ({ until }) => <When at={until} now={now} /> },
    ...(revokeAt === undefined
      ? []
      : [
          {
            key: 'actions',
            name: 'Actions',
            isHeadingHidden: true,
            cell: ({ tokenId }: AdminToken) => (
              <a class="button danger" id={`revoke-${tokenId}`} href={`${revokeAt}/${tokenId}/revoke`}>
                Revoke
              </a>
            ),
          } as const,
        ]),
  ];
  return <Table caption="Tokens" columns={columns} rows={tokens} keyOf={({ tokenId }) => tokenId} empty="No tokens." />;
}
