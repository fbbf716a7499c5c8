import { userInfo } from 'node:os';
import { Temporal } from '@js-temporal/polyfill';
import { type Grounds, reasonText, saidOf, ticketText } from '../domain/grounds.ts';
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

/** An instant that an option names. @throws CommandFailure */
export function instantOf(option: string, text: string): Temporal.Instant {
  try {
    return Temporal.Instant.from(text);
  } catch {
    throw usage(`${option} must be an instant with an offset, such as 2026-11-27T20:50:00Z.`);
  }
}

/** Since when, as `--since` says: an instant, or a duration back from now; in epoch milliseconds. @throws CommandFailure */
export function sinceOf(text: string | undefined, now: Temporal.Instant): number | undefined {
  if (text === undefined) return undefined;
  try {
    if (!/^P/i.test(text)) return Temporal.Instant.from(text).epochMilliseconds;
    return now.toZonedDateTimeISO('UTC').subtract(Temporal.Duration.from(text)).epochMilliseconds;
  } catch {
    throw usage(
      '--since must be an instant with an offset, such as 2026-11-27T20:50:00Z, or a duration back from now, such as P7D.',
    );
  }
}

/** Refusal codes of the rules and of the use cases → exit code. */
export const EXIT_OF_REFUSAL: Readonly<Record<string, number>> = {
  'no-webhook': EXIT.failed,
  'address-not-owned': EXIT.failed,
  'activation-token-ended': EXIT.failed,
  'no-public-url': EXIT.failed,
  'not-your-work-request': EXIT.failed,
  'work-request-not-waiting': EXIT.failed,
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
  'second-factor-needed': EXIT.failed,
  'second-factor-used': EXIT.failed,
  'password-changed': EXIT.failed,
  'session-over': EXIT.failed,
  'too-large': EXIT.failed,
  'wrong-code': EXIT.failed,
  'log-too-new': EXIT.failed,
  'router-not-usable': EXIT.failed,
  'too-many-prefixes': EXIT.failed,
  'worker-busy': EXIT.failed,
  'worker-ending': EXIT.failed,
  'worker-not-ready': EXIT.failed,
  'worker-pool-disabled': EXIT.failed,
  'worker-without-pool': EXIT.failed,

  'scopes-beyond-role': EXIT.usage,
  'bad-scopes': EXIT.usage,
  'bad-label': EXIT.usage,
  'bad-expiry': EXIT.usage,
  'ambiguous-request': EXIT.usage,
  'ambiguous-token': EXIT.usage,
  'ambiguous-work-request': EXIT.usage,
  'ambiguous-router': EXIT.usage,
  'bad-allowed-address': EXIT.usage,
  'bad-token-expiry': EXIT.usage,
  'bad-administrator-name': EXIT.usage,
  'bad-asn': EXIT.usage,
  'bad-password': EXIT.usage,
  'bad-backup-directory': EXIT.usage,
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
  'bad-until': EXIT.usage,
  'bad-webhook-url': EXIT.usage,
  'bad-work-request': EXIT.usage,
  'bad-worker-pool': EXIT.usage,
  'not-a-provider-account': EXIT.usage,

  'delivery-not-found': EXIT.notFound,
  'administrator-not-found': EXIT.notFound,
  'asset-not-found': EXIT.notFound,
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
  'work-request-not-found': EXIT.notFound,
  'source-whitelist-not-found': EXIT.notFound,
  'token-not-found': EXIT.notFound,
  'worker-not-found': EXIT.notFound,
  'worker-pool-not-found': EXIT.notFound,

  'target-in-use': EXIT.conflict,
  'subnet-differs': EXIT.conflict,
  'revision-differs': EXIT.conflict,
  'last-administrator': EXIT.conflict,
  'administrator-disabled': EXIT.conflict,
  'asset-in-use': EXIT.conflict,
  'administrator-exists': EXIT.conflict,
  'customer-disabled': EXIT.conflict,
  'customer-in-use': EXIT.conflict,
  'log-restored': EXIT.conflict,
  'region-in-use': EXIT.conflict,
  'second-factor-enrolled': EXIT.conflict,
  'asset-name-taken': EXIT.conflict,
  'customer-name-taken': EXIT.conflict,
  'instance-exists': EXIT.conflict,
  'list-name-taken': EXIT.conflict,
  'max-active-instances-in-use': EXIT.conflict,
  'provider-type-in-use': EXIT.conflict,
  'region-name-taken': EXIT.conflict,
  'router-name-taken': EXIT.conflict,
  'scope-in-use': EXIT.conflict,
  'secret-in-use': EXIT.conflict,
  'source-whitelist-decided': EXIT.conflict,
  'subnet-overlaps': EXIT.conflict,
  'target-differs': EXIT.conflict,
  'webhook-secrets-in-use': EXIT.conflict,
  'work-request-over': EXIT.conflict,
  'worker-exists': EXIT.conflict,
  'worker-pool-in-use': EXIT.conflict,
  'worker-pool-taken': EXIT.conflict,
};

