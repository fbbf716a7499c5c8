import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { freePort } from '../support/free-port.ts';
import { repositoryFile } from '../support/repository.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';

const CLIENT = repositoryFile('clients/typescript');
const TYPES = join(CLIENT, 'src/api.ts');
const MODULES = join(CLIENT, 'node_modules');
const TIMEOUT_MILLISECONDS = 300_000;
const run = promisify(execFile);
const node = async (...args: readonly string[]): Promise<string> =>
  (await run(process.execPath, args, { cwd: CLIENT, timeout: TIMEOUT_MILLISECONDS })).stdout;

type Context = { edgeward: Edgeward; url: string; env: NodeJS.ProcessEnv; port: number };
const client = suite<Context>('the client in TypeScript');
const isInstalled = existsSync(MODULES);
if (!isInstalled) console.log(`skipped: npm ci --prefix clients/typescript has not run`);
const tried = (name: string, test: Parameters<typeof client>[1]): void =>
  isInstalled ? client(name, test) : client.skip(name, test);

client.before(async (context) => {
  const edgeward = await openEdgeward({ QUIET_PERIOD: 'PT1S', SCHEDULER_INTERVAL: 'PT0.1S' });
  context.edgeward = edgeward;
  await addRegion(edgeward, 'eu-west');
  context.port = await freePort();
  const { token } = await addCustomer(
    edgeward,
    'Acme',
    [
      ['203.0.113.0/24', 'eu-west'],
      ['2001:db8::/64', 'eu-west'],
    ],
    ['--allow-source-whitelist', '--webhook-url', `http://127.0.0.1:${context.port}/`],
  );
  const { webhook_secret: secret } = z
    .object({ webhook_secret: z.string() })
    .parse(await edgeward.json('customer', 'update', 'Acme', '--rotate-webhook-secret', '--immediately'));
  context.url = await edgeward.serve();
  context.env = {
    ...process.env,
    EDGEWARD_URL: context.url,
    EDGEWARD_TOKEN: token,
    EDGEWARD_WEBHOOK_SECRET: secret,
  };
});

client.after(({ edgeward }) => edgeward.remove());

tried('its types are those that the description gives', async ({ url, edgeward }) => {
  const made = join(edgeward.folder, 'api.ts');
  await node('generate.mjs', `${url}/openapi.json`, made);
  const text = readFileSync(made, 'utf8');
  if (process.env['WRITE_TYPES'] === 'true') writeFileSync(TYPES, text);
  // All that differs would be pages long.
  assert.ok(
    readFileSync(TYPES, 'utf8') === text,
    'src/api.ts is made of another description: WRITE_TYPES=true npm test -- clients/typescript',
  );
});

tried(
  'it compiles, with what its types have to refuse, and its examples do what they say on a real server',
  async ({ env, port, edgeward }) => {
    await node(join(MODULES, 'typescript/bin/tsc'), '-p', '.');
    const example = async (name: string, ...args: readonly string[]): Promise<string> => {
      const options = { cwd: CLIENT, env, timeout: TIMEOUT_MILLISECONDS };
      return (await run(process.execPath, [`dist/example/${name}.js`, ...args], options)).stdout;
    };
    const lines = (await example('disable', '203.0.113.7', String(port))).trimEnd().split('\n');
    assert.equal(lines.toSorted(), [
      '2001:db8::/64: 0 of 18446744073709551616 disabled',
      '203.0.113.0/24: 1 of 256 disabled',
      '203.0.113.7 is disabled on all routers',
      'told: Svc-ACME-BLACKHOLE in eu-west: success',
    ]);
    const evidence = join(edgeward.folder, 'evidence.pdf');
    writeFileSync(evidence, '%PDF-1.4\n');
    assert.match(
      await example('whitelist', '11.22.33.44', 'eu-west', evidence),
      /^[0-9a-f-]{36}: 11\.22\.33\.44 pending_review\n$/,
    );
  },
);

tried(
  'what a proxy answers in the place of the server is an error with a message, and is not asked for without rest',
  async () => {
    await node(join(MODULES, 'typescript/bin/tsc'), '-p', '.');
    assert.equal((await node('dist/test/between.js')).trimEnd().split('\n'), [
      'no data: HTTP 502 Bad Gateway',
      'waiting: 502 HTTP 502 Bad Gateway',
      'no data: HTTP 502 Bad Gateway',
      'waiting: 502 HTTP 502 Bad Gateway',
      'no data: not found.',
      'waiting: 404 not found.',
      'TimeoutError, asked 1 time',
    ]);
  },
);

client.run();
