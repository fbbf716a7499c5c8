import { z } from 'zod';

/** Why something was done, as the one who did it has said: a reason in words, and a ticket by its number. */
export type Grounds = Readonly<{ reason?: string | undefined; ticket?: string | undefined }>;

export const REASON_CHARACTERS_MAX = 500;
export const TICKET_CHARACTERS_MAX = 100;

/** Neither control characters, which a terminal would obey, nor half a character; a reason may have lines. */
const REASON = /^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u;
const TICKET = /^[^\p{Cc}\p{Cs}]*$/u;

/** A reason, as it is given. */
export const reasonText = groundsText(REASON_CHARACTERS_MAX, REASON, 'must not have control characters.');
/** A ticket, as it is given. */
export const ticketText = groundsText(TICKET_CHARACTERS_MAX, TICKET, 'must be one line, without control characters.');

/** Why, as fields of what is asked for; both may be left out. */
export const groundsFields = { reason: reasonText.optional(), ticket: ticketText.optional() } as const;

function groundsText(charactersMax: number, allowed: RegExp, otherwise: string) {
  const error = `must be text of 1 to ${charactersMax} characters.`;
  return z
    .string({ error })
    .refine((text) => hasLength(text, charactersMax), { error, abort: true })
    .regex(allowed, { error: otherwise })
    .meta({ minLength: 1, maxLength: charactersMax });
}

/** Counted as JSON Schema does, in whole characters. A text is not taken apart that can't be short enough. */
function hasLength(text: string, charactersMax: number): boolean {
  return text.length > 0 && text.length <= 2 * charactersMax && Array.from(text).length <= charactersMax;
}

/** What of it was said, to be spread into what records it. */
export function saidOf({ reason, ticket }: Grounds): Readonly<{ reason?: string; ticket?: string }> {
  return { ...(reason === undefined ? {} : { reason }), ...(ticket === undefined ? {} : { ticket }) };
}
