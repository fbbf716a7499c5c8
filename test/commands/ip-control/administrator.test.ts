import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { administratorDecider } from '../../../src/commands/ip-control/administrator.ts';
import { ADMIN_ROLES, ADMIN_SCOPES, scopesBeyond, SCOPES_OF_ROLE } from '../../../src/domain/ip-control/admin-roles.ts';
import type { AdministratorEvent, AdminRole, SessionEnd } from '../../../src/events/ip-control/administrator.ts';
import { specify, stateAfter } from '../../specification.ts';

const { given } = specify(administratorDecider);

const create = (name: string) =>
  ({ type: 'CreateAdministrator', data: { name, secretId: `administrator-${name}` } }) as const;
const created = (name: string): AdministratorEvent => ({
  type: 'AdministratorCreated',
  data: { name, secretId: `administrator-${name}` },
});
const ada = created('ada');
const disabled: AdministratorEvent = { type: 'AdministratorDisabled', data: {} };
const enabled: AdministratorEvent = { type: 'AdministratorEnabled', data: {} };
const chosen = (role: AdminRole): AdministratorEvent => ({ type: 'AdministratorRoleChosen', data: { role } });
const choose = (role: AdminRole, otherAdministrators = 1) =>
  ({ type: 'ChooseAdministratorRole', data: { role, otherAdministrators } }) as const;
const disable = (otherAdministrators = 1) => ({ type: 'DisableAdministrator', data: { otherAdministrators } }) as const;

const session = (sessionId: string, until = '2026-11-28T12:00:00.000+00:00') => ({
  sessionId,
  sha256: `sha-${sessionId}`,
  until,
});
const opened = (sessionId: string, until?: string): AdministratorEvent => ({
  type: 'AdministratorSessionOpened',
  data: { ...session(sessionId, until), failuresBefore: 0 },
});
const ended = (sessionId: string, because: SessionEnd): AdministratorEvent => ({
  type: 'AdministratorSessionEnded',
  data: { sessionId, sha256: `sha-${sessionId}`, because },
});
const open = (sessionId: string, secondFactor?: { step: number } | { recoveryCode: string }) =>
  ({
    type: 'OpenAdministratorSession',
    data: {
      ...session(sessionId),
      checkedSecretId: 'administrator-ada',
      failuresBefore: 0,
      ...(secondFactor === undefined ? {} : { secondFactor }),
    },
  }) as const;
const enrolled: AdministratorEvent = {
  type: 'SecondFactorEnrolled',
  data: { secretId: 'codes-1', recoveryCodes: ['r1', 'r2'], step: 98 },
};
const token = {
  tokenId: 't1',
  label: 'backup',
  sha256: 'sha-t1',
  scopes: ['read', 'events:export'] as const,
  until: '2027-02-26T12:00:00.000+00:00',
};
const issued: AdministratorEvent = { type: 'AdminTokenIssued', data: { ...token, scopes: [...token.scopes] } };

test('an administrator is created; the event names the secret and does not hold it', () => {
  given().when(create('ada')).yields(ada);
});

test('an account with less than all rights is created with its role', () => {
  const data = { name: 'rob', secretId: 'administrator-rob' };
  given()
    .when({ type: 'CreateAdministrator', data: { ...data, role: 'reviewer' } })
    .yields(created('rob'), chosen('reviewer'));
  given()
    .when({ type: 'CreateAdministrator', data: { ...data, role: 'administrator' } })
    .yields(created('rob'));
});

test('a name is taken once', () => {
  given(ada).when(create('ada')).isRefused('administrator-exists', 'administrator ada exists already.');
});

test('names keep to characters that every store takes', () => {
  for (const name of ['', 'Ada', 'a b', '-a', '.a', 'a/b', 'a@cli', 'a+b', 'a\n', 'ü', 'a'.repeat(65)]) {
    given().when(create(name)).isRefused('bad-administrator-name');
  }
  for (const name of ['a', '0', 'ada.l_2-x', 'a'.repeat(64)]) given().when(create(name)).yields(created(name));
});

test('nothing is done to an account that does not exist', () => {
  given().when(disable()).isRefused('administrator-not-found');
  given().when(open('s1')).isRefused('administrator-not-found');
});

test('a role is chosen; whoever is logged in logs in again', () => {
  given(ada).when(choose('operator')).yields(chosen('operator'));
  given(ada).when(choose('administrator')).yieldsNothing();
  given(ada, opened('s1')).when(choose('auditor')).yields(chosen('auditor'), ended('s1', 'role-changed'));
});

