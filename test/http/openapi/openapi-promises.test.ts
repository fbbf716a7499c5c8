import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { repositoryFile } from '../../support/repository.ts';
import { type Edgeward, openEdgeward } from '../../support/servers/edgeward-server.ts';

/** What customers were promised last: the description of their API. A release puts its own in this place. */
const PROMISED = repositoryFile('test/fixtures/openapi-0.1.json');
/** As `.ci/run` makes it. */
const OASDIFF = join(process.env['EDGEWARD_LAB'] ?? join(tmpdir(), 'edgeward-lab'), 'bin/oasdiff');
const REDOCLY = repositoryFile('clients/typescript/node_modules/@redocly/cli/bin/cli.js');
const TIMEOUT_MILLISECONDS = 300_000;

type Ended = Readonly<{ code: number; out: string }>;
const document = z.looseObject({ paths: z.record(z.string(), z.unknown()) });

const promises = suite<{ edgeward: Edgeward; described: string; ofCustomers: string }>('the description of the API');

promises.before(async (context) => {
  context.edgeward = await openEdgeward();
  const answer = await request(`${await context.edgeward.serve()}/openapi.json`);
  const text = await answer.body.text();
  const whole = document.parse(JSON.parse(text));
  const paths = Object.fromEntries(Object.entries(whole.paths).filter(([path]) => path.startsWith('/api/v1/')));
  context.described = join(context.edgeward.folder, 'openapi.json');
  context.ofCustomers = join(context.edgeward.folder, 'customers.json');
  writeFileSync(context.described, text);
  writeFileSync(context.ofCustomers, JSON.stringify({ ...whole, paths }));
});

promises.after(({ edgeward }) => edgeward.remove());

/** A test that needs a program that may not be there. */
const needing = (program: string, name: string, test: Parameters<typeof promises>[1]): void => {
  if (existsSync(program)) return promises(name, test);
  console.log(`skipped: ${program} is not there`);
  promises.skip(name, test);
};

async function run(file: string, args: readonly string[]): Promise<Ended> {
  const options = { timeout: TIMEOUT_MILLISECONDS, env: { ...process.env, REDOCLY_TELEMETRY: 'off' } };
  return promisify(execFile)(file, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout + stderr }),
    (error: unknown) => {
      const ended = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() }).parse(error);
      return { code: ended.code, out: ended.stdout + ended.stderr };
    },
  );
}

const TEXTS: ReadonlySet<string> = new Set(['description', 'summary']);

const withoutText = (key: string, value: unknown): unknown =>
  typeof value === 'string' && TEXTS.has(key) ? undefined : value;

/** Of two descriptions in files, the texts aside: oasdiff takes a form of a body or answer that is described in other words for another form. */
async function breaking(folder: string, present: string): Promise<Ended> {
  const [before, after] = [PROMISED, present].map((file, at) => {
    const bare = join(folder, `bare-${at}.json`);
    writeFileSync(bare, JSON.stringify(JSON.parse(readFileSync(file, 'utf8'), withoutText)));
    return bare;
  });
  return run(OASDIFF, ['breaking', '--fail-on', 'ERR', String(before), String(after)]);
}

needing(REDOCLY, 'has no error that a linter finds', async ({ described }) => {
  const { code, out } = await run(process.execPath, [REDOCLY, 'lint', described]);
  assert.is(code, 0, out);
});

needing(OASDIFF, 'breaks no client of customers that the last release served', async ({ edgeward, ofCustomers }) => {
  const { code, out } = await breaking(edgeward.folder, ofCustomers);
  assert.is(code, 0, out);
});

needing(OASDIFF, 'would be refused if it took something away', async ({ edgeward }) => {
  const promised = readFileSync(PROMISED, 'utf8');
  const broken = join(edgeward.folder, 'broken.json');
  const planted = {
    'a path': promised.replaceAll('"/api/v1/commits"', '"/api/v1/commit-sets"'),
    'a field of an answer': promised.replaceAll('"ip_counts"', '"counts"'),
    'a value of a request': promised.replaceAll('"enable"', '"switch-on"'),
  };
  for (const [what, text] of Object.entries(planted)) {
    assert.is.not(text, promised, what);
    writeFileSync(broken, text);
    assert.is((await breaking(edgeward.folder, broken)).code, 1, what);
  }
});

promises.run();
