import { z } from 'zod';
import type { RouterDriver } from '../../../ports/routers.ts';
import { defineRouterDriver, type RouterContext, type RouterDriverKind } from '../driver-kit/router-options.ts';
import { refuseLoginProblems, sshLimits, sshTarget } from '../ssh/ssh-options.ts';
import { createSshSession } from '../ssh/ssh-session.ts';
import type { Dialect } from './dialect.ts';
import { JUNOS_DIALECT } from './junos-dialect.ts';
import { createNetconfDriver } from './netconf-driver.ts';
import { createNetconfLists } from './netconf-lists.ts';
import { NETCONF_OPTIONS } from './netconf-options.ts';
import { openNetconfSession } from './netconf-session.ts';
import { keepNetconfSession } from './netconf-sessions.ts';
import { OPENCONFIG_DIALECT } from './openconfig-dialect.ts';

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
