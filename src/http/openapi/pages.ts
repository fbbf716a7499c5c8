import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { gzipSync } from 'node:zlib';
import { takesGzip } from '../problems.ts';
import { type Operation, problemAnswers, type Route } from '../route.ts';
import { describeApi } from './description.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const STYLE_TYPE = 'text/css; charset=utf-8';
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>edgeward API</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css"></head>
<body><nav class="swagger-ui"><div class="wrapper" id="apis"></div></nav><main id="api"></main><script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/page.js"></script></body>
</html>
`;
/** One API at a time: to show all of them takes several times as long, and few need more than one. */
const SCRIPT = `const apis = { customers: '/api/v1/', administration: '/api/admin/v1/', workers: '/api/worker/v1/' };
const asked = new URLSearchParams(location.search).get('api');
const api = asked !== null && Object.hasOwn(apis, asked) ? asked : 'customers';

async function show() {
  const answer = await fetch('/openapi.json');
  if (!answer.ok) throw new Error((await answer.json()).message);
  const whole = await answer.json();
  const pathsOf = (name) => Object.entries(whole.paths).filter(([path]) => path.startsWith(apis[name]));
  for (const name of Object.keys(apis).filter((each) => pathsOf(each).length > 0)) {
    const link = Object.assign(document.createElement('a'), { href: '/docs?api=' + name, textContent: 'For ' + name });
    if (name === api) link.setAttribute('aria-current', 'page');
    document.getElementById('apis').append(link, ' ');
  }
  const shown = pathsOf(api);
  const groups = new Set(shown.flatMap(([, methods]) => Object.values(methods).flatMap(({ tags }) => tags)));
  const spec = { ...whole, paths: Object.fromEntries(shown), tags: whole.tags.filter(({ name }) => groups.has(name)) };
  if (api !== 'customers') delete spec.webhooks;
  SwaggerUIBundle({ spec, dom_id: '#api', deepLinking: true, tryItOutEnabled: true, persistAuthorization: false, validatorUrl: null });
}

show().catch((error) => {
  document.getElementById('api').textContent = 'The description could not be read: ' + error.message;
});
`;

function operationOf(path: string, otherType?: string) {
  return {
    method: 'GET',
    path,
    scope: 'anybody',
    request: {},
    answers: { 200: z.unknown(), ...problemAnswers(429) },
    ...(otherType === undefined ? {} : { contentType: otherType.split(';')[0] ?? otherType, otherTypes: [otherType] }),
  } as const satisfies Operation;
}

const description = operationOf('/openapi.json');
const page = operationOf('/docs', HTML_TYPE);
const script = operationOf('/docs/page.js', SCRIPT_TYPE);
const bundle = operationOf('/docs/swagger-ui-bundle.js', SCRIPT_TYPE);
const style = operationOf('/docs/swagger-ui.css', STYLE_TYPE);

/** What describes the API, to programs and to people. @public what describes the API is made from it */
export const DESCRIPTION_OPERATIONS: readonly Operation[] = [description, page, script, bundle, style];

/** The description of these operations, and a page that shows it, without any other host; `limit` counts requests, as of strangers. */
export function descriptionRoutes(operations: readonly Operation[], limit: RequestHandler): readonly Route[] {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')));
  const described = (): Buffer => Buffer.from(JSON.stringify(describeApi(operations, version)));
  return [
    { ...description, handle: [limit, sending(JSON_TYPE, described)] },
    { ...page, handle: [limit, sending(HTML_TYPE, () => Buffer.from(PAGE))] },
    { ...script, handle: [limit, sending(SCRIPT_TYPE, () => Buffer.from(SCRIPT))] },
    { ...bundle, handle: [limit, sending(SCRIPT_TYPE, () => ofPackage('swagger-ui-bundle.js'))] },
    { ...style, handle: [limit, sending(STYLE_TYPE, () => ofPackage('swagger-ui.css'))] },
  ];
}

function ofPackage(name: string): Buffer {
  return readFileSync(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
}

/** Made when it is asked for first, and kept: whole, and packed. */
function sending(type: string, make: () => Buffer): RequestHandler {
  let made: Readonly<{ plain: Buffer; packed: Buffer; etag: string }> | undefined;
  return (request, response) => {
    if (made === undefined) {
      const plain = make();
      const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
      made = { plain, packed: gzipSync(plain), etag };
    }
    response.setHeader('Content-Type', type);
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('ETag', made.etag);
    response.setHeader('Content-Security-Policy', POLICY);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (request.headers['if-none-match'] === made.etag) {
      response.statusCode = 304;
      response.end();
      return;
    }
    const isPacked = takesGzip(response, made.plain.length);
    const bytes = isPacked ? made.packed : made.plain;
    if (isPacked) response.setHeader('Content-Encoding', 'gzip');
    response.setHeader('Content-Length', bytes.length);
    response.end(bytes);
  };
}
