import {
  chooseAdministratorRole,
  createAdministrator,
  disableAdministrator,
  enableAdministrator,
  findAdministrator,
  listAdministrators,
  resetAdministratorPassword,
} from '../../../../application/ip-control/administrators.ts';
import { endSession, openSessionCounts, openSessionsOf } from '../../../../application/ip-control/admin-sessions.ts';
import { removeSecondFactor } from '../../../../application/ip-control/second-factor.ts';
import type { Application } from '../../../../application/application.ts';
import { ADMIN_ROLES } from '../../../../domain/ip-control/admin-roles.ts';
import { isRefusal, type Refusal } from '../../../../kernel/decider.ts';
import type { AdministratorView } from '../../../../projections/ip-control/administrator-view.ts';
import { mayDo } from '../../access.ts';
import { fieldOf, notFoundPage, type Page, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import type { FormErrors } from '../parts/form.tsx';
import { listQueryOf } from '../parts/list.tsx';
import { accountListPage, NEW_ACCOUNT } from './account-list.tsx';
import { accountFormPage, accountPage, removeFactorPage, resetPasswordPage } from './account-pages.tsx';

export type AccountPagesDependencies = Pick<Application, 'administrators' | 'secrets' | 'ids' | 'clock' | 'views'> &
  Readonly<{ shown: () => Promise<void> }>;

const SCOPE = 'accounts:write';

/** The pages of all accounts. */
export function accountPages(application: AccountPagesDependencies): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/accounts',
      scope: 'read',
      handle: async ({ principal, query }) => {
        const accounts = await listAdministrators(application);
        const now = application.clock.now();
        const sessions = await openSessionCounts(application);
        const mayCreate = mayDo(principal, SCOPE);
        return { page: accountListPage({ accounts, sessions, query: listQueryOf(query, ''), mayCreate, now }) };
      },
    },
    {
      method: 'GET',
      path: '/new-account',
      scope: SCOPE,
      handle: async () => ({ page: accountFormPage({ name: '', role: 'operator', errors: {} }) }),
    },
    {
      method: 'POST',
      path: '/new-account',
      scope: SCOPE,
      needsFreshPassword: true,
      handle: (ask) => create(ask, application),
    },
    {
      method: 'GET',
      path: '/accounts/{name}',
      scope: 'read',
      handle: async (ask) => {
        const name = nameOf(ask);
        // The form of a new account was here once: where nobody is called so, links that were kept lead to it.
        const isForm = name === 'new' && (await application.views.administrators.get(name)) === undefined;
        return isForm ? { goTo: NEW_ACCOUNT } : show(name, ask, application);
      },
    },
    question('reset-password', resetPasswordPage, application),
    question('remove-second-factor', removeFactorPage, application),
    ...changes(application),
  ];
}

function changes(application: AccountPagesDependencies): readonly PageRoute[] {
  return [
    change('role', async (name, ask) => {
      const role = ADMIN_ROLES.find((known) => known === fieldOf(ask.form, 'role'));
      if (role === undefined) return show(name, ask, application, { errors: { role: 'is not a role.' } });
      const chosen = await chooseAdministratorRole({ name, role }, ask.context, application);
      return done(chosen, name, ask, application, `${name} is ${role} from now on.`, 'role');
    }),
    change('disable', async (name, ask) =>
      done(await disableAdministrator(name, ask.context, application), name, ask, application, `${name} is disabled.`),
    ),
    change('enable', async (name, ask) =>
      done(await enableAdministrator(name, ask.context, application), name, ask, application, `${name} is enabled.`),
    ),
    change('reset-password', async (name, ask) => {
      const reset = await resetAdministratorPassword(name, ask.context, application);
      if (isRefusal(reset)) return show(name, ask, application, { errors: { '': reset.because } });
      await application.shown();
      return show(name, ask, application, { password: reset.password });
    }),
    change('remove-second-factor', async (name, ask) =>
      done(
        await removeSecondFactor({ name }, ask.context, application),
        name,
        ask,
        application,
        `The second factor of ${name} is removed.`,
      ),
    ),
    change('sessions/{session}/end', async (name, ask) => {
      const over = {
        account: name,
        sessionId: ask.params['session'] ?? '',
        because: 'ended-by-administrator',
      } as const;
      return done(await endSession(over, ask.context, application), name, ask, application, 'The session is over.');
    }),
  ];
}

