import { userInfo } from 'node:os';
import { Temporal } from '@js-temporal/polyfill';
import type { Refusal } from '../kernel/decider.ts';
import { isRefusal } from '../kernel/decider.ts';
import type { CommandContext } from '../commands/aggregate.ts';
import type { Ids } from '../ports/ids.ts';

/** Exit codes of every command. */
export const EXIT = { ok: 0, failed: 1, usage: 2, notFound: 3, conflict: 4 } as const;

/** Ends a command with an exit code and one clear line. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;
  readonly code: string;
  constructor(exitCode: number, code: string, message: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** What was given to the command can't be meant. */
export function usage(message: string): CommandFailure {
  return new CommandFailure(EXIT.usage, 'usage', message);
}

/** What was named does not exist. */
export function notFound(message: string): CommandFailure {
  return new CommandFailure(EXIT.notFound, 'not-found', message);
}

/** An instant that an option names. @throws CommandFailure */
export function instantOf(option: string, text: string): Temporal.Instant {
  try {
    return Temporal.Instant.from(text);
  } catch {
    throw usage(`${option} must be an instant with an offset, such as 2026-11-27T20:50:00Z.`);
  }
}

/** Refusal codes of the rules and of the use cases → exit code. */
export const EXIT_OF_REFUSAL: Readonly<Record<string, number>> = {
  'address-not-owned': EXIT.failed,
  'not-copied': EXIT.failed,
  'source-altered': EXIT.failed,
  'evidence-altered': EXIT.failed,
  'evidence-missing': EXIT.failed,
  'in-progress': EXIT.failed,
  'source-whitelist-limit-reached': EXIT.failed,
  'source-whitelist-not-allowed': EXIT.failed,
  'source-whitelist-overlap': EXIT.failed,
  'source-whitelist-reserved': EXIT.failed,
  'source-whitelist-too-broad': EXIT.failed,
  'synchronous-not-allowed': EXIT.failed,
  'too-large': EXIT.failed,
  'too-many-prefixes': EXIT.failed,
  'worker-busy': EXIT.failed,
  'worker-ending': EXIT.failed,
  'worker-not-ready': EXIT.failed,
  'worker-pool-disabled': EXIT.failed,
  'worker-without-pool': EXIT.failed,

  'ambiguous-router': EXIT.usage,
  'bad-administrator-name': EXIT.usage,
  'bad-asn': EXIT.usage,
  'bad-cidr': EXIT.usage,
  'bad-customer-name': EXIT.usage,
  'bad-metro': EXIT.usage,
  'bad-option': EXIT.usage,
  'bad-provider-type': EXIT.usage,
  'bad-reason': EXIT.usage,
  'bad-region-name': EXIT.usage,
  'bad-router-name': EXIT.usage,
  'bad-secret': EXIT.usage,
  'bad-secret-id': EXIT.usage,
  'bad-webhook-url': EXIT.usage,
  'bad-worker-pool': EXIT.usage,

  'address-not-found': EXIT.notFound,
  'apt-authentication-not-found': EXIT.notFound,
  'customer-not-found': EXIT.notFound,
  'instance-not-found': EXIT.notFound,
  'not-found': EXIT.notFound,
  'provider-account-not-found': EXIT.notFound,
  'region-not-found': EXIT.notFound,
  'router-not-found': EXIT.notFound,
  'run-not-found': EXIT.notFound,
  'scope-not-found': EXIT.notFound,
  'scope-worker-pool-not-found': EXIT.notFound,
  'source-whitelist-not-found': EXIT.notFound,
  'token-not-found': EXIT.notFound,
  'worker-not-found': EXIT.notFound,
  'worker-pool-not-found': EXIT.notFound,

  'administrator-exists': EXIT.conflict,
  'asset-name-taken': EXIT.conflict,
  'customer-name-taken': EXIT.conflict,
  'instance-exists': EXIT.conflict,
  'list-name-taken': EXIT.conflict,
  'max-active-instances-in-use': EXIT.conflict,
  'provider-type-in-use': EXIT.conflict,
  'region-name-taken': EXIT.conflict,
  'router-name-taken': EXIT.conflict,
  'secret-in-use': EXIT.conflict,
  'source-whitelist-decided': EXIT.conflict,
  'subnet-overlaps': EXIT.conflict,
  'target-differs': EXIT.conflict,
  'webhook-secrets-in-use': EXIT.conflict,
  'worker-pool-in-use': EXIT.conflict,
  'worker-pool-taken': EXIT.conflict,
};

/** Refusals that are told as a command that can't be meant, after the name of the argument or option. */
const TOLD_AS_USAGE: Readonly<Record<string, string>> = {
  'ambiguous-router': '',
  'bad-administrator-name': '',
  'bad-cidr': 'cidr: ',
  'bad-secret': '',
  'bad-secret-id': '',
  'bad-webhook-url': '--webhook-url ',
};

/** The answer of the rules or of a use case, or a failure with the exit code that its refusal stands for. @throws CommandFailure */
export function accepted<T extends object>(answer: T | Refusal): T {
  if (!isRefusal(answer)) return answer;
  const { refused: code, because } = answer;
  const named = TOLD_AS_USAGE[code];
  if (named !== undefined) throw usage(`${named}${because}`);
  throw new CommandFailure(EXIT_OF_REFUSAL[code] ?? EXIT.failed, code, because);
}

/** Who runs a command, and its request id. The actor is `admin:<user>@cli`: an administrator's account, `admin:<name>`, has no `@`. */
export function operatorContext(ids: Ids): CommandContext {
  return { actor: `admin:${operatorName(process.env['SUDO_USER'])}@cli`, requestId: ids.uuid() };
}

/** The user who has called sudo, else the operating system's user, who goes by the number where there is no name (as in containers). */
export function operatorName(sudoUser: string | undefined): string {
  if (sudoUser !== undefined && /^[^\p{Cc}\p{Cs}\s]{1,256}$/u.test(sudoUser)) return sudoUser;
  try {
    return userInfo().username;
  } catch (error) {
    const number = process.getuid?.();
    if (number === undefined) throw error;
    return `uid-${number}`;
  }
}

/** Where a command's answer goes: for people, or as JSON for machines. */
export type Output = Readonly<{
  json: boolean;
  /** One object; for people, `lines` or one line per member. */
  object: (value: Readonly<Record<string, unknown>>, lines?: readonly string[]) => void;
  /** Rows; for people as a table with these columns. */
  table: (columns: readonly string[], rows: readonly Readonly<Record<string, unknown>>[]) => void;
  line: (text: string) => void;
}>;

/** Writes to a stream, usually standard output. */
export function openOutput(json: boolean, write: (text: string) => void): Output {
  return {
    json,
    object: (value, lines) => {
      if (json) write(`${jsonLine(value)}\n`);
      else
        for (const line of lines ?? Object.entries(value).map(([name, member]) => `${name}: ${plain(member)}`))
          write(`${line}\n`);
    },
    table: (columns, rows) => {
      if (json) write(`${jsonLine(rows)}\n`);
      else write(tableText(columns, rows));
    },
    line: (text) => write(`${text}\n`),
  };
}

/** JSON with positions and exact counts as decimal text. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? member.toString() : member));
}

function tableText(columns: readonly string[], rows: readonly Readonly<Record<string, unknown>>[]): string {
  const cells = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => plain(row[column]))),
  ];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' ? value.toString() : jsonLine(value);
}

/** `1 list`, `2 lists`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
