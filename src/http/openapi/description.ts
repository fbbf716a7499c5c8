import { z } from 'zod';
import { EXACT_COUNT, type Operation, PROBLEMS } from '../route.ts';
import type { Example } from './examples/example.ts';
import { EXAMPLES } from './examples.ts';
import { ABOUT } from './texts/about.ts';
import { fieldText } from './texts/field-texts.ts';
import { textOfOperation } from './texts/operation-texts.ts';
import { tagOf, tagsOf } from './texts/tags.ts';

type Json = Record<string, unknown>;

const PREFIXES: Readonly<Record<Operation['scope'], string>> = {
  customer: '/api/v1',
  admin: '/api/admin/v1',
  worker: '/api/worker/v1',
  anybody: '',
};

const COUNTED_HEADERS = {
  'X-Request-Id': {
    description: 'Names the request in the events and the log; yours, where you have sent one.',
    schema: { type: 'string' },
  },
  'X-RateLimit-Limit': { description: 'Requests a minute.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests that are left of them.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description:
      'When the minute ends and all of them are left again, in seconds since 1970. Missing where you are not counted.',
    schema: { type: 'integer' },
  },
} as const;

const HEADERS = Object.fromEntries(
  Object.keys(COUNTED_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

/** Of a body: which of its fields make up each of the forms that it can have, exactly one of which is meant. */
const FORMS: readonly (readonly (readonly string[])[])[] = [
  [['ips'], ['range'], ['cidr']],
  [['ip'], ['range[start]', 'range[end]'], ['cidr']],
];

/** The OpenAPI 3.1 description of these operations, made from what they take and may answer. */
export function describeApi(operations: readonly Operation[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = `${PREFIXES[operation.scope]}${operation.path}`;
    (paths[path] ??= {})[operation.method.toLowerCase()] = describeOperation(operation);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'edgeward',
      version,
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    tags: tagsOf(operations),
    paths,
    webhooks: WEBHOOKS,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token of a customer, an administrator or a worker.',
        },
      },
      headers: COUNTED_HEADERS,
      responses: Object.fromEntries(
        Object.entries(PROBLEM_ANSWERS).filter(([status]) => operations.some(({ answers }) => status in answers)),
      ),
    },
  };
}

function describeOperation(operation: Operation): Json {
  const { scope, request, answers, deprecated } = operation;
  const id = operationId(operation);
  const tag = tagOf(operation);
  const described = {
    operationId: id,
    ...textOfOperation(id),
    tags: tag === undefined ? [] : [tag],
    ...(deprecated === undefined ? {} : { deprecated: true }),
    security: scope === 'anybody' ? [] : [{ token: [] }],
    parameters: [...parametersOf('path', request.params), ...parametersOf('query', request.query)],
    ...(request.body === undefined ? {} : { requestBody: describeBody(request.body, EXAMPLES[id]?.body) }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, schema]) => [
        status,
        describeAnswer(Number(status), schema, operation, EXAMPLES[id]),
      ]),
    ),
  };
  return withFieldTexts(described, { id, scope });
}

type FieldPlace = Readonly<{ id: string; scope: string; within?: string }>;

/** The same with what each field and parameter means. Counts say already that they are exact. */
function withFieldTexts<T>(described: T, place: FieldPlace): T;
function withFieldTexts(described: unknown, place: FieldPlace): unknown {
  if (Array.isArray(described)) return described.map((member) => withFieldTexts(member, place));
  if (!isObject(described)) return described;
  const members = Object.entries(described).map(([key, member]) => {
    if (key !== 'properties' || !isObject(member)) return [key, withFieldTexts(member, place)] as const;
    const fields = Object.entries(member).map(([name, field]) => {
      const inside = withFieldTexts(field, { ...place, within: name });
      return [name, isObject(inside) ? withText(inside, fieldText(name, place)) : inside] as const;
    });
    return [key, Object.fromEntries(fields)] as const;
  });
  const { name, in: where } = described;
  const isParameter = typeof name === 'string' && typeof where === 'string' && 'schema' in described;
  const all = Object.fromEntries(members);
  return isParameter ? withText(all, fieldText(name, place)) : all;
}

function withText(field: Json, text: string | undefined): Json {
  if (text === undefined) return field;
  const { description, ...rest } = field;
  return { description: typeof description === 'string' ? `${text} ${description}` : text, ...rest };
}

