import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Secrets } from '../../ports/secrets.ts';

const SECRETS_MAX = 10_000;
/** Whoever puts another value in place waits no longer than this for it to be used. */
const REMEMBERED_MILLISECONDS = 1_000;

type Remembered = Readonly<{ value: Promise<string | undefined>; until: number }>;

/** Reads secrets that many need one after another: one that was read a moment ago is not read again. Only what was found is remembered. */
export function rememberedSecrets(
  secrets: Pick<Secrets, 'get'>,
  clock: Pick<Clock, 'monotonicMilliseconds'>,
): Pick<Secrets, 'get'> {
  const known = new BoundedMap<string, Remembered>(SECRETS_MAX);
  return {
    get: (id) => {
      const now = clock.monotonicMilliseconds();
      const remembered = known.get(id);
      if (remembered !== undefined && now < remembered.until) return remembered.value;
      const value = secrets.get(id);
      known.set(id, { value, until: now + REMEMBERED_MILLISECONDS });
      const forget = (): void => known.delete(id);
      value.then((found) => found === undefined && forget(), forget);
      return value;
    },
  };
}
