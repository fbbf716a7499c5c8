import type { JSX } from 'preact';
import type { AdministratorView } from '../../../../projections/ip-control/administrator-view.ts';
import { Badge } from '../parts/badge.tsx';

/** Whether an account may be used. */
export function AccountState({ account }: Readonly<{ account: AdministratorView }>): JSX.Element {
  if (!account.isEnabled) return <Badge state="off">disabled</Badge>;
  return account.isTemporary ? <Badge state="busy">password to be changed</Badge> : <Badge state="ok">enabled</Badge>;
}
