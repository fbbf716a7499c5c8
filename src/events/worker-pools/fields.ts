import { z } from 'zod';
import { across } from './document-checks.ts';

/** Text that names something at a provider: one line, not empty, no blanks at its ends. */
export function nameText(description: string) {
  return z
    .string()
    .min(1)
    .max(255)
    .regex(/^\S(?:.*\S)?$/, { error: 'must be one line without blanks at its ends' })
    .describe(description);
}

/** A whole number from `least`, by default from 0, up to what JSON carries exactly. */
export function wholeNumber(description: string, least = 0, most = Number.MAX_SAFE_INTEGER) {
  return z.int().min(least).max(most).describe(description);
}

/** A list for which empty means the same as absent. */
export function listOrAbsent<T extends z.ZodType>(entry: T, description: string) {
  return z
    .array(entry)
    .transform((list) => (list.length === 0 ? undefined : list))
    .optional()
    .describe(description);
}

/** The codename of a distribution release, as its archive spells it. */
export const distroRelease = z
  .string()
  .regex(/^[a-z][a-z0-9.+-]{0,62}$/, {
    error: 'must be the codename of a release, in lower case (bookworm, trixie, noble)',
  })
  .describe('codename of the distribution release in the image; used for quirks of first boot');

/** Free JSON: an object of at most `bytesMax` bytes as JSON text. */
export function freeJson(description: string, bytesMax: number) {
  return z
    .record(z.string(), z.json())
    .check(
      across((value, report) => {
        const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
        if (bytes > bytesMax) report([], `must be at most ${bytesMax} bytes as JSON, not ${bytes}`);
      }),
    )
    .describe(description);
}

/** Already checked where it entered: an event only proves that it is still what the record says. Nothing is changed on the way. */
export function asStored<T>(schema: z.ZodType<T>): z.ZodType<T> {
  return z.custom<T>((value) => schema.safeParse(value).success);
}
