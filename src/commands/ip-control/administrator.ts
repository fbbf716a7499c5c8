import { type Command, type Decider, refuse } from '../../kernel/decider.ts';
import { type AdministratorEvent, administratorEvents } from '../../events/ip-control/administrator.ts';

export type AdministratorState = Readonly<{ exists: boolean }>;
export type AdministratorCommand = Command<'CreateAdministrator', { name: string; secretId: string }>;

/** Names are stream ids, so they keep to characters that every store takes. */
const ADMINISTRATOR_NAME = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

/** The rules of one administrator. */
export const administratorDecider = {
  category: 'administrator',
  handles: administratorEvents.map(({ type }) => type),
  initial: { exists: false },
  evolve: () => ({ exists: true }),
  decide: (command, state) => {
    if (!ADMINISTRATOR_NAME.test(command.data.name)) {
      return refuse(
        'bad-administrator-name',
        'a name has 1 to 64 of a–z 0–9 _ . - and starts with a letter or digit.',
        'name',
      );
    }
    if (state.exists)
      return refuse('administrator-exists', `administrator ${command.data.name} exists already.`, 'name');
    return [{ type: 'AdministratorCreated', data: command.data }];
  },
} as const satisfies Decider<AdministratorCommand, AdministratorState, AdministratorEvent> &
  Readonly<{ handles: readonly AdministratorEvent['type'][] }>;
