import { z } from 'zod';

const message = z.union([
  z.strictObject({ ask: z.int(), name: z.string(), given: z.unknown() }),
  z.strictObject({ of: z.int(), answer: z.unknown() }),
  z.strictObject({ of: z.int(), failed: z.string() }),
]);

/** Two processes that ask each other. */
export type Calls = Readonly<{
  ask: (name: string, given: unknown) => Promise<unknown>;
  /** What the other one has sent. */
  hear: (received: unknown) => void;
  /** The other one is gone: what was asked is answered by this error. */
  end: (error: Error) => void;
}>;

/** Opens one side. `send` may lose what it is given when the other one is gone. */
export function openCalls(
  send: (sent: z.infer<typeof message>) => void,
  answer: (name: string, given: unknown) => Promise<unknown>,
): Calls {
  const asked = new Map<number, Readonly<{ resolve: (answered: unknown) => void; reject: (error: Error) => void }>>();
  let last = 0;
  let ended: Error | undefined;

  const reply = async (ask: number, name: string, given: unknown): Promise<void> => {
    try {
      send({ of: ask, answer: await answer(name, given) });
    } catch (error) {
      send({ of: ask, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  };
  return {
    ask: (name, given) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        last += 1;
        asked.set(last, { resolve, reject });
        send({ ask: last, name, given });
      }),
    hear: (received) => {
      const heard = message.parse(received);
      if ('ask' in heard) return void reply(heard.ask, heard.name, heard.given);
      const waiting = asked.get(heard.of);
      asked.delete(heard.of);
      if ('failed' in heard) waiting?.reject(new Error(heard.failed));
      else waiting?.resolve(heard.answer);
    },
    end: (error) => {
      ended = error;
      for (const { reject } of asked.values()) reject(error);
      asked.clear();
    },
  };
}
