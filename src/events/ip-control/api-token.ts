import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { idNumber } from './vocabulary.ts';

/** A request was made with the token in this hour: said once an hour, however many there are. */
export const ApiTokenUsed = defineEvent(
  'ApiTokenUsed',
  1,
  z.strictObject({
    tokenId: z.string(),
    customerId: idNumber,
    sha256: z.string(),
    /** When the hour began: ISO 8601 with offset. */
    hour: z.string(),
  }),
);

export const apiTokenEvents = [ApiTokenUsed] as const;

export type ApiTokenEvent = EventOf<(typeof apiTokenEvents)[number]>;
