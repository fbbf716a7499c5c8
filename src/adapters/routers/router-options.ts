import type { z } from 'zod';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { type RouterDriver, RouterFailure, type RouterSettings } from '../../ports/routers.ts';
import type { Secrets } from '../../ports/secrets.ts';

/** What every driver may use from outside. */
export type RouterContext = Readonly<{ clock: Clock; ids: Ids; secrets: Secrets }>;

/** One option of a driver, for help texts. A `secret` one holds a secret's id or the absolute path of a file. */
export type RouterOption = Readonly<{ name: string; meaning: string; required: boolean; secret: boolean }>;

/** A driver that can be opened by its name. */
export type RouterDriverKind = Readonly<{
  driver: string;
  options: readonly RouterOption[];
  /** @throws RouterFailure `bad-option` */
  open: (router: RouterSettings, context: RouterContext) => RouterDriver;
}>;

/**
 * A driver from its options, a strict zod object whose fields carry `.meta({ description, secret? })`, and what opens it.
 * Option values are text; the schema turns them into what the driver wants.
 */
export function defineRouterDriver<Schema extends z.ZodObject>(
  driver: string,
  schema: Schema,
  open: (options: z.output<Schema>, context: RouterContext) => RouterDriver,
): RouterDriverKind {
  const options = Object.entries(schema.shape).map(([name, field]) => describeOption(name, field));
  return {
    driver,
    options,
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

function describeOption(name: string, field: z.core.$ZodType): RouterOption {
  const meta: unknown = 'meta' in field && typeof field.meta === 'function' ? field.meta() : undefined;
  const { description, secret } = isRecord(meta) ? meta : {};
  return {
    name,
    meaning: typeof description === 'string' ? description : '',
    required: field._zod.optin !== 'optional',
    secret: secret === true,
  };
}

function problemsOf(issue: z.core.$ZodIssue, options: readonly RouterOption[]): readonly string[] {
  if (issue.code !== 'unrecognized_keys') return [`option ${issue.path.join('.')} ${issue.message}`];
  const known = options.map((option) => option.name).join(', ');
  return issue.keys.map((key) => `option ${JSON.stringify(key)} is unknown; the options are ${known}`);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
