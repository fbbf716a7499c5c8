import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { request } from 'undici';
import { z } from 'zod';
import { fullPath, OPERATIONS } from '../../support/http/stated-answers.ts';
import { openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
const url = await edgeward.serve();

test.after(() => edgeward.remove());

const media = z.record(z.string(), z.object({ schema: z.looseObject({}).optional(), example: z.unknown().optional() }));
const operation = z.object({
  operationId: z.string(),
  summary: z.string().default(''),
  description: z.string().default(''),
  tags: z.array(z.string()),
  parameters: z.array(z.object({ name: z.string(), description: z.string().optional() })),
  requestBody: z.object({ content: media }).optional(),
  responses: z.record(z.string(), z.object({ content: media.optional() })),
});
const document = z.object({
  openapi: z.literal('3.1.0'),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.object({ commitCompleted: z.unknown() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
});

async function described(): Promise<z.infer<typeof document>> {
  const answer = await request(`${url}/openapi.json`);
  return document.parse(await answer.body.json());
}

test('every operation of customers and administrators and workers is described, with every answer, and no other', async () => {
  const { paths } = await described();
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { responses }]) => `${method.toUpperCase()} ${path} ${Object.keys(responses).join()}`,
    ),
  );
  const stated = OPERATIONS.filter(({ scope }) => scope !== 'anybody').map(
    (one) => `${one.method} ${fullPath(one)} ${Object.keys(one.answers).join()}`,
  );
  assert.equal(found.toSorted(), stated.toSorted());
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  assert.is(new Set(ids).size, ids.length, 'each has an id of its own');
});

test('each schema is one of JSON Schema 2020-12, without an integer that a double has to hold', async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const { paths } = await described();
  for (const methods of Object.values(paths))
    for (const { operationId, requestBody, responses } of Object.values(methods))
      for (const content of [requestBody?.content, ...Object.values(responses).map((answer) => answer.content)])
        for (const { schema } of Object.values(content ?? {})) {
          if (schema !== undefined) ajv.compile(schema);
          assert.not.match(JSON.stringify(schema ?? {}), /int64|9007199254740991/, operationId);
        }
});

test('what exactly one of several is, is so many closed objects', async () => {
  const { paths } = await described();
  const schema = paths['/api/v1/ips/bulk']?.['post']?.requestBody?.content['application/json']?.schema;
  const { oneOf } = z
    .object({ oneOf: z.array(z.object({ required: z.array(z.string()), additionalProperties: z.literal(false) })) })
    .parse(schema);
  assert.equal(
    oneOf.map(({ required }) => required),
    [
      ['action', 'ips'],
      ['action', 'range'],
      ['action', 'cidr'],
    ],
  );
});

test('each body and each answer that is made in JSON has an example', async () => {
  const { paths } = await described();
  const without: string[] = [];
  for (const methods of Object.values(paths))
    for (const { operationId, requestBody, responses } of Object.values(methods)) {
      const { 'application/json': sent } = requestBody?.content ?? {};
      if (sent !== undefined && sent.example === undefined) without.push(`${operationId}: its body`);
      const made = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      const answers = made.flatMap(([, { content }]) => content?.['application/json'] ?? []);
      const isFile = answers.every(({ schema }) => Object.keys(schema ?? {}).length === 0);
      if (!isFile && answers.every(({ example }) => example === undefined)) without.push(`${operationId}: its answer`);
    }
  assert.equal(without, [], 'see src/http/openapi/examples');
});

test('each operation has a title and says what it does, its group too, and each field and parameter what it means', async () => {
  const { paths, tags } = await described();
  const groups = new Map(tags.map(({ name, description }) => [name, description]));
  const without: string[] = [];
  for (const methods of Object.values(paths))
    for (const { operationId, summary, description, tags: own, parameters, requestBody, responses } of Object.values(
      methods,
    )) {
      if (!/^[A-Z][^.]+$/.test(summary)) without.push(`${operationId}: a summary`);
      if (!/^[A-Z\d`][^]+\.$/.test(description)) without.push(`${operationId}: a description`);
      if (own.length !== 1 || groups.get(own[0] ?? '') === undefined) without.push(`${operationId}: a group`);
      const fields = fieldsOf([requestBody, responses]);
      for (const { name, ...field } of [...parameters, ...fields])
        if (field.description === undefined) without.push(`${operationId}: ${name}`);
    }
  assert.equal(without, [], 'see src/http/openapi/texts');
});

const properties = z.record(z.string(), z.looseObject({ description: z.string().optional() }));

/** The fields of all objects that a schema describes, or whatever holds schemas. */
function fieldsOf(schema: unknown): readonly Readonly<{ name: string; description?: string | undefined }>[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const inside = Object.entries(schema).flatMap(([key, member]) => (key === 'example' ? [] : fieldsOf(member)));
  const own = properties.safeParse('properties' in schema ? schema.properties : {});
  if (!own.success) return inside;
  return [...Object.entries(own.data).map(([name, { description }]) => ({ name, description })), ...inside];
}

test('the page loads nothing from other hosts, and its policy lets it do nothing else', async () => {
  const answer = await request(`${url}/docs`);
  const html = await answer.body.text();
  assert.match(
    String(answer.headers['content-security-policy']),
    "default-src 'none'; script-src 'self'; style-src 'self'",
  );
  const sources = [...html.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, source]) => String(source));
  assert.ok(sources.length >= 3);
  for (const source of sources) {
    assert.match(source, /^\/docs\//);
    const part = await request(`${url}${source}`, { headers: { 'accept-encoding': 'gzip' } });
    assert.is(part.statusCode, 200, source);
    const again = await request(`${url}${source}`, { headers: { 'if-none-match': String(part.headers.etag) } });
    assert.is(again.statusCode, 304, source);
    await Promise.all([part.body.dump(), again.body.dump()]);
  }
  assert.not.match(html, /<script>|style=/);
});

test.run();
