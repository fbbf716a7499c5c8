import type { EventLog } from './event-log.ts';

/** Who may log in. Members of `$admins` may do everything; of `$ops` everything but read `$all` and the streams of the system. */
export type User = Readonly<{ user: string; password: string; groups: readonly string[] }>;

const ADMINISTRATORS = '$admins';
/** Where the access list of `$all` is kept. */
const METADATA_OF_ALL = '$$$all';

/** The user whose login this is. */
export function userOf(users: readonly User[], authorization: string | undefined): User | undefined {
  return users.find(({ user, password }) => {
    const login = Buffer.from(`${user}:${password}`).toString('base64');
    return authorization === `Basic ${login}`;
  });
}

/** Whether a user may read `$all`: administrators, and whom its access list names. */
export function mayReadAll({ user, groups }: User, log: EventLog): boolean {
  const readers = readersOfAll(log);
  return isAdministrator(groups) || [user, ...groups].some((name) => readers.includes(name));
}

/** Whether a user may read or write a stream: what begins with `$` is the administrators'. */
export function mayUse({ groups }: User, stream: string): boolean {
  return !stream.startsWith('$') || isAdministrator(groups);
}

function isAdministrator(groups: readonly string[]): boolean {
  return groups.includes(ADMINISTRATORS);
}

function readersOfAll(log: EventLog): readonly string[] {
  const newest = log.stream(METADATA_OF_ALL).at(-1);
  if (newest === undefined) return [];
  const { $acl: list } = JSON.parse(Buffer.from(newest.data).toString()) as { $acl?: { $r?: string | string[] } };
  return [list?.$r ?? []].flat();
}
