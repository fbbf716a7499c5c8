import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import { encode } from 'uqr';
import type { AdminSession } from '../../../../commands/ip-control/administrator-state.ts';
import type { AdministratorView } from '../../../../projections/ip-control/administrator-view.ts';
import { Tabs } from '../layout.tsx';
import type { Crumb, Page } from '../page.ts';
import { askingPage, nothingToAskPage } from '../parts/asking.tsx';
import { Badge } from '../parts/badge.tsx';
import { Field, Form, type FormErrors } from '../parts/form.tsx';
import { Code, countOf, When } from '../parts/text.tsx';
import { AccountFacts, SessionTable } from './account-pages.tsx';

/** The way to a page of the own account. */
export const OWN_ACCOUNT: Crumb = { name: 'Your account', href: '/admin/account' };

const SECOND_FACTOR = '/admin/account/second-factor';

/** The pages of the own account. */
export function OwnTabs({ path }: Readonly<{ path: string }>): JSX.Element {
  const tabs = [
    { href: '/admin/account', name: 'Account' },
    { href: '/admin/account/password', name: 'Password' },
    { href: '/admin/account/second-factor', name: 'Second factor' },
    { href: '/admin/account/tokens', name: 'API tokens' },
  ];
  return <Tabs label="Of your account" tabs={tabs} path={path} />;
}

/** The own account, and where one is logged in. */
export function ownAccountPage({
  account,
  sessions,
  own,
  now,
}: Readonly<{
  account: AdministratorView;
  sessions: readonly AdminSession[];
  own: string;
  now: Temporal.Instant;
}>): Page {
  return {
    title: `Your account: ${account.name}`,
    body: (
      <>
        <OwnTabs path="/admin/account" />
        <AccountFacts account={account} now={now} />
        <h2>Sessions</h2>
        <SessionTable sessions={sessions} now={now} endAt="/admin/account" own={own} />
      </>
    ),
  };
}

/** Another password. */
export function passwordPage({ isTemporary, errors }: Readonly<{ isTemporary: boolean; errors: FormErrors }>): Page {
  return {
    title: 'Your password',
    ...(isTemporary ? {} : { crumbs: [OWN_ACCOUNT] }),
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    body: (
      <>
        {isTemporary ? null : <OwnTabs path="/admin/account/password" />}
        <Form action="/admin/account/password" errors={errors} submit="Change password">
          {isTemporary ? null : (
            <Field
              name="current"
              label="Password of now"
              type="password"
              errors={errors}
              autocomplete="current-password"
              isRequired
              autofocus
            />
          )}
          <Field
            name="password"
            label="New password"
            type="password"
            errors={errors}
            hint="12 to 128 characters. Your other sessions end."
            autocomplete="new-password"
            isRequired
            autofocus={isTemporary}
          />
          <Field
            name="again"
            label="New password again"
            type="password"
            errors={errors}
            autocomplete="new-password"
            isRequired
          />
        </Form>
      </>
    ),
  };
}

export type SecondFactorView =
  | Readonly<{ kind: 'set-up'; since: string; left: number; now: Temporal.Instant }>
  | Readonly<{ kind: 'new'; secret: string; address: string; errors: FormErrors }>
  | Readonly<{ kind: 'done'; recoveryCodes: readonly string[] }>;

/** The second factor: set up, to be set up, or set up just now. */
export function ownSecondFactorPage(view: SecondFactorView): Page {
  return {
    title: 'Second factor',
    crumbs: [OWN_ACCOUNT],
    ...(view.kind === 'new' && Object.keys(view.errors).length > 0 ? { status: 422 } : {}),
    body: (
      <>
        <OwnTabs path="/admin/account/second-factor" />
        <SecondFactor view={view} />
      </>
    ),
  };
}

/** Asks once more before logins need the password alone. */
export function removeOwnFactorPage({ secondFactor }: Pick<AdministratorView, 'secondFactor'>): Page {
  const title = 'Remove your second factor';
  const crumbs = [OWN_ACCOUNT, { name: 'Second factor', href: SECOND_FACTOR }];
  if (secondFactor === null)
    return nothingToAskPage({ title, crumbs, says: 'You have no second factor.', back: SECOND_FACTOR });
  return askingPage({
    title,
    crumbs,
    says: [
      `Your logins need the password alone, until a new one is set up; the ${countOf(secondFactor.recoveryCodes.length, 'recovery code')} that you have left are worth nothing any more.`,
      'Your other sessions end.',
    ],
    action: `${SECOND_FACTOR}/remove`,
    submit: 'Remove second factor',
    cancel: SECOND_FACTOR,
  });
}

function SecondFactor({ view }: Readonly<{ view: SecondFactorView }>): JSX.Element {
  switch (view.kind) {
    case 'set-up':
      return (
        <>
          <p>
            <Badge state="ok">set up</Badge> <When at={view.since} now={view.now} />; {String(view.left)} recovery codes
            are left.
          </p>
          <a class="button danger" href={`${SECOND_FACTOR}/remove`}>
            Remove second factor
          </a>
        </>
      );
    case 'new':
      return (
        <>
          <p>Read this with an app for one-time codes, or type its secret, and then the code that the app shows.</p>
          <QrCode text={view.address} />
          <p>
            Secret: <Code>{view.secret.replaceAll(/(.{4})/g, '$1 ').trim()}</Code>
          </p>
          <Form action="/admin/account/second-factor" errors={view.errors} submit="Set up">
            <input type="hidden" name="secret" value={view.secret} />
            <Field name="code" label="Code" errors={view.errors} autocomplete="one-time-code" isRequired autofocus />
          </Form>
        </>
      );
    case 'done':
      return (
        <section class="once" aria-label="Recovery codes">
          <p>
            <strong>Recovery codes</strong>, shown this once. Each replaces a code one time, when the app is not at
            hand:
          </p>
          <pre data-copy>{view.recoveryCodes.join('\n')}</pre>
        </section>
      );
  }
}

/** One path: a square for each dark module. */
function QrCode({ text }: Readonly<{ text: string }>): JSX.Element {
  const { data, size } = encode(text, { border: 2 });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg
      class="qr"
      width="196"
      height="196"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="The secret as a QR code"
    >
      <path d={dark.join('')} fill="#000" />
    </svg>
  );
}
