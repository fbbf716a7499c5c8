import type { Temporal } from '@js-temporal/polyfill';
import type { Application } from '../../../../application/application.ts';
import { issueAdminToken, revokeAdminToken } from '../../../../application/ip-control/admin-tokens.ts';
import { findAdministrator } from '../../../../application/ip-control/administrators.ts';
import { SCOPES_OF_ROLE } from '../../../../domain/ip-control/admin-roles.ts';
import type { AdminToken } from '../../../../commands/ip-control/administrator-state.ts';
import type { AdminScope } from '../../../../events/ip-control/administrator.ts';
import { isRefusal } from '../../../../kernel/decider.ts';
import { fieldOf, notFoundPage, type Page, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import { Check, Field, Form, type FormErrors } from '../parts/form.tsx';
import { askingPage } from '../parts/asking.tsx';
import { countOf } from '../parts/text.tsx';
import { AdminTokenTable } from './account-pages.tsx';
import { Once } from './customer-page.tsx';
import { OWN_ACCOUNT, OwnTabs } from './own-account-pages.tsx';

export type OwnTokensDependencies = Pick<Application, 'administrators' | 'clock' | 'ids' | 'catchUp'> &
  Readonly<{
    views: Pick<Application['views'], 'adminTokens'>;
    /** Resolves when the views show everything that was recorded until now. */
    shown: () => Promise<void>;
  }>;

const PATH = '/admin/account/tokens';
const DAYS_DEFAULT = 90;
const DAYS_MAX = 365;

/** The tokens of the own account for the administration API. */
export function ownTokenPages(application: OwnTokensDependencies): readonly PageRoute[] {
  return [
    { method: 'GET', path: '/account/tokens', scope: 'own', handle: (ask) => show(ask, application, {}) },
    {
      method: 'POST',
      path: '/account/tokens',
      scope: 'own',
      needsFreshPassword: true,
      handle: (ask) => issue(ask, application),
    },
    {
      method: 'GET',
      path: '/account/tokens/{token}/revoke',
      scope: 'own',
      handle: async (ask) => withToken(ask, application, async (token) => ({ page: revokePage(token) })),
    },
    {
      method: 'POST',
      path: '/account/tokens/{token}/revoke',
      scope: 'own',
      handle: async (ask) =>
        withToken(ask, application, async ({ tokenId }) => {
          const { principal, context } = ask;
          const revoked = await revokeAdminToken({ id: tokenId, account: principal.account }, context, application);
          if (isRefusal(revoked)) return notFoundPage(revoked.because);
          await application.shown();
          return { goTo: PATH, message: { kind: 'ok', text: 'The token is worth nothing any more.' } };
        }),
    },
  ];
}

async function withToken(
  { params, principal: { account } }: PageAsk,
  application: OwnTokensDependencies,
  work: (token: AdminToken) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const state = await findAdministrator(account, application);
  const token = isRefusal(state) ? undefined : state.tokens.get(params['token'] ?? '');
  return token === undefined ? notFoundPage('You have no such token.') : work(token);
}

type Shown = Readonly<{ values?: Values; errors?: FormErrors; issued?: string }>;

async function show(
  { principal: { account, role } }: PageAsk,
  application: OwnTokensDependencies,
  { values, errors = {}, issued }: Shown,
): Promise<PageAnswer> {
  const state = await findAdministrator(account, application);
  if (isRefusal(state)) return notFoundPage(state.because);
  return {
    page: ownTokensPage({
      tokens: [...state.tokens.values()],
      scopes: SCOPES_OF_ROLE[role],
      values: values ?? { label: '', days: String(DAYS_DEFAULT), scopes: [] },
      errors,
      now: application.clock.now(),
      ...(issued === undefined ? {} : { issued }),
    }),
  };
}

async function issue(ask: PageAsk, application: OwnTokensDependencies): Promise<PageAnswer> {
  const { form, principal, context } = ask;
  const values = {
    label: fieldOf(form, 'label').trim(),
    days: fieldOf(form, 'days').trim(),
    scopes: [form['scopes'] ?? []].flat(),
  };
  const days = /^\d{1,3}$/.test(values.days) ? Number(values.days) : 0;
  const errors = {
    ...(values.label === '' ? { label: 'Say what it is for.' } : {}),
    ...(days < 1 || days > DAYS_MAX ? { days: `It must be a whole number from 1 to ${DAYS_MAX}.` } : {}),
    ...(values.scopes.length === 0 ? { '': 'A token needs one scope at least.' } : {}),
  };
  if (Object.keys(errors).length > 0) return show(ask, application, { values, errors });
  const { account } = principal;
  const wanted = { account, scopes: values.scopes, label: values.label, expires: `P${days}D` };
  const issued = await issueAdminToken(wanted, context, application);
  if (isRefusal(issued)) {
    const { field = '', because } = issued;
    return show(ask, application, { values, errors: { [FIELDS[field] ?? '']: because } });
  }
  await application.shown();
  return show(ask, application, { issued: issued.token });
}

/** Where what is wrong is said, by what the use case calls it. */
const FIELDS: Readonly<Record<string, string>> = { label: 'label', expires: 'days' };

type Values = Readonly<{ label: string; days: string; scopes: readonly string[] }>;

type OwnTokensView = Readonly<{
  tokens: readonly AdminToken[];
  /** What the own role may do: a token may do no more. */
  scopes: readonly AdminScope[];
  values: Values;
  errors: FormErrors;
  now: Temporal.Instant;
  /** Issued just now, and shown this once. */
  issued?: string;
}>;

function revokePage({ tokenId, label, scopes }: AdminToken): Page {
  const called = label === '' ? tokenId : label;
  return askingPage({
    title: `Revoke ${called}`,
    crumbs: [OWN_ACCOUNT, { name: 'API tokens', href: PATH }],
    says: [
      'Requests with this token are refused at once, and for good.',
      `It may do ${countOf(scopes.length, 'thing')}: ${scopes.join(', ')}.`,
    ],
    action: `${PATH}/${tokenId}/revoke`,
    submit: `Revoke ${called}`,
    cancel: PATH,
  });
}

/** The tokens of the own account, and the form for another one. */
export function ownTokensPage({ tokens, scopes, values, errors, now, issued }: OwnTokensView): Page {
  return {
    title: 'Your API tokens',
    crumbs: [OWN_ACCOUNT],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    body: (
      <>
        <OwnTabs path={PATH} />
        {issued === undefined ? null : (
          <Once label="Token" secret={issued}>
            <p>
              <code data-copy>{`Authorization: Bearer ${issued}`}</code>
            </p>
          </Once>
        )}
        <AdminTokenTable tokens={tokens} now={now} revokeAt={PATH} />
        <h2>Issue a token</h2>
        <Form action={PATH} errors={errors} submit="Issue token">
          <Field name="label" label="Label" value={values.label} errors={errors} hint="What it is for." isRequired />
          <Field
            name="days"
            label="Days until it runs out"
            type="number"
            value={values.days}
            errors={errors}
            isRequired
            more={{ min: 1, max: DAYS_MAX }}
          />
          <fieldset>
            <legend>What it may do</legend>
            {scopes.map((scope) => (
              <Check key={scope} name="scopes" value={scope} label={scope} isChecked={values.scopes.includes(scope)} />
            ))}
          </fieldset>
        </Form>
      </>
    ),
  };
}
