import type { MongoClient } from 'mongodb';
import type { Clock } from '../../ports/clock.ts';

/** Has a driver begin anew that has found no server for long. */
export type FreshStart = Readonly<{
  /** A command was answered, whatever the answer. */
  answered: () => void;
  /** A command was not. */
  unanswered: () => void;
  close: () => Promise<void>;
}>;

/**
 * The driver looks for servers by itself. Under load it was seen to go on failing after the server was back, its watch over the server
 * waiting for ever. Closing and connecting makes new watches; who uses the client notices nothing.
 */
export function openFreshStart(client: MongoClient, clock: Clock, afterMilliseconds: number): FreshStart {
  let unansweredSince: number | undefined;
  let starting: Promise<void> | undefined;
  let isClosed = false;

  return {
    answered: () => void (unansweredSince = undefined),
    unanswered: () => {
      const now = clock.monotonicMilliseconds();
      unansweredSince ??= now;
      if (isClosed || starting !== undefined || now - unansweredSince < afterMilliseconds) return;
      starting = startAnew().finally(() => {
        starting = undefined;
        unansweredSince = undefined;
      });
    },
    close: async () => {
      isClosed = true;
      await client.close();
      await starting;
    },
  };

  async function startAnew(): Promise<void> {
    for (const step of [() => client.close(), () => (isClosed ? undefined : client.connect())]) {
      try {
        await step();
      } catch {
        // Still away: whoever uses the client hears of it, and it is tried again.
      }
    }
    if (isClosed) await client.close();
  }
}
