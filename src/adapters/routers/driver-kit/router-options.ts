import { z } from 'zod';
import type { Clock } from '../../../ports/clock.ts';
import type { Ids } from '../../../ports/ids.ts';
import {
  type RouterDriver,
  type RouterDriverReach,
  RouterFailure,
  type RouterOptionReach,
  type RouterSettings,
} from '../../../ports/routers.ts';
import type { Secrets } from '../../../ports/secrets.ts';

/** What every driver may use from outside. */
export type RouterContext = Readonly<{ clock: Clock; ids: Ids; secrets: Secrets }>;

/**
 * One option of a driver, for help texts. A `secret` one holds `secret:<id>` or the absolute path of a file.
 * `onlyWith` is the choice that it belongs to, such as `transport=ssh`; `required` then means required with that choice.
 */
export type RouterOption = Readonly<{
  name: string;
  meaning: string;
  required: boolean;
  secret: boolean;
  reach: RouterOptionReach | undefined;
  onlyWith: string | undefined;
}>;

/** A driver that can be opened by its name. */
export type RouterDriverKind = Readonly<{
  driver: string;
  options: readonly RouterOption[];
  here: RouterDriverReach['here'];
  /** @throws RouterFailure `bad-option` */
  open: (router: RouterSettings, context: RouterContext) => RouterDriver;
}>;

/**
 * A driver from the schema of its options and what opens it. Option values are text; the schema turns them into what the
 * driver wants. `variants` are the strict objects that the schema chooses from (one, where there is no choice); their fields
 * carry `.meta({ description, secret?, reach? })`. `here` is the choice with which commands run on this machine; without it, options that
 * reach the machine are for the command line alone.
 */
export function defineRouterDriver<Options extends object>(definition: {
  driver: string;
  schema: z.ZodType<Options>;
  variants: readonly z.ZodObject[];
  here?: NonNullable<RouterDriverReach['here']>;
  open: (options: Options, context: RouterContext) => RouterDriver;
}): RouterDriverKind {
  const { driver, schema, variants, here, open } = definition;
  const options = describeOptions(variants);
  return {
    driver,
    options,
    here,
    open: (router, context) => {
      const parsed = schema.safeParse(router.options);
      if (parsed.success) return open(parsed.data, context);
      const problems = parsed.error.issues.flatMap((issue) => problemsOf(issue, options));
      throw new RouterFailure('bad-option', `router ${router.name} (${driver}): ${problems.join('; ')}`);
    },
  };
}

/** The `error` of a field's schema: says what would be right, whether the value is missing or wrong. */
export function mustBe(right: string): { error: (issue: { input?: unknown }) => string } {
  return { error: ({ input }) => (input === undefined ? `is missing; it must be ${right}` : `must be ${right}`) };
}

/** An option that is a whole number between two others; `right` says so in words. */
export function wholeNumber(
  right: string,
  from: number,
  to: number,
): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> {
  return z
    .string(mustBe(right))
    .regex(/^(?:0|[1-9]\d{0,6})$/, mustBe(right))
    .transform((text, context) => {
      const value = Number(text);
      if (value >= from && value <= to) return value;
      context.addIssue({ code: 'custom', message: `must be ${right}` });
      return z.NEVER;
    });
}

/** How many entries a list may have on the router, where that is less than its driver takes; checked when a change is asked for. */
export const MAX_ENTRIES_OPTION = wholeNumber('a number of entries from 1 to 1000000', 1, 1_000_000)
  .optional()
  .meta({ description: 'longest list that the router is to have; a change that needs a longer one is refused' });

function describeOptions(variants: readonly z.ZodObject[]): readonly RouterOption[] {
  const names = new Set(variants.flatMap((variant) => Object.keys(variant.shape)));
  return [...names].map((name) => {
    const having = variants.filter((variant) => name in variant.shape);
    const fields = having.flatMap((variant) => variant.shape[name] ?? []);
    const meta = fields.map((field) => z.globalRegistry.get(field)).find((found) => found !== undefined);
    return {
      name,
      meaning: meta?.description ?? '',
      required: fields.every((field) => !z.safeParse(field, undefined).success),
      secret: meta?.secret === true,
      reach: meta?.secret === true ? 'secret' : reachIn(meta?.['reach']),
      onlyWith: having.length < variants.length ? having.map(choiceOf).join(' or ') : undefined,
    };
  });
}

function reachIn(named: unknown): RouterOptionReach | undefined {
  return named === 'folder' || named === 'machine' ? named : undefined;
}

/** What tells a variant from the others: `transport=ssh`. */
function choiceOf(variant: z.ZodObject): string {
  const choices = Object.entries(variant.shape).flatMap(([name, field]) =>
    field instanceof z.ZodLiteral ? [`${name}=${String(field.value)}`] : [],
  );
  return choices.join(' ');
}

function problemsOf(issue: z.core.$ZodIssue, options: readonly RouterOption[]): readonly string[] {
  if (issue.code !== 'unrecognized_keys') return [`option ${issue.path.join('.')} ${issue.message}`];
  return issue.keys.map((key) => {
    const elsewhere = options.find(({ name }) => name === key)?.onlyWith;
    if (elsewhere !== undefined) return `option ${key} goes only with ${elsewhere}`;
    const known = options.map(({ name }) => name).join(', ');
    return `option ${JSON.stringify(key)} is unknown; the options are ${known}`;
  });
}
