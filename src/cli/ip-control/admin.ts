import { scryptSync } from 'node:crypto';
import type { Command } from 'commander';
import { ADMINISTRATOR_NAME } from '../../commands/ip-control/administrator.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, operatorContext, usage } from '../output.ts';

const PASSWORD_BYTES = 18;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** RFC 7914; the parameters are stored beside the hash, so that they can grow. */
const SCRYPT = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/** `admin create`. */
export function addAdminCommands(program: Command, tools: CommandTools): void {
  const admin = program.command('admin').description('administrator accounts');
  leaf(admin, 'create <name>', 'create an account; the password is printed once').action(
    (name: string, options: { json?: boolean }) =>
      tools.withApplication(async (application) => {
        if (!ADMINISTRATOR_NAME.test(name))
          throw usage('a name has 1 to 64 of a–z 0–9 _ . - and starts with a letter or digit.');
        const password = Buffer.from(application.ids.random(PASSWORD_BYTES)).toString('base64url');
        const secretId = `administrator-${name}-${application.ids.uuid()}`;
        await application.secrets.put(secretId, passwordHash(password, application.ids.random(SALT_BYTES)));
        const command = { type: 'CreateAdministrator', data: { name, secretId } } as const;
        const answer = await application.administrators.handle(name, command, operatorContext(application.ids));
        if ('refused' in answer) await application.secrets.remove(secretId);
        accepted(answer);
        outputOf(options, tools).object({ name, password }, [
          `administrator ${name} created`,
          `password (shown once): ${password}`,
        ]);
      }),
  );
}

/** `scrypt$N$r$p$salt$hash`, the last two in base64. */
function passwordHash(password: string, salt: Uint8Array): string {
  const hash = scryptSync(password, salt, HASH_BYTES, SCRYPT);
  return ['scrypt', SCRYPT.N, SCRYPT.r, SCRYPT.p, Buffer.from(salt).toString('base64'), hash.toString('base64')].join(
    '$',
  );
}
