import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../ports/clock.ts';
import { NO_STREAM } from '../../ports/event-store.ts';
import { StoreRefused } from '../../ports/store-refused.ts';
import { openAppendSession } from './append-session.ts';
import { openConnection } from './connection.ts';
import { readConnectionString } from './connection-string.ts';
import { failureOf } from './failures.ts';
import { openRetryingReads } from './passes.ts';
import { proposedMessage } from './proposed-events.ts';
import { readStreamEnd } from './read-requests.ts';

/** Who may read `$all` besides administrators, and whether that was changed now. */
export type Grant = Readonly<{ changed: boolean; readers: readonly string[] }>;

/** Where a server keeps the access list of `$all`. */
const METADATA_OF_ALL = '$$$all';
const ADMINISTRATORS = '$admins';
const ANSWER_MILLISECONDS = 5_000;
const RACES_MAX = 5;

const names = z.union([z.string().transform((name) => [name]), z.array(z.string())]);
/** What else stands there stays as it is. */
const metadataOfAll = z.looseObject({ $acl: z.looseObject({ $r: names.optional() }).optional() });

/** Gives a login the right to read `$all`; takes nothing from other logins. `url`: of an administrator. @throws StoreRefused */
export async function grantReadingAll(url: string, login: string, clock: Clock): Promise<Grant> {
  const connection = openConnection(readConnectionString(url));
  const { signal } = new AbortController();
  const patience = { clock, name: connection.name, milliseconds: ANSWER_MILLISECONDS, signal };
  const reads = openRetryingReads(connection, patience, ANSWER_MILLISECONDS);
  try {
    for (let race = 0; race < RACES_MAX; race += 1) {
      const [newest] = await reads.some(readStreamEnd(METADATA_OF_ALL));
      const metadata = metadataOfAll.parse(newest === undefined ? {} : JSON.parse(newest.data));
      const before = metadata.$acl?.$r;
      if (before?.includes(login) === true) return { changed: false, readers: before };
      // Where no login is named, administrators alone may; a list that is made now has to name them.
      const readers = [...(before ?? [ADMINISTRATORS]), login];
      const text = JSON.stringify({ ...metadata, $acl: { ...metadata.$acl, $r: readers } });
      const revision = newest?.revision ?? NO_STREAM;
      if (await appended(text, revision)) return { changed: true, readers };
    }
    throw new Error(`the access list of $all was changed by others ${RACES_MAX} times`);
  } catch (error) {
    throw error instanceof z.ZodError || error instanceof SyntaxError ? unreadable(error) : refused(error);
  } finally {
    connection.close();
  }

  /** `false` when another login has changed the list meanwhile. */
  async function appended(text: string, revision: bigint): Promise<boolean> {
    const session = await openAppendSession(connection, clock, ANSWER_MILLISECONDS, (stream) => stream);
    try {
      const data = Buffer.from(text);
      const id = randomUUID();
      const message = proposedMessage(id, '$metadata', data, Buffer.alloc(0));
      const answer = await session.append(METADATA_OF_ALL, revision, [{ id, message, bytes: data.length }]);
      return answer.kind === 'appended';
    } finally {
      session.close();
    }
  }

  function refused(error: unknown): StoreRefused {
    const because = failureOf(error instanceof Error && error.cause !== undefined ? error.cause : error).message;
    const needed = '--as must name a server that can be reached, and the login of a member of $admins';
    return new StoreRefused('login-refused', `EventStoreDB at ${connection.name} refused: ${because}; ${needed}`);
  }

  function unreadable(error: Error): StoreRefused {
    const [problem] = error.message.split('\n');
    return new StoreRefused('unsupported', `the access list of $all at ${connection.name} can't be read: ${problem}`);
  }
}
