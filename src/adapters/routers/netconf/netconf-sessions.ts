import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import type { NetconfSession } from './netconf-session.ts';

/** The session with one router: opened when it is first needed, kept for a while, opened again when it was lost. */
export type NetconfSessions = Readonly<{
  /**
   * Works with the session; one work at a time is for the caller to see to. A work that fails ends the session, so that
   * whatever it has left behind is dropped by the router.
   */
  use: <T>(signal: AbortSignal, work: (session: NetconfSession) => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
}>;

/** `open` begins a session; one that was not used for `idleMilliseconds` is closed. */
export function keepNetconfSession(
  open: (signal: AbortSignal) => Promise<NetconfSession>,
  clock: Clock,
  idleMilliseconds: number,
): NetconfSessions {
  let kept: NetconfSession | undefined;
  let idle = new AbortController();

  const take = (): NetconfSession | undefined => {
    idle.abort();
    const session = kept;
    kept = undefined;
    return session?.isOpen() === true ? session : undefined;
  };
  const keep = async (session: NetconfSession): Promise<void> => {
    kept = session;
    idle = new AbortController();
    try {
      await clock.wait(idleMilliseconds, idle.signal);
    } catch {
      // A call needs the session, or the driver closes it.
      return;
    }
    await take()?.close();
  };
  const workWith = async <T>(session: NetconfSession, work: (session: NetconfSession) => Promise<T>): Promise<T> => {
    try {
      const done = await work(session);
      if (session.isOpen()) void keep(session);
      return done;
    } catch (failure) {
      session.destroy();
      throw failure;
    }
  };

  return {
    use: async (signal, work) => {
      const session = take();
      if (session === undefined) return workWith(await open(signal), work);
      const answers = session.answers();
      try {
        return await workWith(session, work);
      } catch (failure) {
        // The session was lost while it was unused: no request of this call was sent yet.
        const isStale = failure instanceof RouterFailure && failure.code === 'unreachable';
        if (!isStale || session.answers() !== answers || signal.aborted) throw failure;
        return workWith(await open(signal), work);
      }
    },
    close: async () => {
      await take()?.close();
    },
  };
}
