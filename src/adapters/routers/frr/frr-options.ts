import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { mustBe } from '../router-options.ts';

const SOCKETS = '/var/run/frr';

const word = (right: string, pattern: RegExp): z.ZodString => z.string(mustBe(right)).regex(pattern, mustBe(right));
const absolutePath = (right: string): z.ZodString =>
  z.string(mustBe(right)).refine((path) => isAbsolute(path) && !/[\0\n]/.test(path), mustBe(right));

const COMMAND_PREFIX = 'a JSON list of words such as ["sudo","-n"]';

/** How vtysh is found and called on the router. */
export const VTYSH_OPTIONS = {
  vtysh: word('the path of vtysh, without blanks', /^[A-Za-z0-9_./][^\s\0]*$/)
    .default('vtysh')
    .meta({ description: 'path of vtysh on the router' }),
  pathspace: word('a name of letters, digits, "_" and "-"', /^[A-Za-z0-9_][A-Za-z0-9_-]*$/)
    .optional()
    .meta({ description: "FRR's pathspace (vtysh -N), where several FRRs run on one machine" }),
  vty_socket: absolutePath('an absolute path')
    .optional()
    .meta({ description: `directory of the daemons' sockets (vtysh --vty_socket); ${SOCKETS} when absent` }),
  command_prefix: z
    .string(mustBe(COMMAND_PREFIX))
    .transform((text, context) => {
      const words = wordsIn(text);
      if (words !== undefined) return words;
      context.addIssue({ code: 'custom', message: `must be ${COMMAND_PREFIX}` });
      return z.NEVER;
    })
    .optional()
    .meta({ description: `what every command on the router begins with, ${COMMAND_PREFIX}` }),
  daemon: word('the name of a daemon such as bgpd', /^[a-z0-9]{2,20}$/)
    .default('bgpd')
    .meta({ description: 'the daemon that uses the lists: they are read back from it' }),
  write_memory: z
    .enum(['true', 'false'], mustBe('true or false'))
    .default('true')
    .transform((text) => text === 'true')
    .meta({ description: 'save the configuration after a change, so that lists survive a restart of FRR' }),
};

/** Refines an object with the options above: one way to find the sockets. */
export function refuseTwoSockets(
  { pathspace, vty_socket: directory }: { pathspace?: string | undefined; vty_socket?: string | undefined },
  context: z.RefinementCtx,
): void {
  if (pathspace === undefined || directory === undefined) return;
  context.addIssue({ code: 'custom', path: ['pathspace'], message: 'must be left out, as vty_socket is given' });
}

/** Which sockets vtysh talks to, and the words that make it do so. */
export function vtyshPlace(options: {
  vtysh: string;
  pathspace?: string | undefined;
  vty_socket?: string | undefined;
}): Readonly<{ words: readonly string[]; sockets: string }> {
  const { vtysh, pathspace, vty_socket: directory } = options;
  const words = [vtysh];
  if (pathspace !== undefined) words.push('-N', pathspace);
  if (directory !== undefined) words.push('--vty_socket', directory);
  return { words, sockets: directory ?? (pathspace === undefined ? SOCKETS : `${SOCKETS}/${pathspace}`) };
}

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
