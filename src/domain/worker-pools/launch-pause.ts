/** What a failed launch waits for before the next one. */
type Awaited = 'time' | 'pool-edit' | 'account-edit';

/** Launches that failed one after another; of one decision they are one failure. */
export type LaunchFailures = Readonly<{
  count: number;
  /** ISO 8601; when the newest one failed. */
  lastAt: string;
  /** When the place of the newest one was reserved: what was reserved together fails together. */
  reservedAt?: string;
  code?: string;
  because?: string;
  accountRevision?: string;
}>;

/** Seconds for what is known to take its time. */
const PAUSE_SECONDS: Readonly<Record<string, number>> = {
  'no-capacity': 180,
  'quota-exceeded': 900,
  'not-permitted': 900,
};
const POOL_EDIT: ReadonlySet<string> = new Set(['bad-specifications', 'no-repository']);
const ACCOUNT_EDIT: ReadonlySet<string> = new Set(['login-refused', 'bad-account']);

const RETRY_SECONDS_MIN = 30;
const RETRY_SECONDS_MAX = 900;

/** What must be edited before the next launch after a failure, if anything: trying again would change nothing. */
export function editAfter(code: string): 'pool' | 'account' | undefined {
  if (POOL_EDIT.has(code)) return 'pool';
  return ACCOUNT_EDIT.has(code) ? 'account' : undefined;
}

/** What the next launch after failures waits for. What no edit would change waits for time. */
export function awaitedAfter({ code, accountRevision }: LaunchFailures): Awaited {
  const edit = code === undefined ? undefined : editAfter(code);
  if (edit === 'pool') return 'pool-edit';
  return edit === 'account' && accountRevision !== undefined ? 'account-edit' : 'time';
}

/** Seconds of rest after failures that time may mend: a fixed time by kind, or half a minute that doubles to a quarter of an hour. */
export function pauseSeconds({ count, code }: LaunchFailures): number {
  const fixed = code === undefined ? undefined : PAUSE_SECONDS[code];
  return fixed ?? Math.min(RETRY_SECONDS_MIN * 2 ** (count - 1), RETRY_SECONDS_MAX);
}
