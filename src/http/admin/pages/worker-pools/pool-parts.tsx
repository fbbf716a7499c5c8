import type { JSX } from 'preact';
import type { WorkerPoolView } from '../../../../projections/worker-pools/worker-pool-view.ts';
import { Badge } from '../parts/badge.tsx';
import { count } from '../parts/text.tsx';

/** Where all pools are. */
export const PATH = '/admin/worker-pools';
/** Where a new one is made: beside the pools, among which any name may be. */
export const NEW = '/admin/new-worker-pool';
/** The first step of the way to a pool. */
export const LIST = { name: 'Worker pools', href: PATH } as const;
const SECONDS_PER_HOUR = 3_600;

/** Where a pool's page is. */
export const addressOf = (pool: string): string => `${PATH}/${encodeURIComponent(pool)}`;

/** Hours with one digit behind the point. */
export function hours(seconds: number): string {
  const tenths = Math.round((seconds * 10) / SECONDS_PER_HOUR);
  return `${count(Math.floor(tenths / 10))}.${tenths % 10}`;
}

/** What of how much; without a limit the first alone. */
export function ofMost(used: string, most: string | null): string {
  return most === null ? used : `${used} of ${most}`;
}

/** A limit as it is shown beside what is used of it; null: there is none. */
export function mostOf(most: number | null): string | null {
  return most === null ? null : count(most);
}

/** A target of seconds in hours; null: there is none. */
export function targetOf(seconds: number | null): string | null {
  return seconds === null ? null : hours(seconds);
}

/** What was used in a month as it is shown; it stands out where it is more than the target, both in seconds. */
export function MarkedUsed({
  used,
  target,
  shown,
}: Readonly<{ used: number; target: number | null; shown: string }>): JSX.Element {
  return target === null || used <= target ? <>{shown}</> : <Badge state="warn">{shown}</Badge>;
}

/** Whether a pool creates instances, and whether that works. */
export function PoolState({ pool: { record, failure } }: Readonly<{ pool: WorkerPoolView }>): JSX.Element {
  if (!record.enabled) return <Badge state="off">disabled</Badge>;
  return failure === null ? <Badge state="ok">enabled</Badge> : <Badge state="bad">launches fail</Badge>;
}
