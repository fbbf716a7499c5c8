import type { Command } from 'commander';
import { createAdministrator } from '../../application/ip-control/administrators.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, operatorContext } from '../output.ts';

/** `admin create`. */
export function addAdminCommands(program: Command, tools: CommandTools): void {
  const admin = program.command('admin').description('administrator accounts');
  leaf(admin, 'create <name>', 'create an account; the password is printed once').action(
    (name: string, options: { json?: boolean }) =>
      tools.withApplication(async (application) => {
        const created = accepted(await createAdministrator(name, operatorContext(application.ids), application));
        outputOf(options, tools).object({ name, password: created.password }, [
          `administrator ${name} created`,
          `password (shown once): ${created.password}`,
        ]);
      }),
  );
}
