import type { AdministratorEvent, AdminRole, SecondFactorShown } from '../../events/ip-control/administrator.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** One administrator's account. Key: the name. */
export type AdministratorView = Readonly<{
  name: string;
  secretId: string;
  createdAt: string;
  role: AdminRole;
  isEnabled: boolean;
  /** Another person knows the password, so that it must be changed at the next login. */
  isTemporary: boolean;
  /** What codes are checked against, and the SHA-256 (hex) of the recovery codes that are left; `null` where the password alone is enough. */
  secondFactor: Readonly<{ secretId: string; since: string; recoveryCodes: readonly string[] }> | null;
  lastLogin: string | null;
}>;

type Shown = Exclude<
  AdministratorEvent,
  { type: 'AdministratorSessionEnded' | 'AdminTokenIssued' | 'AdminTokenRevoked' }
>;

export const administratorProjection: Projection<Shown, AdministratorView> = {
  name: 'administrators',
  version: 2,
  handles: [
    'AdministratorCreated',
    'AdministratorRoleChosen',
    'AdministratorPasswordChanged',
    'AdministratorDisabled',
    'AdministratorEnabled',
    'SecondFactorEnrolled',
    'SecondFactorRemoved',
    'AdministratorSessionOpened',
  ],
  keysOf: (event) => [streamId(event.stream)],
  evolve: (view, event) => {
    const { at } = event.metadata;
    if (event.type === 'AdministratorCreated') return { ...event.data, createdAt: at, ...NEW_ACCOUNT };
    if (view === undefined) return undefined;
    switch (event.type) {
      case 'AdministratorRoleChosen':
        return { ...view, role: event.data.role };
      case 'AdministratorPasswordChanged':
        return { ...view, secretId: event.data.secretId, isTemporary: event.data.temporary };
      case 'AdministratorDisabled':
        return { ...view, isEnabled: false };
      case 'AdministratorEnabled':
        return { ...view, isEnabled: true };
      case 'SecondFactorEnrolled': {
        const { secretId, recoveryCodes } = event.data;
        return { ...view, secondFactor: { secretId, since: at, recoveryCodes } };
      }
      case 'SecondFactorRemoved':
        return { ...view, secondFactor: null };
      case 'AdministratorSessionOpened':
        return { ...view, lastLogin: at, secondFactor: afterUse(view.secondFactor, event.data.secondFactor) };
    }
  },
};

const NEW_ACCOUNT = {
  role: 'administrator',
  isEnabled: true,
  isTemporary: true,
  secondFactor: null,
  lastLogin: null,
} as const;

function afterUse(
  factor: AdministratorView['secondFactor'],
  shown: SecondFactorShown | undefined,
): AdministratorView['secondFactor'] {
  if (factor === null || shown === undefined || !('recoveryCode' in shown)) return factor;
  return { ...factor, recoveryCodes: factor.recoveryCodes.filter((code) => code !== shown.recoveryCode) };
}
