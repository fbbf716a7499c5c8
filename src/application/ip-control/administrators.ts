import { scrypt } from 'node:crypto';
import type { CommandContext } from '../../commands/aggregate.ts';
import { administratorDecider } from '../../commands/ip-control/administrator.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';

const PASSWORD_BYTES = 18;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** RFC 7914; the parameters are stored beside the hash, so that they can grow. */
const SCRYPT = { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/** Creates an administrator's account. Only a hash of the password is kept, so that it is shown once. */
export async function createAdministrator(
  name: string,
  context: CommandContext,
  { administrators, secrets, ids }: Pick<Application, 'administrators' | 'secrets' | 'ids'>,
): Promise<Readonly<{ name: string; password: string }> | Refusal> {
  const secretId = `administrator-${name}-${ids.uuid()}`;
  const command = { type: 'CreateAdministrator', data: { name, secretId } } as const;
  // The name is a part of the secret's id and of the stream's: one that will not do names neither.
  const decision = administratorDecider.decide(command, administratorDecider.initial);
  if (isRefusal(decision)) return decision;
  const password = Buffer.from(ids.random(PASSWORD_BYTES)).toString('base64url');
  await secrets.put(secretId, await passwordHash(password, ids.random(SALT_BYTES)));
  const answer = await administrators.handle(name, command, context);
  if (!isRefusal(answer)) return { name, password };
  await secrets.remove(secretId);
  return answer;
}

/** `scrypt$N$r$p$salt$hash`, the last two in base64. */
async function passwordHash(password: string, salt: Uint8Array): Promise<string> {
  const hash = await new Promise<Buffer>((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, SCRYPT, (error, derived) => (error === null ? resolve(derived) : reject(error)));
  });
  return ['scrypt', SCRYPT.N, SCRYPT.r, SCRYPT.p, Buffer.from(salt).toString('base64'), hash.toString('base64')].join(
    '$',
  );
}
