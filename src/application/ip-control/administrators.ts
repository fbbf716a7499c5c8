import type { CommandContext } from '../../commands/aggregate.ts';
import { administratorDecider } from '../../commands/ip-control/administrator.ts';
import type { AdministratorAccount, AdminSession } from '../../commands/ip-control/administrator-state.ts';
import type { AdminRole } from '../../events/ip-control/administrator.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { AdministratorView } from '../../projections/ip-control/administrator-view.ts';
import type { Application } from '../application.ts';
import { badPassword, newPassword, passwordHash } from './admin-passwords.ts';
import { notFound } from './lookups.ts';

type AccountDependencies = Pick<Application, 'administrators' | 'secrets' | 'ids'>;
type AccountsDependencies = Pick<Application, 'administrators' | 'views'>;

/** Creates an administrator's account. Only a hash of the password is kept, so that it is shown once. */
export async function createAdministrator(
  { name, role }: Readonly<{ name: string; role?: AdminRole | undefined }>,
  context: CommandContext,
  { administrators, secrets, ids }: AccountDependencies,
): Promise<Readonly<{ name: string; role: AdminRole; password: string }> | Refusal> {
  const secretId = `administrator-${name}-${ids.uuid()}`;
  const data = { name, secretId, ...(role === undefined ? {} : { role }) };
  const command = { type: 'CreateAdministrator', data } as const;
  // The name is a part of the secret's id and of the stream's: one that will not do names neither.
  const decision = administratorDecider.decide(command, administratorDecider.initial);
  if (isRefusal(decision)) return decision;
  const password = newPassword(ids);
  await secrets.put(secretId, await passwordHash(password, ids));
  const answer = await administrators.handle(name, command, context);
  if (!isRefusal(answer)) return { name, role: role ?? 'administrator', password };
  await secrets.remove(secretId);
  return answer;
}

/** All accounts, by name. */
export async function listAdministrators({
  views,
}: Pick<AccountsDependencies, 'views'>): Promise<readonly AdministratorView[]> {
  return (await views.administrators.list()).map(({ view }) => view);
}

/** Accounts of administrators by name, at most `limit` of those behind `after`. */
export async function pageOfAdministrators(
  { after, limit }: Readonly<{ after: string | undefined; limit: number }>,
  { views }: Pick<AccountsDependencies, 'views'>,
): Promise<readonly AdministratorView[]> {
  return (await views.administrators.page({ after, limit })).map(({ view }) => view);
}

/** An administrator's account by name; refused with `not-found`. */
export async function showAdministrator(
  name: string,
  { views }: Pick<AccountsDependencies, 'views'>,
): Promise<AdministratorView | Refusal> {
  return (await views.administrators.get(name)) ?? notFound(`administrator ${name} not found.`, 'name');
}

/** An account, or a refusal with `not-found`. */
export async function findAdministrator(
  name: string,
  { administrators }: Pick<AccountsDependencies, 'administrators'>,
): Promise<AdministratorAccount | Refusal> {
  const { state } = await administrators.state(name);
  return state.exists ? state : notFound(`administrator ${name} not found.`, 'name');
}

/** Gives an account another role; its sessions end. The last administrator who is enabled stays one. */
export async function chooseAdministratorRole(
  { name, role }: Readonly<{ name: string; role: AdminRole }>,
  context: CommandContext,
  dependencies: AccountsDependencies,
): Promise<Readonly<{ isChanged: boolean }> | Refusal> {
  const choose = (chosen: AdminRole, others: number) => {
    const command = { type: 'ChooseAdministratorRole', data: { role: chosen, otherAdministrators: others } } as const;
    return dependencies.administrators.handle(name, command, context);
  };
  return withoutLosingTheLast(
    name,
    dependencies,
    (others) => choose(role, others),
    () => choose('administrator', 0),
  );
}

/** How an account is to be. */
export type WantedAdministrator = Readonly<{ name: string; role: AdminRole; isEnabled: boolean }>;

/**
 * Makes an account be as it is given. `password`: of one that was not there, which must be changed at the first login; shown once. The
 * last administrator who is enabled stays one.
 */
export async function ensureAdministrator(
  { name, role, isEnabled }: WantedAdministrator,
  context: CommandContext,
  dependencies: AccountDependencies & AccountsDependencies,
): Promise<Readonly<{ password: string | undefined }> | Refusal> {
  const known = await dependencies.views.administrators.get(name);
  const created = known === undefined ? await createAdministrator({ name, role }, context, dependencies) : undefined;
  if (created !== undefined && isRefusal(created)) return created;
  const refused = await changeAdministrator({ name, role, isEnabled }, context, dependencies);
  return refused ?? { password: created?.password };
}

/** Changes of an account what is named: its role, and whether it may log in. The last administrator who is enabled stays one. */
export async function changeAdministrator(
  { name, role, isEnabled }: Readonly<{ name: string; role?: AdminRole | undefined; isEnabled?: boolean | undefined }>,
  context: CommandContext,
  dependencies: AccountsDependencies,
): Promise<Refusal | undefined> {
  // An account that is enabled first takes the place of one that can't be spared then.
  const steps = [
    isEnabled === true ? () => enableAdministrator(name, context, dependencies) : undefined,
    role === undefined ? undefined : () => chooseAdministratorRole({ name, role }, context, dependencies),
    isEnabled === false ? () => disableAdministrator(name, context, dependencies) : undefined,
  ];
  for (const step of steps) {
    const outcome = await step?.();
    if (outcome !== undefined && isRefusal(outcome)) return outcome;
  }
  return undefined;
}

