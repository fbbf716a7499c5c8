import { createHash } from 'node:crypto';
import type { CommandContext } from '../../commands/aggregate.ts';
import type { AdministratorAccount, AdminSession } from '../../commands/ip-control/administrator-state.ts';
import { epochMilliseconds, writtenText } from '../../domain/instants.ts';
import { SESSION_MILLISECONDS_MAX } from '../../domain/ip-control/admin-roles.ts';
import type { SecondFactorShown, SessionEnd } from '../../events/ip-control/administrator.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { AdministratorView } from '../../projections/ip-control/administrator-view.ts';
import type { Application } from '../application.ts';
import type { PasswordChecks } from './admin-passwords.ts';
import { secondFactorShownBy } from './second-factor.ts';

const SECRET_BYTES = 32;

/** A session that is about to be opened, and the secret that the browser keeps. */
export type NewSession = Readonly<{ secret: string; session: AdminSession }>;

/** What an administrator shows to log in. */
export type Credentials = Readonly<{ name: string; password: string }>;

type LoginDependencies = Pick<Application, 'views' | 'secrets'> & Readonly<{ passwords: PasswordChecks }>;

/**
 * The account whose password it is; `busy` when too many passwords are being checked. An unknown name, a wrong password and a
 * disabled account take the same time and are told apart by nothing.
 */
export async function checkPassword(
  { name, password }: Credentials,
  { views, secrets, passwords }: LoginDependencies,
): Promise<AdministratorView | 'wrong' | 'busy'> {
  const account = await views.administrators.get(name);
  const hash = account?.isEnabled === true ? await secrets.get(account.secretId) : undefined;
  const isRight = await passwords.check(password, hash);
  if (isRight === 'busy') return 'busy';
  return isRight && account !== undefined ? account : 'wrong';
}

/** What the code stands for beside the password of an account that has a second factor; a refusal when it is none. */
export async function checkCode(
  code: string,
  account: AdministratorView,
  { secrets, clock }: Pick<Application, 'secrets' | 'clock'>,
): Promise<SecondFactorShown | Refusal> {
  const secret = account.secondFactor === null ? undefined : await secrets.get(account.secondFactor.secretId);
  const shown = secret === undefined ? undefined : secondFactorShownBy(code, secret, clock.now().epochMilliseconds);
  return shown ?? refuse('wrong-code', 'this code is not right.', 'code');
}

/** How many sessions of each account have not run out, by its name. */
export async function openSessionCounts({
  views,
  clock,
}: Pick<Application, 'clock'> & Readonly<{ views: Pick<Application['views'], 'adminSessions'> }>): Promise<
  ReadonlyMap<string, number>
> {
  const now = clock.now().epochMilliseconds;
  const counts = new Map<string, number>();
  for (const { view } of await views.adminSessions.list())
    if (epochMilliseconds(view.until) > now) counts.set(view.account, (counts.get(view.account) ?? 0) + 1);
  return counts;
}

/** The sessions of an account that have not run out. */
export function openSessionsOf(
  { sessions }: Pick<AdministratorAccount, 'sessions'>,
  { clock }: Pick<Application, 'clock'>,
): readonly AdminSession[] {
  const now = clock.now().epochMilliseconds;
  return [...sessions.values()].filter(({ until }) => epochMilliseconds(until) > now);
}

/** A session that runs from now on, once it is opened: for twelve hours, or, in place of another one, until that would have run out. */
export function newSession({ ids, clock }: Pick<Application, 'ids' | 'clock'>, until = endFrom(clock)): NewSession {
  const secret = Buffer.from(ids.random(SECRET_BYTES)).toString('base64url');
  return { secret, session: { sessionId: ids.uuid(), sha256: sessionKey(secret), until } };
}

function endFrom(clock: Application['clock']): string {
  return writtenText(clock.now().add({ milliseconds: SESSION_MILLISECONDS_MAX }));
}

/** What a session is found by: the SHA-256 (hex) of its secret. */
export function sessionKey(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/**
 * Opens a session for an account whose password, and whose code where it has a second factor, were right. A password that was changed
 * since it was checked opens none: `checkedSecretId` says which one that was.
 */
export async function openSession(
  account: string,
  opening: Readonly<{ checkedSecretId: string; failuresBefore: number; secondFactor?: SecondFactorShown | undefined }>,
  context: CommandContext,
  dependencies: Pick<Application, 'administrators' | 'ids' | 'clock'>,
): Promise<NewSession | Refusal> {
  const opened = newSession(dependencies);
  const { checkedSecretId, failuresBefore, secondFactor } = opening;
  const data = {
    ...opened.session,
    checkedSecretId,
    failuresBefore,
    ...(secondFactor === undefined ? {} : { secondFactor }),
  };
  const answer = await dependencies.administrators.handle(account, { type: 'OpenAdministratorSession', data }, context);
  return isRefusal(answer) ? answer : opened;
}

/** Replaces a session by a new one, as the administrator has shown the password again; it runs no longer for that. */
export async function renewSession(
  { account, sessionId, until }: Readonly<{ account: string; sessionId: string; until: string }>,
  context: CommandContext,
  dependencies: Pick<Application, 'administrators' | 'ids' | 'clock'>,
): Promise<NewSession | Refusal> {
  const opened = newSession(dependencies, until);
  const data = { sessionId, by: opened.session };
  const answer = await dependencies.administrators.handle(
    account,
    { type: 'ReplaceAdministratorSession', data },
    context,
  );
  return isRefusal(answer) ? answer : opened;
}

/** Ends a session; one that is over stays so. */
export async function endSession(
  { account, sessionId, because }: Readonly<{ account: string; sessionId: string; because: SessionEnd }>,
  context: CommandContext,
  { administrators }: Pick<Application, 'administrators'>,
): Promise<Refusal | undefined> {
  const command = { type: 'EndAdministratorSession', data: { sessionId, because } } as const;
  const answer = await administrators.handle(account, command, context);
  return isRefusal(answer) ? answer : undefined;
}
