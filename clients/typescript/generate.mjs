// Makes src/api.ts, the types of the customers' API, out of a server's description.
// usage: node generate.mjs URL-OF-openapi.json [FILE [PREFIX]]   (PREFIX: of the paths, /api/v1/ by default; /api/admin/v1/ is for administrators)
import { writeFileSync } from 'node:fs';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const [url, file = new URL('src/api.ts', import.meta.url), prefix = '/api/v1/'] = process.argv.slice(2);
if (url === undefined) throw new Error('usage: node generate.mjs URL-OF-openapi.json [FILE [PREFIX]]');

const answer = await fetch(url);
if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
const { info, paths, components, ...rest } = await answer.json();
const wanted = Object.fromEntries(Object.entries(paths).filter(([path]) => path.startsWith(prefix)));
const text = JSON.stringify(wanted);
const responses = Object.entries(components.responses).filter(([name]) =>
  text.includes(`#/components/responses/${name}"`),
);
// Another version of the server is no other API.
const description = {
  ...rest,
  info: { ...info, version: '' },
  paths: wanted,
  components: { ...components, responses: Object.fromEntries(responses) },
};

const nodes = await openapiTypescript(description, {
  // A field with a default need not be sent.
  defaultNonNullable: false,
  // A file is a Blob, not a text.
  transform: ({ format }) =>
    format === 'binary' ? ts.factory.createTypeReferenceNode(ts.factory.createIdentifier('Blob')) : undefined,
});
writeFileSync(file, `// Made by generate.mjs; don't edit.\n\n${astToString(nodes)}`);
