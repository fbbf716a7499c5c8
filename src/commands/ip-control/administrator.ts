import { epochMilliseconds } from '../../domain/instants.ts';
import { isAdministratorName, scopesBeyond, SESSION_MILLISECONDS_MAX } from '../../domain/ip-control/admin-roles.ts';
import {
  type AdministratorEvent,
  administratorEvents,
  type AdminRole,
  type SecondFactorShown,
  type SessionEnd,
} from '../../events/ip-control/administrator.ts';
import { type Command, type Decider, type Decision, type Refusal, refuse } from '../../kernel/decider.ts';
import {
  type AdministratorAccount,
  type AdministratorState,
  type AdminSession,
  type AdminToken,
  evolveAdministrator,
} from './administrator-state.ts';

export type AdministratorCommand =
  | Command<'CreateAdministrator', { name: string; secretId: string; role?: AdminRole }>
  | Command<'ChooseAdministratorRole', { role: AdminRole } & Beside>
  | Command<'ChangeAdministratorPassword', { secretId: string; temporary: boolean; checkedSecretId?: string } & GoesOn>
  | Command<'DisableAdministrator', Beside>
  | Command<'EnableAdministrator'>
  | Command<'EnrolSecondFactor', { secretId: string; recoveryCodes: string[]; step: number } & GoesOn>
  | Command<'RemoveSecondFactor', GoesOn>
  | Command<'OpenAdministratorSession', AdminSession & Login>
  | Command<'ReplaceAdministratorSession', { sessionId: string; by: AdminSession }>
  | Command<'EndAdministratorSession', { sessionId: string; because: SessionEnd }>
  | Command<'IssueAdminToken', AdminToken>
  | Command<'RevokeAdminToken', { tokenId: string }>;

/** How many other accounts are enabled and may do all that administrators may. */
type Beside = { otherAdministrators: number };

/** `checkedSecretId`: the stored password that was shown; it must still be the account's. */
type Login = { checkedSecretId: string; failuresBefore: number; secondFactor?: SecondFactorShown };

/** All sessions end; the administrator who asks goes on in this one, where it is given. */
type GoesOn = { goesOnIn?: AdminSession };

const LABEL_CHARACTERS_MAX = 200;

/** The rules of one administrator's account. */
export const administratorDecider = {
  category: 'administrator',
  handles: administratorEvents.map(({ type }) => type),
  initial: { exists: false },
  evolve: evolveAdministrator,
  decide: (command, state) => {
    if (command.type === 'CreateAdministrator') return create(command.data, state);
    if (!state.exists) return refuse('administrator-not-found', 'administrator not found.', 'name');
    return decideOf(command, state);
  },
} as const satisfies Decider<AdministratorCommand, AdministratorState, AdministratorEvent> &
  Readonly<{ handles: readonly AdministratorEvent['type'][] }>;

type CreateData = Extract<AdministratorCommand, { type: 'CreateAdministrator' }>['data'];

function create(
  { name, secretId, role = 'administrator' }: CreateData,
  state: AdministratorState,
): Decision<AdministratorEvent> {
  if (!isAdministratorName(name)) {
    return refuse(
      'bad-administrator-name',
      'a name has 1 to 64 of a–z 0–9 _ . - and starts with a letter or digit.',
      'name',
    );
  }
  if (state.exists) return refuse('administrator-exists', `administrator ${name} exists already.`, 'name');
  const created = { type: 'AdministratorCreated', data: { name, secretId } } as const;
  return role === 'administrator' ? [created] : [created, { type: 'AdministratorRoleChosen', data: { role } }];
}

type OfAccount = Exclude<AdministratorCommand, { type: 'CreateAdministrator' }>;

