import { isAbsolute } from 'node:path';
import { z } from 'zod';
import type { CoverText } from '../../../addresses/cover-text.ts';
import { formatCidr } from '../../../addresses/cidr.ts';
import { createKeyedMutex } from '../../../concurrency/keyed-mutex.ts';
import type { Clock } from '../../../ports/clock.ts';
import { type RouterDriver, RouterFailure } from '../../../ports/routers.ts';
import { createDriverCalls, createRouterTurns, stoppedInTime } from '../driver-kit/driver-calls.ts';
import { ourLists, wantedPrefixes } from '../driver-kit/prefix-lists.ts';
import { defineRouterDriver, MAX_ENTRIES_OPTION, mustBe } from '../driver-kit/router-options.ts';
import { unlessHung } from './disk-calls.ts';
import { type ListDirectory, openListDirectory } from './list-directory.ts';

/** Lists are files of their own: many are written at once, so that the disk syncs them together. */
const AT_ONCE = 64;
const WAITING = 1000;

const OPTIONS = z.strictObject({
  path: z
    .string(mustBe('the absolute path of a directory'))
    .refine((path) => isAbsolute(path) && !path.includes('\0'), mustBe('the absolute path of a directory'))
    .meta({ description: 'directory that gets one file a list, one CIDR a line; absolute path', reach: 'folder' }),
  max_entries: MAX_ENTRIES_OPTION,
});

/** Writes lists as files, for networks whose routers pull. An empty list is an empty file. */
export const FILE_DRIVER = defineRouterDriver({
  driver: 'file',
  schema: OPTIONS,
  variants: [OPTIONS],
  open: ({ path }, { ids, clock }) => createFileDriver(path, openListDirectory(path, ids), clock),
});

/** The driver over a directory. @public one whose disk hangs can be tried in no other way */
export function createFileDriver(folder: string, directory: ListDirectory, clock: Pick<Clock, 'wait'>): RouterDriver {
  const changes = createRouterTurns(AT_ONCE, WAITING);
  const turns = createKeyedMutex();
  const calls = unlessHung(createDriverCalls(), folder, clock);
  /** One change of a list at a time. */
  const inTurn = <T>(signal: AbortSignal, list: string, work: () => Promise<T>): Promise<T> =>
    changes.take(signal, () => turns.take(list, signal, work).catch((error: unknown) => stopped(error, signal)));
  return {
    read: (list, signal) => calls.run(signal, list, () => directory.read(list, signal)),
    replace: (list, prefixes, signal) =>
      calls.run(signal, list, async () => {
        const wanted = wantedPrefixes(prefixes).map(formatCidr);
        await inTurn(signal, list, async () => {
          if (await isHeld(() => holds(directory, list, wanted, signal))) return;
          await directory.write(list, [Buffer.from(wanted.map((prefix) => `${prefix}\n`).join(''))], signal);
        });
      }),
    text: {
      read: (list, signal) => calls.run(signal, list, () => directory.readText(list, signal)),
      replace: (list, wanted, signal) =>
        calls.run(signal, list, () =>
          inTurn(signal, list, async () => {
            if (await isHeld(() => holdsText(directory, list, wanted, signal))) return;
            await directory.write(list, wanted.pieces, signal);
          }),
        ),
    },
    remove: (list, signal) => calls.run(signal, list, () => inTurn(signal, list, () => directory.remove(list))),
    lists: (signal) =>
      calls.run(signal, undefined, async () => {
        // Every look at the router begins here.
        await directory.removeLeftOvers();
        return ourLists(await directory.names());
      }),
    check: (signal) => calls.run(signal, undefined, () => directory.check()),
    folder,
    close: () => calls.close(async () => undefined),
  };
}

function stopped(error: unknown, signal: AbortSignal): never {
  throw error instanceof RouterFailure || !signal.aborted ? error : stoppedInTime(signal);
}

async function holds(
  directory: ListDirectory,
  list: string,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const held = await directory.read(list, signal);
  return held !== 'absent' && held.length === wanted.length && held.every((prefix, at) => prefix === wanted[at]);
}

async function holdsText(
  directory: ListDirectory,
  list: string,
  wanted: CoverText,
  signal: AbortSignal,
): Promise<boolean> {
  const held = await directory.readText(list, signal);
  return held !== 'absent' && wanted.hasLinesOf(held);
}

/** A file that can't be read as a list holds something else, and is going to be replaced. */
async function isHeld(look: () => Promise<boolean>): Promise<boolean> {
  try {
    return await look();
  } catch (failure) {
    if (failure instanceof RouterFailure && failure.code === 'unreadable-answer') return false;
    throw failure;
  }
}
