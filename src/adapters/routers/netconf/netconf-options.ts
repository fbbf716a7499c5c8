import { z } from 'zod';
import { mustBe, wholeNumber } from '../driver-kit/router-options.ts';
import { SSH_OPTIONS } from '../ssh/ssh-options.ts';

const NETCONF_PORT = 830;
const TRUTH = 'true or false';
const VALIDATION = 'with-edit, before-commit or none';
const WARNINGS = 'a JSON list of texts such as ["requires a license"]';

const truth = z.enum(['true', 'false'], mustBe(TRUTH));

/** What a router is told apart by that speaks NETCONF, whatever its dialect. */
export const NETCONF_OPTIONS = {
  ...SSH_OPTIONS,
  port: SSH_OPTIONS.port
    .unwrap()
    .default(NETCONF_PORT)
    .meta({ description: `port of NETCONF over SSH (${NETCONF_PORT})` }),
  confirm_seconds: wholeNumber('a number of seconds from 5 to 600', 5, 600).default(60).meta({
    description: 'the router takes a change back by itself when it is not confirmed within so many seconds (60)',
  }),
  lock_seconds: wholeNumber('a number of seconds from 0 to 600', 0, 600)
    .default(10)
    .meta({ description: 'how long the lock of somebody else is waited for (10)' }),
  answer_seconds: wholeNumber('a number of seconds from 1 to 3600', 1, 3600)
    .default(120)
    .meta({ description: 'how long one answer of the router is waited for (120)' }),
  max_entries: wholeNumber('a number of entries from 1 to 1000000', 1, 1_000_000).default(10_000).meta({
    description: 'longest list that the router takes in time; longer ones are refused before anything is sent (10000)',
  }),
  validation: z.enum(['with-edit', 'before-commit', 'none'], mustBe(VALIDATION)).default('with-edit').meta({
    description:
      'where the router checks a change, if it offers to: with-edit (test-then-set), before-commit (an operation of its own), none',
  }),
  discard_foreign: truth
    .default('false')
    .transform((text) => text === 'true')
    .meta({
      description: 'throw away changes that somebody has left in the candidate without a lock; false: refuse to work',
    }),
  save: truth
    .default('true')
    .transform((text) => text === 'true')
    .meta({ description: 'copy running to startup after a change, on routers where these are two' }),
  ignore_warnings: z
    .string(mustBe(WARNINGS))
    .transform((text, context) => {
      const texts = textsIn(text);
      if (texts !== undefined) return texts;
      context.addIssue({ code: 'custom', message: `must be ${WARNINGS}` });
      return z.NEVER;
    })
    .optional()
    .meta({ description: `warnings that are no failure, by a part of their text: ${WARNINGS}` }),
};

function textsIn(text: string): readonly string[] | undefined {
  try {
    return z.array(z.string().min(1)).safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