/** `POST /ips/disable` → `postIpsDisable`. */
function operationId({ method, path, scope }: Operation): string {
  const words = path.split(/[^A-Za-z]+/).filter((word) => word !== '');
  const verb = method.toLowerCase();
  const first = scope === 'admin' || scope === 'worker' ? scope + capital(verb) : verb;
  return first + words.map(capital).join('');
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function parametersOf(where: 'path' | 'query', schema: z.ZodObject | undefined): readonly Json[] {
  if (schema === undefined) return [];
  return Object.entries(schema.shape).map(([name, member]) => {
    const described = jsonSchema(z.object({ [name]: member }));
    const properties = isObject(described['properties']) ? described['properties'] : {};
    const required = where === 'path' || (Array.isArray(described['required']) && described['required'].includes(name));
    return { name, in: where, required, schema: properties[name] };
  });
}

function describeBody({ contentType, schema }: NonNullable<Operation['request']['body']>, example: unknown): Json {
  const media = { schema: withForms(jsonSchema(schema)), ...(example === undefined ? {} : { example }) };
  // Without a body is as with an empty object.
  const required = contentType !== 'application/json' || !schema.safeParse({}).success;
  return { required, content: { [contentType]: media } };
}

function describeAnswer(
  status: number,
  schema: z.ZodType,
  { contentType, otherTypes = [] }: Operation,
  example: Example | undefined,
): Json {
  const description = MEANINGS[status] ?? 'See the message.';
  if (status === 204) return { description, headers: HEADERS };
  if (isProblem(status, schema)) return { $ref: `#/components/responses/${status}` };
  const described = jsonSchema(schema);
  const shown = example?.status === status && example.answer !== undefined ? { example: example.answer } : {};
  const content: Json = { [contentType ?? 'application/json']: { schema: described, ...shown } };
  const withTexts = countsAsText(described);
  if (JSON.stringify(withTexts) !== JSON.stringify(described)) content[COUNTS_AS_TEXT] = { schema: withTexts };
  if (status === 200)
    for (const type of otherTypes) content[type.split(';')[0] ?? type] = { schema: { type: 'string' } };
  return { description, headers: HEADERS, content };
}

/** What clients get that ask for `numbers=string`. */
const COUNTS_AS_TEXT = 'application/json; numbers=string';

function countsAsText(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(countsAsText);
  if (!isObject(schema)) return schema;
  if (schema['description'] === EXACT_COUNT.description)
    return { type: 'string', pattern: '^\\d+$', description: 'Exact, in decimal digits.' };
  return Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, countsAsText(member)]));
}

const MEANINGS: Readonly<Record<number, string>> = {
  200: 'As asked.',
  201: 'Made.',
  202: 'Taken on; it is done later.',
  204: 'Done; there is nothing to say.',
  400: 'The request could not be read.',
  401: 'There is no valid token.',
  403: 'The account or the token may not do this.',
  404: 'There is no such thing, or it is of another account.',
  409: 'It does not go with what is there.',
  412: 'It is not at the revision that was named.',
  413: 'The body is too large.',
  415: 'The body has a type that is not taken.',
  422: 'A field is not right; the message names it.',
  429: 'Too many requests; `Retry-After` says when to go on.',
  500: 'The service has failed.',
  503: 'A store is away; `Retry-After` says when to try again.',
};

/** The answers that are the same wherever they come. */
const PROBLEM_ANSWERS = Object.fromEntries(
  Object.entries(PROBLEMS).map(([status, schema]) => [
    status,
    {
      description: MEANINGS[Number(status)] ?? 'See the message.',
      headers: HEADERS,
      content: { 'application/json': { schema: jsonSchema(schema) } },
    },
  ]),
);

function isProblem(status: number, schema: z.ZodType): boolean {
  return Object.entries(PROBLEMS).some(([of, problem]) => of === String(status) && problem === schema);
}

/** Of a body that can have several forms, each of them as a closed object: what is generated from it has a type for each. */
function withForms(schema: Json): Json {
  const { properties } = schema;
  if (!isObject(properties)) return schema;
  const forms = FORMS.find((all) => all.flat().every((name) => name in properties));
  if (forms === undefined) return schema;
  const required = Array.isArray(schema['required'])
    ? schema['required'].filter((name) => !forms.flat().includes(name))
    : [];
  return {
    oneOf: forms.map((own) => ({
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(properties).filter(([name]) => own.includes(name) || !forms.flat().includes(name)),
      ),
      required: [...required, ...own],
      additionalProperties: false,
    })),
  };
}

function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: own }) => {
      // A part of a form is a file by what it is called in OpenAPI; which kinds are taken, the message says.
      if (zodSchema._zod.def.type === 'file') {
        for (const name of Object.keys(own)) delete own[name];
        Object.assign(own, { type: 'string', format: 'binary' });
      }
      // What JSON can hold is not what a double can.
      if (own.maximum === Number.MAX_SAFE_INTEGER) delete own.maximum;
      if (own.minimum === Number.MIN_SAFE_INTEGER) delete own.minimum;
      if (own.pattern !== undefined) own.pattern = plainPattern(own.pattern);
    },
  });
  return described;
}

/** The same without classes of characters, which few readers of patterns know; half a character no well-formed JSON has. */
function plainPattern(pattern: string): string {
  return pattern
    .replaceAll(String.raw`\p{Cc}`, String.raw`\u0000-\u001f\u007f-\u009f`)
    .replaceAll(String.raw`\p{Cs}`, '');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function webhook(event: 'commit_completed' | 'test', summary: string): Json {
  const notification = z.strictObject({
    event: z.literal(event),
    commit_set_id: z.uuid(),
    customer: z.string(),
    prefix_list_name: z.string(),
    region: z.string(),
    status: z.enum(event === 'test' ? ['success'] : ['success', 'failed']),
    completed_at: z.iso.datetime({ offset: true }),
  });
  return {
    post: {
      summary,
      description: 'Signed after Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`.',
      security: [],
      requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(notification) } } },
      responses: { '2XX': { description: 'Delivered; any other answer is tried again.' } },
    },
  };
}

const WEBHOOKS = {
  commitCompleted: webhook('commit_completed', 'A commit of one of your lists has completed'),
  test: webhook('test', 'Your administrator tries whether you can be reached; it names no commit, and is sent once'),
};
