import { changeOwnPassword, findAdministrator } from '../../../../application/ip-control/administrators.ts';
import {
  checkPassword,
  endSession,
  newSession,
  openSessionsOf,
} from '../../../../application/ip-control/admin-sessions.ts';
import type { PasswordChecks } from '../../../../application/ip-control/admin-passwords.ts';
import {
  enrolSecondFactor,
  newSecondFactor,
  removeSecondFactor,
  secondFactorOf,
} from '../../../../application/ip-control/second-factor.ts';
import type { Application } from '../../../../application/application.ts';
import { isRefusal } from '../../../../kernel/decider.ts';
import type { LoginThrottle } from '../../login-throttle.ts';
import { fieldOf, notFoundPage, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import type { FormErrors } from '../parts/form.tsx';
import { ownAccountPage, ownSecondFactorPage, passwordPage, removeOwnFactorPage } from './own-account-pages.tsx';

export type OwnAccountDependencies = Pick<Application, 'administrators' | 'secrets' | 'ids' | 'clock' | 'views'> &
  Readonly<{ passwords: PasswordChecks; throttle: LoginThrottle; shown: () => Promise<void> }>;

/** The pages of the own account, whatever its role. */
export function ownAccountPages(application: OwnAccountDependencies): readonly PageRoute[] {
  return [
    { method: 'GET', path: '/account', scope: 'own', handle: (ask) => show(ask, application) },
    {
      method: 'POST',
      path: '/account/sessions/{session}/end',
      scope: 'own',
      handle: async ({ params, principal: { account }, context }) => {
        const over = { account, sessionId: params['session'] ?? '', because: 'ended-by-administrator' } as const;
        await endSession(over, context, application);
        await application.shown();
        return { goTo: '/admin/account', message: { kind: 'ok', text: 'The session is over.' } };
      },
    },
    {
      method: 'GET',
      path: '/account/password',
      scope: 'own',
      handle: async ({ loggedIn }) => ({
        page: passwordPage({ isTemporary: loggedIn.account.isTemporary, errors: {} }),
      }),
    },
    { method: 'POST', path: '/account/password', scope: 'own', handle: (ask) => changePassword(ask, application) },
    { method: 'GET', path: '/account/second-factor', scope: 'own', handle: (ask) => secondFactor(ask, application) },
    {
      method: 'POST',
      path: '/account/second-factor',
      scope: 'own',
      needsFreshPassword: true,
      handle: (ask) => enrol(ask, application),
    },
    {
      method: 'GET',
      path: '/account/second-factor/remove',
      scope: 'own',
      handle: async ({ loggedIn }) => ({ page: removeOwnFactorPage(loggedIn.account) }),
    },
    {
      method: 'POST',
      path: '/account/second-factor/remove',
      scope: 'own',
      needsFreshPassword: true,
      handle: async ({ principal, loggedIn, context, goOnIn }) => {
        const next = newSession(application, loggedIn.session.until);
        const wanted = { name: principal.account, goesOnIn: next.session };
        const removed = await removeSecondFactor(wanted, context, application);
        if (isRefusal(removed)) return notFoundPage(removed.because);
        await application.shown();
        if (removed.isChanged) goOnIn(next);
        return { goTo: '/admin/account', message: { kind: 'ok', text: 'The second factor is removed.' } };
      },
    },
  ];
}

async function show({ loggedIn }: PageAsk, application: OwnAccountDependencies): Promise<PageAnswer> {
  const { account, session } = loggedIn;
  const state = await findAdministrator(account.name, application);
  if (isRefusal(state)) return notFoundPage(state.because);
  const view = {
    account,
    sessions: openSessionsOf(state, application),
    own: session.sessionId,
    now: application.clock.now(),
  };
  return { page: ownAccountPage(view) };
}

async function changePassword(ask: PageAsk, application: OwnAccountDependencies): Promise<PageAnswer> {
  const { form, loggedIn, context, goOnIn, request } = ask;
  const { account } = loggedIn;
  const { isTemporary, name } = account;
  const again = (errors: FormErrors): PageAnswer => ({ page: passwordPage({ isTemporary, errors }) });
  const [current, password] = [fieldOf(form, 'current'), fieldOf(form, 'password')];
  if (password !== fieldOf(form, 'again')) return again({ again: 'is not the same as above.' });
  if (!isTemporary) {
    const checked = await application.throttle.hear(
      { request, account: name, isKnownDevice: true },
      () => checkPassword({ name, password: current }, application),
      (found) => found === 'wrong',
    );
    if (checked === 'busy') return again({ '': 'Too many passwords are being checked: try again.' });
    if (checked === 'wrong') return again({ current: 'This is not your password.' });
    if ('waitSeconds' in checked)
      return again({ current: `Too many wrong passwords: wait ${Math.ceil(checked.waitSeconds / 60)} minutes.` });
    if (password === current) return again({ password: 'must be another one than now.' });
  }
  const next = newSession(application, loggedIn.session.until);
  const wanted = { name, password, goesOnIn: next.session, checkedSecretId: account.secretId };
  const refused = await changeOwnPassword(wanted, context, application);
  if (refused !== undefined) return again({ [refused.field ?? '']: refused.because });
  await application.shown();
  goOnIn(next);
  return {
    goTo: isTemporary ? '/admin/' : '/admin/account',
    message: { kind: 'ok', text: 'Your password is changed.' },
  };
}

async function secondFactor({ loggedIn }: PageAsk, application: OwnAccountDependencies): Promise<PageAnswer> {
  const { secondFactor: factor, name } = loggedIn.account;
  if (factor === null) {
    return { page: ownSecondFactorPage({ kind: 'new', ...newSecondFactor(name, application.ids), errors: {} }) };
  }
  const { since, recoveryCodes } = factor;
  return {
    page: ownSecondFactorPage({ kind: 'set-up', since, left: recoveryCodes.length, now: application.clock.now() }),
  };
}

async function enrol(
  { form, principal, loggedIn, context, goOnIn }: PageAsk,
  application: OwnAccountDependencies,
): Promise<PageAnswer> {
  const { account: name } = principal;
  const [secret, code] = [fieldOf(form, 'secret'), fieldOf(form, 'code')];
  const next = newSession(application, loggedIn.session.until);
  const enrolled = await enrolSecondFactor({ name, secret, code, goesOnIn: next.session }, context, application);
  if (isRefusal(enrolled)) {
    const errors = { code: enrolled.because };
    const shown =
      enrolled.refused === 'wrong-code' ? secondFactorOf(name, secret) : newSecondFactor(name, application.ids);
    return { page: ownSecondFactorPage({ kind: 'new', ...shown, errors }) };
  }
  await application.shown();
  goOnIn(next);
  const message = { kind: 'ok', text: 'Logins need a code from now on.' } as const;
  return { page: ownSecondFactorPage({ kind: 'done', recoveryCodes: enrolled.recoveryCodes }), message };
}
