import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import { epochMilliseconds, exactText } from '../../../../domain/instants.ts';

const THIN_SPACE = '\u2009';

/** A whole number with thin spaces between thousands. */
export function count(value: number | bigint): string {
  return value.toString().replaceAll(/\B(?=(\d{3})+$)/g, THIN_SPACE);
}

const DIGITS_MAX = 15;
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** A whole number in a cell. One too long for it is shown by its size, and whole when one points at it. */
export function Count({ of }: Readonly<{ of: number | bigint }>): JSX.Element {
  const digits = of.toString();
  if (digits.length <= DIGITS_MAX) return <>{count(of)}</>;
  const [mantissa = '', power = ''] = Number(of).toExponential(2).split('e+');
  const raised = power.replaceAll(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] ?? digit);
  return <span title={count(of)}>{`≈ ${mantissa} × 10${raised}`}</span>;
}

/** `1 list`, `2 lists`. */
export function countOf(value: number | bigint, noun: string): string {
  return `${count(value)} ${noun}${BigInt(value) === 1n ? '' : 's'}`;
}

const UNITS = [
  ['day', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** A span of time in its largest unit: `4 min`, `2 days`. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  for (const [unit, length] of UNITS) {
    if (seconds < length) continue;
    const units = Math.floor(seconds / length);
    return `${units} ${unit}${unit === 'day' && units !== 1 ? 's' : ''}`;
  }
  return `${seconds} s`;
}

/** When something was or will be, seen from now; the instant itself is shown when one points at it. */
export function When({ at, now }: Readonly<{ at: string; now: Temporal.Instant }>): JSX.Element {
  const milliseconds = millisecondsOf(now) - epochMilliseconds(at);
  const text = milliseconds >= 0 ? `${span(milliseconds)} ago` : `in ${span(-milliseconds)}`;
  return (
    <time datetime={at} title={exact(at)}>
      {text}
    </time>
  );
}

const known = new WeakMap<Temporal.Instant, number>();

/** The same instant is asked for in each row of a page. */
function millisecondsOf(now: Temporal.Instant): number {
  const milliseconds = known.get(now) ?? now.epochMilliseconds;
  known.set(now, milliseconds);
  return milliseconds;
}

/** An instant as an audit needs it: UTC, with its offset. */
export function exact(at: string): string {
  return exactText(at);
}

/** What people must be able to copy to the letter: addresses, names of lists, ids. */
export function Code({ children }: Readonly<{ children: string }>): JSX.Element {
  return <code>{children}</code>;
}

/** A name or id in one line of a table, however long: all of it is shown when one points at it. */
export function Short({ children }: Readonly<{ children: string }>): JSX.Element {
  return (
    <span class="short" title={children}>
      {children}
    </span>
  );
}
