import { createHash } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { CommandContext } from '../../commands/aggregate.ts';
import type { AdminSession } from '../../commands/ip-control/administrator-state.ts';
import type { SecondFactorShown } from '../../events/ip-control/administrator.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';
import { findAdministrator } from './administrators.ts';

const SECRET_BYTES = 20;
const RECOVERY_CODES = 8;
const RECOVERY_BYTES = 10;
const STEP_SECONDS = 30;
/** RFC 6238, 5.2: one step either way, for clocks that differ and for people who type. */
const STEPS_EITHER_WAY = 1;
const ISSUER = 'edgeward';

type FactorDependencies = Pick<Application, 'administrators' | 'secrets' | 'ids' | 'clock'>;

/** What a new second factor is set up with: the secret in Base32, and as the address that apps read from a picture. */
export type NewSecondFactor = Readonly<{ secret: string; address: string }>;

/** A secret that codes can be made from; nothing is kept yet. */
export function newSecondFactor(account: string, { random }: Pick<Application['ids'], 'random'>): NewSecondFactor {
  return secondFactorOf(account, new Secret({ buffer: Uint8Array.from(random(SECRET_BYTES)).buffer }).base32);
}

/** The same again from its secret. */
export function secondFactorOf(account: string, secret: string): NewSecondFactor {
  return { secret, address: totpOf(secret, account).toString() };
}

/** Sets up a second factor, once a code shows that the app has the secret. Gives the recovery codes, which are shown once. */
export async function enrolSecondFactor(
  { name, secret, code, goesOnIn }: Readonly<{ name: string; secret: string; code: string; goesOnIn: AdminSession }>,
  context: CommandContext,
  { administrators, secrets, ids, clock }: FactorDependencies,
): Promise<Readonly<{ recoveryCodes: readonly string[] }> | Refusal> {
  const account = await findAdministrator(name, { administrators });
  if (isRefusal(account)) return account;
  if (!isSecret(secret)) return refuse('bad-secret', 'the secret is not one that was shown: begin again.', 'code');
  const step = stepOf(code, secret, clock.now().epochMilliseconds);
  if (step === undefined) return WRONG_CODE;
  const recoveryCodes = Array.from({ length: RECOVERY_CODES }, () => recoveryCode(ids.random(RECOVERY_BYTES)));
  const secretId = `administrator-${name}-codes-${ids.uuid()}`;
  await secrets.put(secretId, secret);
  const data = { secretId, recoveryCodes: recoveryCodes.map(sha256Of), step, goesOnIn };
  const answer = await administrators.handle(name, { type: 'EnrolSecondFactor', data }, context);
  if (!isRefusal(answer)) return { recoveryCodes };
  await secrets.remove(secretId);
  return answer;
}

/** Removes the second factor; an administrator who does so for the own account goes on in another session. */
export async function removeSecondFactor(
  { name, goesOnIn }: Readonly<{ name: string; goesOnIn?: AdminSession }>,
  context: CommandContext,
  { administrators, secrets }: Pick<FactorDependencies, 'administrators' | 'secrets'>,
): Promise<Readonly<{ isChanged: boolean }> | Refusal> {
  const account = await findAdministrator(name, { administrators });
  if (isRefusal(account)) return account;
  const data = goesOnIn === undefined ? {} : { goesOnIn };
  const answer = await administrators.handle(name, { type: 'RemoveSecondFactor', data }, context);
  if (isRefusal(answer)) return answer;
  if (account.secondFactor !== undefined) await secrets.remove(account.secondFactor.secretId);
  return { isChanged: answer.events.length > 0 };
}

/** What a code or a recovery code stands for; whether it was used before is decided where the session is opened. */
export function secondFactorShownBy(
  code: string,
  secret: string,
  nowMilliseconds: number,
): SecondFactorShown | undefined {
  const step = stepOf(code, secret, nowMilliseconds);
  if (step !== undefined) return { step };
  const bare = bareRecoveryCode(code);
  return bare === undefined ? undefined : { recoveryCode: sha256Of(bare) };
}

const WRONG_CODE = refuse(
  'wrong-code',
  'this code is not right: it may be too old, or the clock of the device off.',
  'code',
);

/** The time step of which this is the code, if it is one of those that count now. */
function stepOf(code: string, secret: string, nowMilliseconds: number): number | undefined {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = totpOf(secret).validate({ token, timestamp: nowMilliseconds, window: STEPS_EITHER_WAY });
  return delta === null ? undefined : Math.floor(nowMilliseconds / 1000 / STEP_SECONDS) + delta;
}

function totpOf(secret: string, label = ''): TOTP {
  return new TOTP({ issuer: ISSUER, label, algorithm: 'SHA1', digits: 6, period: STEP_SECONDS, secret });
}

function isSecret(text: string): boolean {
  return /^[A-Z2-7]{32}$/.test(text);
}

/** `abcd-efgh-ijkl-mnop`: 80 random bits in letters that people don't mix up. */
function recoveryCode(bytes: Uint8Array): string {
  const text = new Secret({ buffer: Uint8Array.from(bytes).buffer }).base32.toLowerCase();
  return text.match(/.{4}/g)?.join('-') ?? text;
}

/** A recovery code as it was shown, however it was typed. */
function bareRecoveryCode(typed: string): string | undefined {
  const letters = typed.toLowerCase().replaceAll(/[\s-]/g, '');
  return /^[a-z2-7]{16}$/.test(letters) ? (letters.match(/.{4}/g)?.join('-') ?? undefined) : undefined;
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
