import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiClient } from '../http/api-client.ts';
import { killed } from './bound-process.ts';
import type { Edgeward } from './edgeward-server.ts';

/** Lies about the wall clock of a process, by as many seconds as a file says; undefined where it is not installed. */
const FAKETIME = ['x86_64', 'aarch64']
  .map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`)
  .find(existsSync);

/** What a test that sets a server's clock needs and this machine does not have. */
export const missingForSteps = FAKETIME === undefined ? 'libfaketime (Debian: apt-get install faketime)' : undefined;

/** A server that runs as another process, and is asked with a customer's token. */
export type SteppedServer = Readonly<{
  api: ReturnType<typeof openApiClient>;
  /** Kills it. */
  stop: () => Promise<void>;
}>;

/** A wall clock for the servers of an installation: it goes right until it is set; their monotonic clock always does. */
export function openSteppedClock(edgeward: Edgeward) {
  const file = join(edgeward.folder, 'clock');
  const set = (seconds: number): void => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  set(0);
  return {
    /** How many seconds it is before or behind the machine's clock from now on. */
    set,
    /** Starts the server under it. */
    serve: async (token: string): Promise<SteppedServer> => {
      const process = await edgeward.spawn(['serve'], {
        LD_PRELOAD: FAKETIME ?? '',
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      });
      const api = openApiClient(await process.listening(), token);
      return {
        api,
        stop: async () => {
          await api.close();
          await killed(process.child);
        },
      };
    },
  };
}