test('an account is disabled and enabled', () => {
  given(ada, opened('s1'), opened('s2'))
    .when(disable())
    .yields(disabled, ended('s1', 'account-disabled'), ended('s2', 'account-disabled'));
  given(ada, disabled).when(disable()).yieldsNothing();
  given(ada, disabled).when({ type: 'EnableAdministrator', data: {} }).yields(enabled);
  given(ada).when({ type: 'EnableAdministrator', data: {} }).yieldsNothing();
});

test('the last administrator who is enabled stays one', () => {
  const sentence = 'ada is the last administrator who is enabled: create or enable another one first.';
  given(ada).when(disable(0)).isRefused('last-administrator', sentence);
  given(ada).when(choose('auditor', 0)).isRefused('last-administrator', sentence);
  given(ada).when(choose('administrator', 0)).yieldsNothing();
  given(ada, chosen('auditor')).when(disable(0)).yields(disabled);
  given(ada, disabled).when(choose('auditor', 0)).yields(chosen('auditor'));
});

test('another password ends all sessions, but for the one that goes on in their place', () => {
  const data = { secretId: 'administrator-ada-2', temporary: false };
  const changed: AdministratorEvent = { type: 'AdministratorPasswordChanged', data };
  given(ada, opened('s1'))
    .when({ type: 'ChangeAdministratorPassword', data })
    .yields(changed, ended('s1', 'password-changed'));
  given(ada, opened('s1'))
    .when({ type: 'ChangeAdministratorPassword', data: { ...data, goesOnIn: session('s2') } })
    .yields(changed, ended('s1', 'password-changed'), opened('s2'));
});

test('a password that was changed since it was checked opens no session, and sets no other password', () => {
  const reset: AdministratorEvent = {
    type: 'AdministratorPasswordChanged',
    data: { secretId: 'administrator-ada-2', temporary: true },
  };
  given(ada, reset).when(open('s1')).isRefused('password-changed');
  const change = { secretId: 'administrator-ada-3', temporary: false, goesOnIn: session('s2') };
  given(ada, reset)
    .when({ type: 'ChangeAdministratorPassword', data: { ...change, checkedSecretId: 'administrator-ada' } })
    .isRefused('password-changed', 'the password was changed meanwhile: log in again.');
  given(ada, reset)
    .when({ type: 'ChangeAdministratorPassword', data: { ...change, checkedSecretId: 'administrator-ada-2' } })
    .yields(
      { type: 'AdministratorPasswordChanged', data: { secretId: 'administrator-ada-3', temporary: false } },
      opened('s2'),
    );
});

test('the code that was shown to set up the second factor opens no session', () => {
  given(ada, enrolled)
    .when(open('s1', { step: 98 }))
    .isRefused('second-factor-used');
  const before: AdministratorEvent = {
    type: 'SecondFactorEnrolled',
    data: { secretId: 'codes-1', recoveryCodes: ['r1', 'r2'] },
  };
  const data = { ...session('s1'), failuresBefore: 0, secondFactor: { step: 98 } };
  given(ada, before)
    .when(open('s1', { step: 98 }))
    .yields({ type: 'AdministratorSessionOpened', data });
});

const isTemporary = (...events: AdministratorEvent[]) => {
  const state = stateAfter(administratorDecider, ada, ...events);
  return state.exists && state.isTemporary;
};

test('a password is temporary while another person knows it', () => {
  const own: AdministratorEvent = { type: 'AdministratorPasswordChanged', data: { secretId: 'b', temporary: false } };
  const reset: AdministratorEvent = { type: 'AdministratorPasswordChanged', data: { secretId: 'c', temporary: true } };
  assert.equal([isTemporary(), isTemporary(own), isTemporary(own, reset)], [true, false, true]);
});

test('a session is opened, replaced and ended, each once', () => {
  given(ada).when(open('s1')).yields(opened('s1'));
  given(ada, opened('s1')).when(open('s1')).yieldsNothing();
  const replace = { type: 'ReplaceAdministratorSession', data: { sessionId: 's1', by: session('s2') } } as const;
  given(ada, opened('s1')).when(replace).yields(ended('s1', 'replaced'), opened('s2'));
  given(ada).when(replace).isRefused('session-over');
  const end = { type: 'EndAdministratorSession', data: { sessionId: 's1', because: 'logged-out' } } as const;
  given(ada, opened('s1')).when(end).yields(ended('s1', 'logged-out'));
  given(ada).when(end).yieldsNothing();
  given(ada, disabled).when(open('s1')).isRefused('administrator-disabled');
});