function nameOf({ params }: PageAsk): string {
  return params['name'] ?? '';
}

async function create(
  { form, context, principal }: PageAsk,
  application: AccountPagesDependencies,
): Promise<PageAnswer> {
  const name = fieldOf(form, 'name').trim();
  const role = ADMIN_ROLES.find((known) => known === fieldOf(form, 'role'));
  if (role === undefined) return { page: accountFormPage({ name, role: '', errors: { role: 'is not a role.' } }) };
  const created = await createAdministrator({ name, role }, context, application);
  if (isRefusal(created)) return { page: accountFormPage({ name, role, errors: { name: created.because } }) };
  await application.shown();
  const view = await pageOf(name, principal.account, true, application, { password: created.password });
  return view ?? notFoundPage(`There is no account ${name}.`);
}

type Shown = Readonly<{ errors?: FormErrors; password?: string }>;

async function show(
  name: string,
  { principal }: PageAsk,
  application: AccountPagesDependencies,
  shown: Shown = {},
): Promise<PageAnswer> {
  const page = await pageOf(name, principal.account, mayDo(principal, SCOPE), application, shown);
  return page ?? notFoundPage(`There is no account ${name}.`);
}

async function pageOf(
  name: string,
  own: string,
  mayChange: boolean,
  application: AccountPagesDependencies,
  { errors = {}, password }: Shown,
): Promise<PageAnswer | undefined> {
  const account = await application.views.administrators.get(name);
  if (account === undefined) return undefined;
  const state = await findAdministrator(name, application);
  if (isRefusal(state)) return undefined;
  const view = {
    account,
    sessions: openSessionsOf(state, application),
    tokens: [...state.tokens.values()],
    mayChange,
    isOwn: own === name,
    now: application.clock.now(),
    errors,
    ...(password === undefined ? {} : { password }),
  };
  return { page: accountPage(view) };
}

async function done(
  answer: object | Refusal | undefined,
  name: string,
  ask: PageAsk,
  application: AccountPagesDependencies,
  text: string,
  field = '',
): Promise<PageAnswer> {
  if (answer !== undefined && isRefusal(answer)) {
    if (answer.refused === 'administrator-not-found') return notFoundPage(`There is no account ${name}.`);
    return show(name, ask, application, { errors: { [field]: answer.because } });
  }
  await application.shown();
  return { goTo: `/admin/accounts/${encodeURIComponent(name)}`, message: { kind: 'ok', text } };
}

/** Asks before something that is done to an account. */
function question(
  path: string,
  page: (account: AdministratorView, sessions: number) => Page,
  application: AccountPagesDependencies,
): PageRoute {
  return {
    method: 'GET',
    path: `/accounts/{name}/${path}`,
    scope: SCOPE,
    handle: async (ask) => {
      const name = nameOf(ask);
      const account = await application.views.administrators.get(name);
      const state = await findAdministrator(name, application);
      if (account === undefined || isRefusal(state)) return notFoundPage(`There is no account ${name}.`);
      return { page: page(account, openSessionsOf(state, application).length) };
    },
  };
}

/** Something that is done to an account, by those who look after accounts. */
function change(path: string, handle: (name: string, ask: PageAsk) => Promise<PageAnswer>): PageRoute {
  return {
    method: 'POST',
    path: `/accounts/{name}/${path}`,
    scope: SCOPE,
    needsFreshPassword: true,
    handle: (ask) => handle(nameOf(ask), ask),
  };
}
