import type { JSX } from 'preact';
import type { PoolDay } from '../../../../application/worker-pools/pool-usage.ts';
import { countOf } from '../parts/text.tsx';
import { hours } from './pool-parts.tsx';

const [STEP, BAR, HEIGHT, LABELS] = [14, 11, 64, 18];
/** What is lower than this is lost on the line below. */
const SEEN = 2;
/** A tenth of an hour: shorter times are rounded to nothing. */
const SHOWN_SECONDS_MIN = 360;

/** The hours of instances by day as bars; the tallest one says how many they are, and those who don't see them are told each day. */
export function DayBars({ days }: Readonly<{ days: readonly PoolDay[] }>): JSX.Element {
  const used = days.filter(({ used_seconds: seconds }) => seconds > 0);
  const [first, last] = [days[0], days.at(-1)];
  const most = Math.max(...used.map(({ used_seconds: seconds }) => seconds));
  if (used.length === 0 || first === undefined || last === undefined)
    return <p class="empty">Nothing has run in the last {countOf(days.length, 'day')}: each day will be a bar here.</p>;
  const told = used.map(({ day, used_seconds: seconds }) => `${day}: ${length(seconds)}`);
  const [width, height] = [days.length * STEP, LABELS + HEIGHT + LABELS];
  return (
    <svg
      class="bars"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`Hours of instances a day. ${told.join(', ')}`}
    >
      <text y="12">{length(most)}</text>
      {days.map(({ day, used_seconds: seconds }, at) => {
        const tall = seconds === 0 ? 0 : Math.max(SEEN, Math.round((seconds / most) * HEIGHT));
        return (
          <rect key={day} x={at * STEP} y={LABELS + HEIGHT - tall} width={BAR} height={tall}>
            <title>{`${day}: ${length(seconds)}`}</title>
          </rect>
        );
      })}
      <path d={`M0 ${LABELS + HEIGHT}h${width}`} />
      <text y={height - 4}>{first.day}</text>
      <text x={width} y={height - 4} text-anchor="end">
        {last.day}
      </text>
    </svg>
  );
}

/** A bar that can be seen is never said to be nothing. */
function length(seconds: number): string {
  return seconds > 0 && hours(seconds) === hours(0) ? `less than ${hours(SHOWN_SECONDS_MIN)} h` : `${hours(seconds)} h`;
}
