import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { mustBe } from '../driver-kit/router-options.ts';

/** An option that is one word, or one of a few. */
export function word(right: string, pattern: RegExp): z.ZodString {
  return z.string(mustBe(right)).regex(pattern, mustBe(right));
}

/** An option that is an absolute path on one line. */
export function absolutePath(right: string): z.ZodString {
  return z.string(mustBe(right)).refine((path) => isAbsolute(path) && !/[\0\n]/.test(path), mustBe(right));
}

const COMMAND_PREFIX = 'a JSON list of words such as ["sudo","-n"]';

/** The words that every command on the router begins with. */
export const COMMAND_PREFIX_OPTION = z
  .string(mustBe(COMMAND_PREFIX))
  .transform((text, context) => {
    const words = wordsIn(text);
    if (words !== undefined) return words;
    context.addIssue({ code: 'custom', message: `must be ${COMMAND_PREFIX}` });
    return z.NEVER;
  })
  .optional()
  .meta({ description: `what every command on the router begins with, ${COMMAND_PREFIX}`, reach: 'machine' });

function wordsIn(text: string): readonly string[] | undefined {
  try {
    const words = z
      .array(z.string().regex(/^[^\0\n]+$/))
      .min(1)
      .safeParse(JSON.parse(text));
    return words.data;
  } catch {
    return undefined;
  }
}
