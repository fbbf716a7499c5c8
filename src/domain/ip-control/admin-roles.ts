import { type AdminRole, adminRole, type AdminScope, adminScope } from '../../events/ip-control/administrator.ts';

/** All roles, the one that may do most first. */
export const ADMIN_ROLES: readonly AdminRole[] = adminRole.options;

/** All scopes there are. */
export const ADMIN_SCOPES: readonly AdminScope[] = adminScope.options;

/** Names are stream ids, so they keep to characters that every store takes. */
const ADMINISTRATOR_NAME = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

/** Whether an account can have this name. */
export function isAdministratorName(text: string): boolean {
  return ADMINISTRATOR_NAME.test(text);
}

/** A session is over this long after its login, whatever is done in it. */
export const SESSION_MILLISECONDS_MAX = 12 * 3_600_000;

const OPERATING: readonly AdminScope[] = [
  'commits:run',
  'regions:write',
  'routers:operate',
  'pools:write',
  'pools:operate',
  'work:write',
];

/** What each role allows. */
export const SCOPES_OF_ROLE: Readonly<Record<AdminRole, readonly AdminScope[]>> = {
  administrator: ADMIN_SCOPES,
  operator: ['read', ...OPERATING],
  reviewer: ['read', 'whitelist:review', 'evidence:read'],
  auditor: ['read', 'evidence:read', 'events:export'],
};

/** Those of the scopes that the role does not allow. */
export function scopesBeyond(role: AdminRole, scopes: readonly AdminScope[]): readonly AdminScope[] {
  return scopes.filter((scope) => !SCOPES_OF_ROLE[role].includes(scope));
}

/** Those of the scopes that the role allows. */
export function scopesWithin(role: AdminRole, scopes: readonly AdminScope[]): readonly AdminScope[] {
  return scopes.filter((scope) => SCOPES_OF_ROLE[role].includes(scope));
}
