import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';

/** The administrator may log in; the secret store holds the password's salted hash under this id. */
export const AdministratorCreated = defineEvent(
  'AdministratorCreated',
  1,
  z.strictObject({ name: z.string(), secretId: z.string() }),
);

export const administratorEvents = [AdministratorCreated] as const;

export type AdministratorEvent = EventOf<(typeof administratorEvents)[number]>;
