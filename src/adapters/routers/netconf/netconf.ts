import { z } from 'zod';
import type { RouterDriver } from '../../../ports/routers.ts';
import {
  defineRouterDriver,
  mustBe,
  type RouterContext,
  type RouterDriverKind,
  wholeNumber,
} from '../driver-kit/router-options.ts';
import { refuseLoginProblems, SSH_OPTIONS, sshLimits, sshTarget } from '../ssh/ssh-options.ts';
import { createSshSession } from '../ssh/ssh-session.ts';
import type { Dialect } from './dialect.ts';
import { JUNOS_DIALECT } from './junos-dialect.ts';
import { createNetconfDriver } from './netconf-driver.ts';
import { createNetconfLists } from './netconf-lists.ts';
import { openNetconfSession } from './netconf-session.ts';
import { keepNetconfSession } from './netconf-sessions.ts';
import { OPENCONFIG_DIALECT } from './openconfig-dialect.ts';

const NETCONF_PORT = 830;
const TRUTH = 'true or false';
const VALIDATION = 'with-edit, before-commit or none';
const WARNINGS = 'a JSON list of texts such as ["requires a license"]';

const truth = z.enum(['true', 'false'], mustBe(TRUTH));

/** What a router is told apart by that speaks NETCONF, whatever its dialect. */
const NETCONF_OPTIONS = {
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

const VARIANT = z.strictObject(NETCONF_OPTIONS).superRefine(refuseLoginProblems);
const IDLE_MILLISECONDS = 20_000;

/** Prefix lists of Junos, over NETCONF. */
export const JUNOS_DRIVER = netconfDriver('junos', JUNOS_DIALECT);

/** Prefix sets of openconfig-routing-policy, over NETCONF. */
export const OPENCONFIG_DRIVER = netconfDriver('openconfig', OPENCONFIG_DIALECT);

function netconfDriver(driver: string, dialect: Dialect): RouterDriverKind {
  return defineRouterDriver({
    driver,
    schema: VARIANT,
    variants: [VARIANT],
    open: (options, context) => open(options, context, dialect),
  });
}

function open(options: z.output<typeof VARIANT>, { clock, secrets }: RouterContext, dialect: Dialect): RouterDriver {
  const ssh = createSshSession(sshTarget(options, secrets), clock, sshLimits(options));
  const limits = { clock, answerMilliseconds: options.answer_seconds * 1000 };
  const openSession = async (signal: AbortSignal): ReturnType<typeof openNetconfSession> =>
    openNetconfSession(await ssh.subsystem('netconf', signal), limits, signal);
  const plan = {
    dialect,
    confirmSeconds: options.confirm_seconds,
    validation: options.validation,
    save: options.save,
    ignoredWarnings: options.ignore_warnings ?? [],
  };
  const lock = { clock, lockMilliseconds: options.lock_seconds * 1000, discardForeign: options.discard_foreign };
  return createNetconfDriver({
    sessions: keepNetconfSession(openSession, clock, IDLE_MILLISECONDS),
    lists: createNetconfLists(plan, lock, clock),
    saves: options.save,
    maxEntries: options.max_entries,
    close: () => ssh.close(),
  });
}
