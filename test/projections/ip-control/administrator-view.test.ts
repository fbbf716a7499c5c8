import { test } from 'uvu';
import type { AdministratorEvent } from '../../../src/events/ip-control/administrator.ts';
import { adminSessionProjection } from '../../../src/projections/ip-control/admin-session-view.ts';
import {
  type AdministratorView,
  administratorProjection,
} from '../../../src/projections/ip-control/administrator-view.ts';
import { recorded, specifyProjection } from '../../specification.ts';

const NOON = '2026-11-27T12:00:00Z';
const AT_NOON = '2026-11-27T12:00:00.000+00:00';

type OfAccount = Parameters<typeof administratorProjection.evolve>[1];
type OfSession = Parameters<typeof adminSessionProjection.evolve>[1];
type Unplaced<E> = E extends AdministratorEvent ? Pick<E, 'type' | 'data'> : never;

const atNoon = <E extends AdministratorEvent>(event: E, index: number) =>
  recorded(event, NOON, { stream: 'administrator-ada', revision: BigInt(index) });
const given = (...events: readonly Unplaced<OfAccount>[]) =>
  specifyProjection(administratorProjection).given(...events.map(atNoon));
const givenSessions = (...events: readonly Unplaced<OfSession>[]) =>
  specifyProjection(adminSessionProjection).given(...events.map(atNoon));

const created = { type: 'AdministratorCreated', data: { name: 'ada', secretId: 'a1' } } as const;
const enrolled = { type: 'SecondFactorEnrolled' as const, data: { secretId: 'c1', recoveryCodes: ['r1', 'r2'] } };
const opened = {
  type: 'AdministratorSessionOpened',
  data: { sessionId: 's1', sha256: 'sha', until: '2026-11-28T00:00:00.000+00:00', failuresBefore: 0 },
} as const;
const ada: AdministratorView = {
  name: 'ada',
  secretId: 'a1',
  createdAt: AT_NOON,
  role: 'administrator',
  isEnabled: true,
  isTemporary: true,
  secondFactor: null,
  lastLogin: null,
};

test('a new account may do everything, and its password is one that another person knows', () => {
  given(created).shows('ada', ada);
  given(created).shows('rob', undefined);
});

test('an account is shown with its role, whether it may log in, and its password of now', () => {
  given(created, { type: 'AdministratorRoleChosen', data: { role: 'auditor' } }).shows('ada', {
    ...ada,
    role: 'auditor',
  });
  given(created, { type: 'AdministratorDisabled', data: {} }).shows('ada', { ...ada, isEnabled: false });
  given(created, { type: 'AdministratorDisabled', data: {} }, { type: 'AdministratorEnabled', data: {} }).shows(
    'ada',
    ada,
  );
  given(created, { type: 'AdministratorPasswordChanged', data: { secretId: 'a2', temporary: false } }).shows('ada', {
    ...ada,
    secretId: 'a2',
    isTemporary: false,
  });
});

test('of the second factor it is shown which recovery codes are left', () => {
  const secondFactor = { secretId: 'c1', since: AT_NOON, recoveryCodes: ['r1', 'r2'] };
  given(created, enrolled).shows('ada', { ...ada, secondFactor });
  given(created, enrolled, { ...opened, data: { ...opened.data, secondFactor: { recoveryCode: 'r1' } } }).shows('ada', {
    ...ada,
    lastLogin: AT_NOON,
    secondFactor: { ...secondFactor, recoveryCodes: ['r2'] },
  });
  given(created, enrolled, { type: 'SecondFactorRemoved', data: {} }).shows('ada', ada);
});

test('a session is found by the hash of its secret until it ends', () => {
  const { until } = opened.data;
  givenSessions(opened).shows('sha', { account: 'ada', sessionId: 's1', openedAt: AT_NOON, until });
  const ended = { sessionId: 's1', sha256: 'sha', because: 'logged-out' } as const;
  givenSessions(opened, { type: 'AdministratorSessionEnded', data: ended }).shows('sha', undefined);
});

test.run();
