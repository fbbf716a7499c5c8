import type { CommandContext } from '../../commands/aggregate.ts';
import { SCOPES_OF_ROLE, scopesWithin } from '../../domain/ip-control/admin-roles.ts';
import type { AdminRole, AdminScope } from '../../events/ip-control/administrator.ts';
import type { Problem } from '../problems.ts';

/** Who asks for a page, or calls the administration API: an account, and what it may do. */
export type AdminPrincipal = Readonly<{
  account: string;
  role: AdminRole;
  scopes: ReadonlySet<AdminScope>;
  /** What events name: `admin:<account>` from pages, `admin:<account>+<first 8 of the token's id>` from the API. */
  actor: string;
}>;

const SHOWN_OF_TOKEN_ID = 8;

/** Who uses the pages with this account. @public for the routes of administration */
export function principalOfSession({ name, role }: Readonly<{ name: string; role: AdminRole }>): AdminPrincipal {
  return { account: name, role, scopes: new Set(SCOPES_OF_ROLE[role]), actor: `admin:${name}` };
}

/** Who calls the API with this token. It never allows more than its account's role does now. @public for the routes of administration */
export function principalOfToken(
  { name, role }: Readonly<{ name: string; role: AdminRole }>,
  { tokenId, scopes }: Readonly<{ tokenId: string; scopes: readonly AdminScope[] }>,
): AdminPrincipal {
  const actor = `admin:${name}+${tokenId.slice(0, SHOWN_OF_TOKEN_ID)}`;
  return { account: name, role, scopes: new Set(scopesWithin(role, scopes)), actor };
}

/** Whether it may do what needs this scope. @public for the routes of administration */
export function mayDo({ scopes }: AdminPrincipal, scope: AdminScope): boolean {
  return scopes.has(scope);
}

/** 403, with the name of the scope that is missing. @public for the routes of administration */
export function scopeMissing(scope: AdminScope): Problem {
  return { status: 403, message: `this needs the scope ${scope}.` };
}

/** In whose name, and on which request, a use case is asked. @public for the routes of administration */
export function contextOfPrincipal({ actor }: AdminPrincipal, requestId: string): CommandContext {
  return { actor, requestId };
}