/** Refusals that are told as a command that can't be meant, after the name of the argument or option. */
const TOLD_AS_USAGE: Readonly<Record<string, string>> = {
  'ambiguous-router': '',
  'ambiguous-work-request': '',
  'bad-administrator-name': '',
  'bad-allowed-address': '--allow ',
  'bad-cidr': 'cidr: ',
  'bad-token-expiry': '--expires ',
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

/** Who runs a command, its request id, and why where that was given. The actor is `admin:<user>@cli`: an administrator's account, `admin:<name>`, has no `@`. @throws CommandFailure */
export function operatorContext(ids: Ids, { reason, ticket }: Grounds = {}): CommandContext {
  const grounds = saidOf({
    reason: given('--reason', reason, reasonText),
    ticket: given('--ticket', ticket, ticketText),
  });
  return { actor: `admin:${operatorName(process.env['SUDO_USER'])}@cli`, requestId: ids.uuid(), ...grounds };
}

function given(option: string, text: string | undefined, schema: typeof reasonText): string | undefined {
  if (text === undefined) return undefined;
  const read = schema.safeParse(text);
  if (read.success) return read.data;
  throw usage(`${option} ${read.error.issues[0]?.message ?? 'is invalid.'}`);
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

/** How rows are printed: at most so many, as lines of JSON, within so many columns of a terminal. */
type RowsForm = Readonly<{ limit?: number | undefined; jsonLines?: boolean; columns?: number | undefined }>;

/** Writes to a stream, usually standard output. */
export function openOutput(
  json: boolean,
  write: (text: string) => void,
  { limit, jsonLines = false, columns: width }: RowsForm = {},
): Output {
  return {
    json,
    object: (value, lines) => {
      if (json) write(`${jsonLine(value)}\n`);
      else
        for (const line of lines ?? Object.entries(value).map(([name, member]) => `${name}: ${plain(member)}`))
          write(`${line}\n`);
    },
    table: (columns, all) => {
      const rows = all.slice(0, limit);
      if (!json) write(tableText(columns, rows, width));
      else if (!jsonLines) write(`${jsonLine(rows)}\n`);
      else for (const row of rows) write(`${jsonLine(row)}\n`);
    },
    line: (text) => write(`${text}\n`),
  };
}

/** JSON with positions and exact counts as decimal text. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? member.toString() : member));
}

function tableText(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
  width: number | undefined,
): string {
  const cells = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => plain(row[column]))),
  ];
  const wanted = columns.map((_, at) => cells.reduce((most, line) => Math.max(most, line[at]?.length ?? 0), 0));
  const widths = width === undefined ? wanted : fitting(wanted, width);
  const lines = cells.map((line) =>
    line
      .map((cell, at) => cut(cell, widths[at] ?? 0).padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

const CELL_MIN = 8;

/** Takes from the widest columns until all of them fit; none becomes unreadable for that. */
function fitting(wanted: readonly number[], width: number): readonly number[] {
  const room = width - 2 * (wanted.length - 1);
  let most = Math.max(CELL_MIN, ...wanted);
  const within = (limit: number): number => wanted.reduce((sum, one) => sum + Math.min(one, limit), 0);
  while (most > CELL_MIN && within(most) > room) most -= 1;
  return wanted.map((one) => Math.min(one, most));
}

/** A text cut in the middle: names and addresses differ at their ends. */
export function cut(cell: string, width: number): string {
  if (cell.length <= width) return cell;
  const head = Math.ceil((width - 1) / 2);
  return `${cell.slice(0, head)}…${cell.slice(cell.length - (width - 1 - head))}`;
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return INSTANT.test(value) ? timeText(value) : value;
  return typeof value === 'bigint' ? value.toString() : jsonLine(value);
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Instants for people have one form, which is that of events: in UTC, to the millisecond. */
function timeText(instant: string): string {
  const { epochMilliseconds } = Temporal.Instant.from(instant);
  return new Date(epochMilliseconds).toISOString().replace('Z', '+00:00');
}

const LISTED_MAX = 20;

/** Whether a list is told by its ends: `5,000 ranges (first … last)`. */
export function isLong(texts: readonly string[]): boolean {
  return texts.length > LISTED_MAX;
}

/** `5,000 ranges (192.0.2.1 … 192.0.2.99)`; `plural` is what they are. */
export function endsText(texts: readonly string[], plural: string): string {
  return `${texts.length.toLocaleString('en-US')} ${plural} (${texts[0] ?? ''} … ${texts.at(-1) ?? ''})`;
}