function decideOf(command: OfAccount, state: AdministratorAccount): Decision<AdministratorEvent> {
  switch (command.type) {
    case 'ChooseAdministratorRole': {
      const { role, otherAdministrators } = command.data;
      if (role === state.role) return [];
      const chosen = { type: 'AdministratorRoleChosen', data: { role } } as const;
      return lastOne(state, otherAdministrators) ?? [chosen, ...endOfAll(state, 'role-changed')];
    }
    case 'DisableAdministrator': {
      if (!state.isEnabled) return [];
      const disabled = { type: 'AdministratorDisabled', data: {} } as const;
      return lastOne(state, command.data.otherAdministrators) ?? [disabled, ...endOfAll(state, 'account-disabled')];
    }
    case 'EnableAdministrator':
      return state.isEnabled ? [] : [{ type: 'AdministratorEnabled', data: {} }];
    case 'ChangeAdministratorPassword': {
      const { secretId, temporary, goesOnIn, checkedSecretId = state.secretId } = command.data;
      if (secretId === state.secretId) return [];
      if (checkedSecretId !== state.secretId) return PASSWORD_CHANGED;
      const changed = { type: 'AdministratorPasswordChanged', data: { secretId, temporary } } as const;
      return [changed, ...endOfAll(state, 'password-changed'), ...opened(goesOnIn)];
    }
    case 'EnrolSecondFactor': {
      const { secretId, recoveryCodes, step, goesOnIn } = command.data;
      if (state.secondFactor?.secretId === secretId) return [];
      if (state.secondFactor !== undefined)
        return refuse('second-factor-enrolled', 'a second factor is set up already: remove it first.', 'code');
      const enrolled = { type: 'SecondFactorEnrolled', data: { secretId, recoveryCodes, step } } as const;
      return [enrolled, ...endOfAll(state, 'second-factor-changed'), ...opened(goesOnIn)];
    }
    case 'RemoveSecondFactor': {
      if (state.secondFactor === undefined) return [];
      const removed = { type: 'SecondFactorRemoved', data: {} } as const;
      return [removed, ...endOfAll(state, 'second-factor-changed'), ...opened(command.data.goesOnIn)];
    }
    case 'OpenAdministratorSession':
      return openSession(command.data, state);
    case 'ReplaceAdministratorSession': {
      const { sessionId, by } = command.data;
      if (state.sessions.has(by.sessionId)) return [];
      const session = state.sessions.get(sessionId);
      if (session === undefined) return refuse('session-over', 'this session is over: log in again.', 'session');
      return [ended(session, 'replaced'), ...opened(by)];
    }
    case 'EndAdministratorSession': {
      const session = state.sessions.get(command.data.sessionId);
      return session === undefined ? [] : [ended(session, command.data.because)];
    }
    case 'IssueAdminToken':
      return issueToken(command.data, state);
    case 'RevokeAdminToken': {
      const token = state.tokens.get(command.data.tokenId);
      if (token === undefined) return [];
      return [{ type: 'AdminTokenRevoked', data: { tokenId: token.tokenId, sha256: token.sha256 } }];
    }
  }
}

function lastOne({ name, role, isEnabled }: AdministratorAccount, others: number): Refusal | undefined {
  if (role !== 'administrator' || !isEnabled || others > 0) return undefined;
  return refuse(
    'last-administrator',
    `${name} is the last administrator who is enabled: create or enable another one first.`,
    'name',
  );
}

type OpenData = Extract<AdministratorCommand, { type: 'OpenAdministratorSession' }>['data'];

const PASSWORD_CHANGED = refuse('password-changed', 'the password was changed meanwhile: log in again.', 'password');

function openSession(
  { checkedSecretId, ...data }: OpenData,
  state: AdministratorAccount,
): Decision<AdministratorEvent> {
  if (state.sessions.has(data.sessionId)) return [];
  if (!state.isEnabled) return refuse('administrator-disabled', `administrator ${state.name} is disabled.`, 'name');
  if (checkedSecretId !== state.secretId) return PASSWORD_CHANGED;
  const { secondFactor: shown } = data;
  const { secondFactor: factor } = state;
  if (factor !== undefined) {
    if (shown === undefined) return refuse('second-factor-needed', 'a code is needed beside the password.', 'code');
    const isNew = 'step' in shown ? shown.step > factor.lastStep : factor.recoveryCodes.includes(shown.recoveryCode);
    if (!isNew) return refuse('second-factor-used', 'this code was used already: wait for the next one.', 'code');
  }
  return [...runOut(data, state), { type: 'AdministratorSessionOpened', data }];
}

/** What has run out is put away at the next login, so that as many sessions are known as there can be. */
function runOut({ until }: AdminSession, { sessions }: AdministratorAccount) {
  const openedAt = epochMilliseconds(until) - SESSION_MILLISECONDS_MAX;
  const over = [...sessions.values()].filter((session) => epochMilliseconds(session.until) <= openedAt);
  return over.map((session) => ended(session, 'run-out'));
}

function issueToken(data: AdminToken, state: AdministratorAccount): Decision<AdministratorEvent> {
  if (state.tokens.has(data.tokenId)) return [];
  if (!state.isEnabled) return refuse('administrator-disabled', `administrator ${state.name} is disabled.`, 'name');
  if (data.label.length > LABEL_CHARACTERS_MAX)
    return refuse('bad-label', `a label has at most ${LABEL_CHARACTERS_MAX} characters.`, 'label');
  if (data.scopes.length === 0) return refuse('bad-scopes', 'a token needs one scope at least.', 'scopes');
  const beyond = scopesBeyond(state.role, data.scopes);
  if (beyond.length > 0) {
    return refuse(
      'scopes-beyond-role',
      `the role ${state.role} does not have ${beyond.join(', ')}: a token can't have more than its account.`,
      'scopes',
    );
  }
  return [{ type: 'AdminTokenIssued', data: { ...data, scopes: [...data.scopes] } }];
}

function endOfAll(
  { sessions }: AdministratorAccount,
  because: SessionEnd,
): readonly Extract<AdministratorEvent, { type: 'AdministratorSessionEnded' }>[] {
  return [...sessions.values()].map((session) => ended(session, because));
}

function opened(session: AdminSession | undefined) {
  if (session === undefined) return [];
  return [{ type: 'AdministratorSessionOpened', data: { ...session, failuresBefore: 0 } } as const];
}

function ended({ sessionId, sha256 }: AdminSession, because: SessionEnd) {
  return { type: 'AdministratorSessionEnded', data: { sessionId, sha256, because } } as const;
}
