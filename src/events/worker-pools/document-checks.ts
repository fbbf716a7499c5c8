import { z } from 'zod';

/** One thing wrong with a record: where it is, and what would be right. */
export type Problem = Readonly<{ path: string; message: string }>;

/** A record that holds, or everything that is wrong with it. */
export type Checked<T> = Readonly<{ ok: true; value: T }> | Readonly<{ ok: false; problems: readonly Problem[] }>;

/** `confidential`: the messages never repeat a value. */
export type CheckOptions = Readonly<{ confidential?: boolean }>;

/** Reports a problem of a rule that looks at several fields; `path` is relative to the object that has the rule. */
export type Report = (path: readonly (string | number)[], message: string) => void;

const PROBLEMS_MAX = 100;
const DEPTH_MAX = 32;

/** Checks a record against its schema; paths start with `name`. Lists every problem (at most 100), not only the first. */
export function check<T>(schema: z.ZodType<T>, name: string, input: unknown, options: CheckOptions = {}): Checked<T> {
  const shapeless = shapeProblems(name, input);
  if (shapeless.length > 0) return { ok: false, problems: shapeless };
  const known = new Map<string, readonly string[]>();
  const result = schema.safeParse(input, {
    reportInput: true,
    error: (issue) => {
      if (issue.code === 'unrecognized_keys') known.set(pathText(name, issue.path ?? []), fieldsOf(issue.inst));
      return message(issue, options.confidential === true);
    },
  });
  if (result.success) return { ok: true, value: withoutUndefined(result.data) };
  const problems = result.error.issues.flatMap((issue): readonly Problem[] => {
    const path = pathText(name, issue.path);
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    const fields = known.get(path) ?? [];
    return issue.keys.map((key) => ({ path: pathText(path, [key]), message: unknownField(key, fields) }));
  });
  return { ok: false, problems: problems.slice(0, PROBLEMS_MAX) };
}

/** A rule across fields. It is looked at even where single fields are wrong, so it must expect anything in them. */
export function across(
  rule: (value: Readonly<Record<string, unknown>>, report: Report) => void,
): z.core.$ZodCheck<object> {
  return z.core._check<object>(
    (payload) => {
      const input: unknown = payload.value;
      if (!isObject(input)) return;
      rule(input, (path, text) => {
        payload.issues.push({ code: 'custom', path: [...path], message: text, input: payload.value, continue: true });
      });
    },
    { when: () => true },
  );
}

/** Tells an object from lists, null and plain values. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `name.list[0].field`; a field that is no plain word is written `["like this"]`. */
export function pathText(name: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const field = String(step);
    if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(field)) return text === '' ? field : `${text}.${field}`;
    return `${text}[${JSON.stringify(shortened(field))}]`;
  }, name);
}

/** Plain JSON: a field whose value is undefined is not there. */
function withoutUndefined<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) Reflect.deleteProperty(value, key);
    else withoutUndefined(inner);
  }
  return value;
}

/** What no record may be, whatever its schema: deeper than anyone needs, or with a name that JavaScript gives a meaning. */
function shapeProblems(name: string, input: unknown): readonly Problem[] {
  const problems: Problem[] = [];
  const open: { path: string; value: unknown; depth: number }[] = [{ path: name, value: input, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= DEPTH_MAX) return [{ path: shortened(path), message: `is nested deeper than ${DEPTH_MAX} levels` }];
    for (const [key, inner] of Object.entries(value)) {
      const below = pathText(path, [Array.isArray(value) ? Number(key) : key]);
      if (key === '__proto__') problems.push({ path: below, message: 'is a name that can not be used' });
      else open.push({ path: below, value: inner, depth: depth + 1 });
    }
  }
  return problems.slice(0, PROBLEMS_MAX);
}

function message(issue: z.core.$ZodRawIssue, confidential: boolean): string | undefined {
  const shown = confidential ? kindOf(issue.input) : shownValue(issue.input);
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined) return `is required: ${kind(issue)}${purposeOf(issue.inst)}`;
    return `must be ${kind(issue)}, not ${shown}`;
  }
  if (issue.code === 'too_small') {
    if (issue.origin === 'array') return `must have at least ${entries(issue.minimum)}`;
    if (issue.origin === 'string') return 'must not be empty';
    return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}, not ${shown}`;
  }
  if (issue.code === 'too_big') {
    if (issue.origin === 'array') return `must have at most ${entries(issue.maximum)}`;
    if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`;
    return `must be at most ${issue.maximum}, not ${shown}`;
  }
  if (issue.code === 'invalid_value') {
    if (issue.input === undefined) return `is required: ${oneOf(issue.values)}`;
    return `must be ${oneOf(issue.values)}, not ${shown}`;
  }
  return issue.code === 'invalid_union' ? undiscriminated(issue, shown) : undefined;
}

function undiscriminated(issue: z.core.$ZodRawIssue, shown: string): string | undefined {
  const { input, discriminator, options } = issue;
  if (!Array.isArray(options) || typeof discriminator !== 'string') return undefined;
  const given = isObject(input) ? input[discriminator] : input;
  if (given === undefined) return `is required: ${oneOf(options)}`;
  return `must be ${oneOf(options)}, not ${isObject(input) ? shownValue(given) : shown}`;
}

function kind(issue: z.core.$ZodRawIssue): string {
  const kinds: Readonly<Record<string, string>> = {
    int: 'a whole number',
    number: issue.inst instanceof z.ZodNumberFormat ? 'a whole number' : 'a number',
    string: 'a string',
    boolean: 'true or false',
    array: 'a list',
    object: 'an object',
    record: 'an object',
  };
  return kinds[String(issue.expected)] ?? String(issue.expected);
}

function purposeOf(schema: unknown): string {
  const description = schema instanceof z.ZodType ? schema.description : undefined;
  return description === undefined || description === '' ? '' : ` (${description})`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value));
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value);
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function oneOf(values: unknown): string {
  const shown = (Array.isArray(values) ? values : []).map((value: unknown) => String(value));
  return shown.length === 1 ? `${shown[0]}` : `one of ${shown.join(', ')}`;
}

function entries(count: unknown): string {
  return Number(count) === 1 ? 'one entry' : `${String(count)} entries`;
}

function fieldsOf(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function unknownField(key: string, fields: readonly string[]): string {
  const longer = fields.find((field) => key.length > 3 && field.startsWith(key));
  if (longer !== undefined) return `is not a field; did you mean ${longer}?`;
  const near = fields
    .map((field) => ({ field, distance: editDistance(field.toLowerCase(), key.toLowerCase()) }))
    .filter(({ field, distance }) => distance <= Math.max(1, Math.floor(field.length / 4)))
    .sort((a, b) => a.distance - b.distance)[0];
  if (near !== undefined) return `is not a field; did you mean ${near.field}?`;
  return fields.length === 0 ? 'is not a field' : `is not a field; the fields are ${fields.join(', ')}`;
}

/** How many letters must be changed, added or removed (Levenshtein). */
function editDistance(from: string, to: string): number {
  const far = Math.max(from.length, to.length);
  if (far > 100) return far;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? far;
}