test('what has run out is put away at the next login', () => {
  given(ada, opened('old', '2026-11-28T00:00:00.000+00:00'), opened('yet', '2026-11-28T00:00:01.000+00:00'))
    .when(open('s1'))
    .yields(ended('old', 'run-out'), opened('s1'));
});

test('a second factor is set up, needed, and removed', () => {
  given(ada, opened('s1'))
    .when({
      type: 'EnrolSecondFactor',
      data: { secretId: 'codes-1', recoveryCodes: ['r1', 'r2'], step: 98, goesOnIn: session('s2') },
    })
    .yields(enrolled, ended('s1', 'second-factor-changed'), opened('s2'));
  given(ada, enrolled)
    .when({ type: 'EnrolSecondFactor', data: { secretId: 'codes-2', recoveryCodes: [], step: 98 } })
    .isRefused('second-factor-enrolled');
  given(ada, enrolled).when(open('s1')).isRefused('second-factor-needed');
  given(ada, enrolled, opened('s1'))
    .when({ type: 'RemoveSecondFactor', data: {} })
    .yields({ type: 'SecondFactorRemoved', data: {} }, ended('s1', 'second-factor-changed'));
  given(ada).when({ type: 'RemoveSecondFactor', data: {} }).yieldsNothing();
});

test('a code is taken once, and none of an earlier step after it; so is a recovery code', () => {
  const used = (secondFactor: { step: number } | { recoveryCode: string }): AdministratorEvent => ({
    type: 'AdministratorSessionOpened',
    data: { ...session('s0'), failuresBefore: 0, secondFactor },
  });
  const last = given(ada, enrolled, used({ step: 100 }));
  last.when(open('s1', { step: 100 })).isRefused('second-factor-used');
  last.when(open('s1', { step: 99 })).isRefused('second-factor-used');
  last.when(open('s1', { step: 101 })).yields({
    type: 'AdministratorSessionOpened',
    data: { ...session('s1'), failuresBefore: 0, secondFactor: { step: 101 } },
  });
  given(ada, enrolled, used({ recoveryCode: 'r1' }))
    .when(open('s1', { recoveryCode: 'r1' }))
    .isRefused('second-factor-used');
  given(ada, enrolled)
    .when(open('s1', { recoveryCode: 'r9' }))
    .isRefused('second-factor-used');
});

test('a token has no more than its account', () => {
  given(ada).when({ type: 'IssueAdminToken', data: token }).yields(issued);
  given(ada, chosen('auditor')).when({ type: 'IssueAdminToken', data: token }).yields(issued);
  given(ada, chosen('operator'))
    .when({ type: 'IssueAdminToken', data: token })
    .isRefused(
      'scopes-beyond-role',
      "the role operator does not have events:export: a token can't have more than its account.",
    );
  given(ada)
    .when({ type: 'IssueAdminToken', data: { ...token, scopes: [] } })
    .isRefused('bad-scopes');
  given(ada)
    .when({ type: 'IssueAdminToken', data: { ...token, label: 'x'.repeat(201) } })
    .isRefused('bad-label');
  given(ada, disabled).when({ type: 'IssueAdminToken', data: token }).isRefused('administrator-disabled');
});

test('a token is revoked once', () => {
  const revoke = { type: 'RevokeAdminToken', data: { tokenId: 't1' } } as const;
  given(ada, issued)
    .when(revoke)
    .yields({ type: 'AdminTokenRevoked', data: { tokenId: 't1', sha256: 'sha-t1' } });
  given(ada).when(revoke).yieldsNothing();
});

const mayWrite = (role: AdminRole) => SCOPES_OF_ROLE[role].filter((scope) => scope.endsWith(':write'));

test('the roles allow what the table of scopes says', () => {
  assert.equal(SCOPES_OF_ROLE.administrator, ADMIN_SCOPES);
  for (const role of ADMIN_ROLES) assert.ok(SCOPES_OF_ROLE[role].includes('read'), role);
  assert.equal(mayWrite('operator'), ['regions:write', 'pools:write', 'work:write']);
  assert.equal([mayWrite('reviewer'), mayWrite('auditor')], [[], []]);
  assert.equal(scopesBeyond('reviewer', ['read', 'whitelist:review', 'tokens:write']), ['tokens:write']);
});

test.run();
