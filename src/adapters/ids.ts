import { randomBytes, randomUUID } from 'node:crypto';
import type { Ids } from '../ports/ids.ts';

/** Ids from the operating system's secure randomness. */
export const systemIds: Ids = {
  uuid: () => randomUUID(),
  random: (bytes) => randomBytes(bytes),
};
