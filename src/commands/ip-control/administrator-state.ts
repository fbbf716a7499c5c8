import type {
  AdministratorEvent,
  AdminRole,
  AdminScope,
  SecondFactorShown,
} from '../../events/ip-control/administrator.ts';

export type AdminSession = Readonly<{ sessionId: string; sha256: string; until: string }>;

export type AdminToken = Readonly<{
  tokenId: string;
  label: string;
  sha256: string;
  scopes: readonly AdminScope[];
  until: string;
}>;

/** What codes are made from, and what of it is used up. */
export type SecondFactor = Readonly<{
  secretId: string;
  /** SHA-256 (hex) of the recovery codes that are left. */
  recoveryCodes: readonly string[];
  /** The newest time step of which a code was taken; codes of it and of earlier ones are not taken again. */
  lastStep: number;
}>;

export type AdministratorAccount = Readonly<{
  exists: true;
  name: string;
  /** Where the password's hash is. */
  secretId: string;
  /** Another person knows the password. */
  isTemporary: boolean;
  role: AdminRole;
  isEnabled: boolean;
  secondFactor: SecondFactor | undefined;
  /** Those that were not ended; they may have run out. */
  sessions: ReadonlyMap<string, AdminSession>;
  /** Those that were not revoked. */
  tokens: ReadonlyMap<string, AdminToken>;
}>;

export type AdministratorState = Readonly<{ exists: false }> | AdministratorAccount;

/** The account after one more of its events. */
export function evolveAdministrator(state: AdministratorState, event: AdministratorEvent): AdministratorState {
  if (event.type === 'AdministratorCreated') return { ...NEW_ACCOUNT, ...event.data };
  if (!state.exists) return state;
  switch (event.type) {
    case 'AdministratorRoleChosen':
      return { ...state, role: event.data.role };
    case 'AdministratorPasswordChanged':
      return { ...state, secretId: event.data.secretId, isTemporary: event.data.temporary };
    case 'AdministratorDisabled':
      return { ...state, isEnabled: false };
    case 'AdministratorEnabled':
      return { ...state, isEnabled: true };
    case 'SecondFactorEnrolled': {
      const { step: lastStep = -1, ...factor } = event.data;
      return { ...state, secondFactor: { ...factor, lastStep } };
    }
    case 'SecondFactorRemoved':
      return { ...state, secondFactor: undefined };
    case 'AdministratorSessionOpened':
      return {
        ...state,
        sessions: new Map(state.sessions).set(event.data.sessionId, event.data),
        secondFactor: afterUse(state.secondFactor, event.data.secondFactor),
      };
    case 'AdministratorSessionEnded':
      return { ...state, sessions: without(state.sessions, event.data.sessionId) };
    case 'AdminTokenIssued':
      return { ...state, tokens: new Map(state.tokens).set(event.data.tokenId, event.data) };
    case 'AdminTokenRevoked':
      return { ...state, tokens: without(state.tokens, event.data.tokenId) };
  }
}

const NEW_ACCOUNT = {
  exists: true,
  isTemporary: true,
  role: 'administrator',
  isEnabled: true,
  secondFactor: undefined,
  sessions: new Map<string, AdminSession>(),
  tokens: new Map<string, AdminToken>(),
} as const;

function afterUse(factor: SecondFactor | undefined, shown: SecondFactorShown | undefined): SecondFactor | undefined {
  if (factor === undefined || shown === undefined) return factor;
  if ('step' in shown) return { ...factor, lastStep: Math.max(factor.lastStep, shown.step) };
  return { ...factor, recoveryCodes: factor.recoveryCodes.filter((code) => code !== shown.recoveryCode) };
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  const left = new Map(map);
  left.delete(key);
  return left;
}
