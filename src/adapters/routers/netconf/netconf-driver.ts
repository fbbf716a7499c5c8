import { type PreparedChange, type RouterDriver, RouterFailure } from '../../../ports/routers.ts';
import { createDriverCalls, createRouterTurns } from '../driver-kit/driver-calls.ts';
import { runToPause } from '../driver-kit/paused-work.ts';
import { ourLists, wantedPrefixes } from '../driver-kit/prefix-lists.ts';
import { refused } from './netconf-change.ts';
import type { ChangeSteps, NetconfLists } from './netconf-lists.ts';
import type { NetconfSession } from './netconf-session.ts';
import type { NetconfSessions } from './netconf-sessions.ts';
import { RpcFailure } from './rpc-error.ts';

export type NetconfDriverOptions = Readonly<{
  sessions: NetconfSessions;
  lists: NetconfLists;
  /** Whether what runs is to be saved. */
  saves: boolean;
  /** The longest list that the router can be expected to take. */
  maxEntries: number;
  close: () => Promise<void>;
}>;

type SessionWork<T> = (session: NetconfSession) => Promise<T>;

const WAITING = 1000;

/** Keeps prefix lists on a router that speaks NETCONF and has a candidate datastore. One call runs at a time. */
export function createNetconfDriver({ sessions, lists, saves, maxEntries, close }: NetconfDriverOptions): RouterDriver {
  const turns = createRouterTurns(1, WAITING);
  const calls = createDriverCalls();

  const withSession = async <T>(what: string, signal: AbortSignal, work: SessionWork<T>): Promise<T> => {
    const withCandidateOnly = async (session: NetconfSession): Promise<T> => {
      requireCandidate(session);
      return work(session);
    };
    try {
      return await turns.take(signal, () => sessions.use(signal, withCandidateOnly));
    } catch (failure) {
      throw failure instanceof RpcFailure ? refused(what, failure) : failure;
    }
  };

  const save = (signal: AbortSignal): Promise<void> =>
    calls.run(signal, undefined, () => withSession('saving', signal, (session) => lists.save(session, signal)));

  return {
    ...(saves ? { save } : {}),
    check: (signal) =>
      calls.run(signal, undefined, () => withSession('the check', signal, (session) => lists.check(session, signal))),
    read: (list, signal) =>
      calls.run(signal, list, () => withSession(list, signal, (session) => lists.read(session, list, signal))),
    replace: (list, prefixes, signal) =>
      calls.run(signal, list, async () => {
        const wanted = wantedPrefixes(prefixes);
        requireRoom(list, wanted.length, maxEntries);
        await withSession(list, signal, (session) => lists.replace(session, { list, wanted, signal }));
      }),
    remove: (list, signal) =>
      calls.run(signal, list, () =>
        withSession(list, signal, (session) => lists.replace(session, { list, wanted: 'absent', signal })),
      ),
    lists: (signal) =>
      calls.run(signal, undefined, async () =>
        ourLists(await withSession('all lists', signal, (session) => lists.names(session, signal))),
      ),
    prepare: async (list, prefixes, signal) => {
      const { middle, end } = await runToPause<ChangeSteps | undefined>((offer) =>
        calls.run(signal, list, async () => {
          const wanted = wantedPrefixes(prefixes);
          requireRoom(list, wanted.length, maxEntries);
          await withSession(list, signal, (session) => lists.prepare(session, { list, wanted, signal }, offer));
        }),
      );
      if (middle !== undefined) return preparedChange(list, middle, end);
      await end('keep');
      return undefined;
    },
    close: () =>
      calls.close(async () => {
        await sessions.close();
        await close();
      }),
  };
}

function preparedChange(
  list: string,
  steps: ChangeSteps,
  end: (how: 'keep' | 'take back') => Promise<void>,
): PreparedChange {
  const inWords = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (failure) {
      throw failure instanceof RpcFailure ? refused(list, failure) : failure;
    }
  };
  return {
    before: steps.before,
    commit: (signal) => inWords(steps.commit(signal)),
    read: (signal) => inWords(steps.read(signal)),
    confirm: async (signal) => {
      try {
        await inWords(steps.confirm(signal));
      } catch (failure) {
        // What is confirmed can't be taken back any more; what is not, is.
        await end('take back');
        throw failure;
      }
      await end('keep');
    },
    undo: () => end('take back'),
  };
}

function requireCandidate({ capabilities }: NetconfSession): void {
  if (capabilities.candidate) return;
  throw new RouterFailure(
    'rejected',
    'the router offers no candidate datastore, which keeps a half-made change out of force',
  );
}

function requireRoom(list: string, entries: number, most: number): void {
  if (entries <= most) return;
  throw new RouterFailure(
    'too-large',
    `${list} is to have ${entries} entries, and option max_entries says that the router takes ${most}; nothing was sent`,
  );
}