/** Keeps an account from logging in; its sessions end and its tokens are worth nothing. The last administrator stays. */
export async function disableAdministrator(
  name: string,
  context: CommandContext,
  dependencies: AccountsDependencies,
): Promise<Readonly<{ isChanged: boolean }> | Refusal> {
  return withoutLosingTheLast(
    name,
    dependencies,
    (others) => {
      const command = { type: 'DisableAdministrator', data: { otherAdministrators: others } } as const;
      return dependencies.administrators.handle(name, command, context);
    },
    () => dependencies.administrators.handle(name, { type: 'EnableAdministrator', data: {} }, context),
  );
}

/** Lets an account log in again. */
export async function enableAdministrator(
  name: string,
  context: CommandContext,
  { administrators }: Pick<Application, 'administrators'>,
): Promise<Readonly<{ isChanged: boolean }> | Refusal> {
  const answer = await administrators.handle(name, { type: 'EnableAdministrator', data: {} }, context);
  return isRefusal(answer) ? answer : { isChanged: answer.events.length > 0 };
}

/** Gives an account a new password that must be changed at the next login; its sessions end. Shown once. */
export async function resetAdministratorPassword(
  name: string,
  context: CommandContext,
  dependencies: AccountDependencies,
): Promise<Readonly<{ name: string; password: string }> | Refusal> {
  const password = newPassword(dependencies.ids);
  const changed = await putPassword({ name, password, temporary: true }, context, dependencies);
  return isRefusal(changed) ? changed : { name, password };
}

/**
 * An administrator's own new password; all sessions end but the one in which it is changed, which goes on as `goesOnIn`. Refused where
 * the password is no longer the one that was shown, which `checkedSecretId` names.
 */
export async function changeOwnPassword(
  { name, password, goesOnIn, checkedSecretId }: OwnPassword,
  context: CommandContext,
  dependencies: AccountDependencies,
): Promise<Refusal | undefined> {
  const bad = badPassword(password, name);
  if (bad !== undefined) return bad;
  const changed = await putPassword(
    { name, password, temporary: false, goesOnIn, checkedSecretId },
    context,
    dependencies,
  );
  return isRefusal(changed) ? changed : undefined;
}

type OwnPassword = Readonly<{ name: string; password: string; goesOnIn: AdminSession; checkedSecretId: string }>;

type NewPassword = Readonly<{ name: string; password: string; temporary: boolean }> & Partial<OwnPassword>;

/** The hash that counted before is removed once the new one does. */
async function putPassword(
  { name, password, ...how }: NewPassword,
  context: CommandContext,
  { administrators, secrets, ids }: AccountDependencies,
): Promise<Readonly<{ secretId: string }> | Refusal> {
  const before = await findAdministrator(name, { administrators });
  if (isRefusal(before)) return before;
  const secretId = `administrator-${name}-${ids.uuid()}`;
  await secrets.put(secretId, await passwordHash(password, ids));
  const command = { type: 'ChangeAdministratorPassword', data: { secretId, ...how } } as const;
  const answer = await administrators.handle(name, command, context);
  if (isRefusal(answer)) {
    await secrets.remove(secretId);
    return answer;
  }
  await secrets.remove(before.secretId);
  return { secretId };
}

/**
 * Of two administrators who disable each other at the same moment neither sees the other's command: the one who finds afterwards that no
 * administrator is left takes the own change back. Both may do so.
 */
async function withoutLosingTheLast(
  name: string,
  dependencies: AccountsDependencies,
  change: (otherAdministrators: number) => Promise<Readonly<{ events: readonly object[] }> | Refusal>,
  takeBack: () => Promise<object>,
): Promise<Readonly<{ isChanged: boolean }> | Refusal> {
  const before = await findAdministrator(name, dependencies);
  if (isRefusal(before)) return before;
  const answer = await change(await otherAdministrators(name, dependencies));
  if (isRefusal(answer)) return answer;
  if (answer.events.length === 0) return { isChanged: false };
  if (!isAdministrating(before) || (await otherAdministrators(name, dependencies)) > 0) return { isChanged: true };
  await takeBack();
  return refuse('last-administrator', 'no administrator would be left: create or enable another one first.', 'name');
}

/** How many accounts beside this one are enabled and have all rights; as their streams say, which are newer than the views. */
async function otherAdministrators(name: string, { administrators, views }: AccountsDependencies): Promise<number> {
  const others = (await views.administrators.list()).filter(({ key }) => key !== name);
  const states = await Promise.all(others.map(({ key }) => administrators.state(key)));
  return states.filter(({ state }) => state.exists && isAdministrating(state)).length;
}

function isAdministrating({ isEnabled, role }: AdministratorAccount): boolean {
  return isEnabled && role === 'administrator';
}
