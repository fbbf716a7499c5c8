import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';

/** What an administrator's account is for; each role is a fixed set of scopes. */
export const adminRole = z.enum(['administrator', 'operator', 'reviewer', 'auditor']);
export type AdminRole = z.infer<typeof adminRole>;

/** One thing that a role or an admin token allows. */
export const adminScope = z.enum([
  'read',
  'customers:write',
  'tokens:write',
  'subnets:write',
  'webhooks:write',
  'commits:run',
  'regions:write',
  'routers:operate',
  'pools:write',
  'pools:operate',
  'work:write',
  'whitelist:review',
  'evidence:read',
  'events:export',
  'accounts:write',
]);
export type AdminScope = z.infer<typeof adminScope>;

/** Why a session is over. `run-out`: its time was over; said at the account's next login. */
export const sessionEnd = z.enum([
  'logged-out',
  'run-out',
  'idle',
  'replaced',
  'password-changed',
  'role-changed',
  'second-factor-changed',
  'account-disabled',
  'ended-by-administrator',
]);
export type SessionEnd = z.infer<typeof sessionEnd>;

/** What was shown beside the password: a code of this time step (30 s since 1970), or the recovery code with this SHA-256 (hex). */
export const secondFactorShown = z.union([
  z.strictObject({ step: z.int().nonnegative() }),
  z.strictObject({ recoveryCode: z.string() }),
]);
export type SecondFactorShown = z.infer<typeof secondFactorShown>;

/** The administrator may log in; the secret store holds the password's salted hash under this id. */
export const AdministratorCreated = defineEvent(
  'AdministratorCreated',
  1,
  z.strictObject({ name: z.string(), secretId: z.string() }),
);

/** The administrator may do from now on what this role allows; without such an event, what the role administrator does. */
export const AdministratorRoleChosen = defineEvent('AdministratorRoleChosen', 1, z.strictObject({ role: adminRole }));

/** Another password counts from now on; the secret store holds its salted hash under this id. */
export const AdministratorPasswordChanged = defineEvent(
  'AdministratorPasswordChanged',
  1,
  z.strictObject({
    secretId: z.string(),
    /** Another person knows it: it must be changed at the next login. */
    temporary: z.boolean(),
  }),
);

/** The administrator may not log in any more, and the account's tokens are worth nothing. */
export const AdministratorDisabled = defineEvent('AdministratorDisabled', 1, z.strictObject({}));

/** The administrator may log in again, and tokens that have not run out work again. */
export const AdministratorEnabled = defineEvent('AdministratorEnabled', 1, z.strictObject({}));

/** Logins need a code beside the password; the secret store holds what codes are made from under this id. */
export const SecondFactorEnrolled = defineEvent(
  'SecondFactorEnrolled',
  1,
  z.strictObject({
    secretId: z.string(),
    /** SHA-256 (hex) of each recovery code; each is taken once in place of a code. */
    recoveryCodes: z.array(z.string()),
    /** The time step (30 s since 1970) of the code that was shown for it: that code opens no session. Older events have none. */
    step: z.int().nonnegative().optional(),
  }),
);

/** Logins need the password alone again. */
export const SecondFactorRemoved = defineEvent('SecondFactorRemoved', 1, z.strictObject({}));

/** The administrator has logged in: requests with the secret that has this SHA-256 (hex) are the account's. */
export const AdministratorSessionOpened = defineEvent(
  'AdministratorSessionOpened',
  1,
  z.strictObject({
    sessionId: z.string(),
    sha256: z.string(),
    /** When it ends at the latest. */
    until: z.string(),
    /** Logins to the account that had failed since the last one that did not. */
    failuresBefore: z.int().nonnegative(),
    secondFactor: secondFactorShown.optional(),
  }),
);

/** The session is over. */
export const AdministratorSessionEnded = defineEvent(
  'AdministratorSessionEnded',
  1,
  z.strictObject({ sessionId: z.string(), sha256: z.string(), because: sessionEnd }),
);

/** Requests to the administration API with the token that has this SHA-256 (hex) are the account's, within these scopes. */
export const AdminTokenIssued = defineEvent(
  'AdminTokenIssued',
  1,
  z.strictObject({
    tokenId: z.string(),
    label: z.string(),
    sha256: z.string(),
    scopes: z.array(adminScope).min(1),
    /** When it runs out. */
    until: z.string(),
  }),
);

/** The token is worth nothing from now on. */
export const AdminTokenRevoked = defineEvent(
  'AdminTokenRevoked',
  1,
  z.strictObject({ tokenId: z.string(), sha256: z.string() }),
);

export const administratorEvents = [
  AdministratorCreated,
  AdministratorRoleChosen,
  AdministratorPasswordChanged,
  AdministratorDisabled,
  AdministratorEnabled,
  SecondFactorEnrolled,
  SecondFactorRemoved,
  AdministratorSessionOpened,
  AdministratorSessionEnded,
  AdminTokenIssued,
  AdminTokenRevoked,
] as const;

export type AdministratorEvent = EventOf<(typeof administratorEvents)[number]>;
