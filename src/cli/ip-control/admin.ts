import type { Command } from 'commander';
import {
  chooseAdministratorRole,
  createAdministrator,
  disableAdministrator,
  enableAdministrator,
  listAdministrators,
  resetAdministratorPassword,
} from '../../application/ip-control/administrators.ts';
import { ADMIN_ROLES } from '../../domain/ip-control/admin-roles.ts';
import type { AdminRole } from '../../events/ip-control/administrator.ts';
import type { AdministratorView } from '../../projections/ip-control/administrator-view.ts';
import { act, type ActOptions, type CommandTools, listing, type ListOptions, narrowed, outputOf } from '../command.ts';
import { addAdminTokenCommands } from './admin-token.ts';
import { accepted, operatorContext, usage } from '../output.ts';

/** `admin create | list | role | disable | enable | reset-password`. */
export function addAdminCommands(program: Command, tools: CommandTools): void {
  const admin = program.command('admin').description('administrator accounts');
  act(admin, 'create <name>', 'create an account; the password is printed once')
    .option('--role <role>', `what it is for: ${ADMIN_ROLES.join(', ')}`, 'administrator')
    .action((name: string, options: ActOptions & { role: string }) => {
      const role = roleOf('--role', options.role);
      return tools.withApplication(async (application) => {
        const created = accepted(
          await createAdministrator({ name, role }, operatorContext(application.ids, options), application),
        );
        outputOf(options, tools).object({ name, password: created.password }, [
          `${role} ${name} created`,
          `password (shown once): ${created.password}`,
        ]);
      });
    });
  listing(admin, 'list', 'list accounts', { states: ['enabled', 'disabled'], since: 'those created' }).action(
    (options: ListOptions) =>
      tools.withApplication(async (application) => {
        await application.catchUp();
        const rows = (await listAdministrators(application)).map(rowOf);
        const wanted = narrowed(rows, options, {
          now: application.clock.now(),
          statusOf: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
          at: ({ created_at: at }) => at,
        });
        outputOf(options, tools).table(COLUMNS, wanted);
      }),
  );
  addRoleCommand(admin, tools);
  addStateCommands(admin, tools);
  act(admin, 'reset-password <name>', 'give an account a new password, printed once; its sessions end').action(
    (name: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids, options);
        const { password } = accepted(await resetAdministratorPassword(name, context, application));
        outputOf(options, tools).object({ name, password }, [`password of ${name} (shown once): ${password}`]);
      }),
  );
  addAdminTokenCommands(admin, tools);
}

function addRoleCommand(admin: Command, tools: CommandTools): void {
  act(admin, 'role <name> <role>', 'give an account another role; its sessions end').action(
    (name: string, roleText: string, options: ActOptions) => {
      const role = roleOf('role', roleText);
      return tools.withApplication(async (application) => {
        await application.catchUp();
        const context = operatorContext(application.ids, options);
        const { isChanged } = accepted(await chooseAdministratorRole({ name, role }, context, application));
        const line = isChanged ? `${name} is ${role} from now on` : `${name} is ${role} already`;
        outputOf(options, tools).object({ name, role, changed: isChanged }, [line]);
      });
    },
  );
}

function addStateCommands(admin: Command, tools: CommandTools): void {
  act(admin, 'disable <name>', 'keep an account from logging in; its sessions and tokens are worth nothing').action(
    (name: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        await application.catchUp();
        const context = operatorContext(application.ids, options);
        const { isChanged } = accepted(await disableAdministrator(name, context, application));
        const line = isChanged ? `${name} is disabled` : `${name} was disabled already`;
        outputOf(options, tools).object({ name, enabled: false, changed: isChanged }, [line]);
      }),
  );
  act(admin, 'enable <name>', 'let an account log in again').action((name: string, options: ActOptions) =>
    tools.withApplication(async (application) => {
      const context = operatorContext(application.ids, options);
      const { isChanged } = accepted(await enableAdministrator(name, context, application));
      const line = isChanged ? `${name} is enabled` : `${name} was enabled already`;
      outputOf(options, tools).object({ name, enabled: true, changed: isChanged }, [line]);
    }),
  );
}

const COLUMNS = ['name', 'role', 'enabled', 'second_factor', 'must_change_password', 'last_login', 'created_at'];

function rowOf({ name, role, isEnabled, isTemporary, secondFactor, lastLogin, createdAt }: AdministratorView) {
  return {
    name,
    role,
    enabled: isEnabled,
    second_factor: secondFactor !== null,
    must_change_password: isTemporary,
    last_login: lastLogin,
    created_at: createdAt,
  };
}

function roleOf(what: string, text: string): AdminRole {
  const role = ADMIN_ROLES.find((known) => known === text);
  if (role === undefined) throw usage(`${what} must be one of ${ADMIN_ROLES.join(', ')}.`);
  return role;
}
