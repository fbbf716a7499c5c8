import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { ADMIN_SCOPES } from '../../src/domain/ip-control/admin-roles.ts';
import { adminToken } from '../support/http/admin-client.ts';
import { furnishForFuzzing, type FuzzedTokens, type Known } from '../support/http/fuzzed-service.ts';
import { repositoryFile } from '../support/repository.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';

/** As `.ci/run` makes it. */
const PROGRAM = join(process.env['EDGEWARD_LAB'] ?? join(tmpdir(), 'edgeward-lab'), 'schemathesis/bin/schemathesis');
const SUPPORT = repositoryFile('test/support/http');
/** The same data in every run; `SCHEMATHESIS_SEED` for other data. */
const SEED = process.env['SCHEMATHESIS_SEED'] ?? '20261129';
/** Beside the seconds that it is given it has to start. */
const TIMEOUT_MILLISECONDS = 300_000;

type Context = {
  edgeward: Edgeward;
  url: string;
  tokens: FuzzedTokens;
  /** Who asks in turn, where there are several. */
  askers: Readonly<Record<keyof FuzzedTokens, readonly string[]>>;
  known: Known;
  receiver: Server;
};
const fuzzed = suite<Context>('schemathesis finds no fault');
const isInstalled = existsSync(PROGRAM);
if (!isInstalled) console.log(`skipped: ${PROGRAM} is not there`);

fuzzed.before(async (context) => {
  // Its requests come from as many addresses: strangers are counted by theirs.
  const edgeward = await openEdgeward({
    QUIET_PERIOD: 'PT2S',
    SCHEDULER_INTERVAL: 'PT0.2S',
    TRUST_PROXY: '127.0.0.1',
  });
  context.edgeward = edgeward;
  await addRegion(edgeward, 'eu-west');
  const subnets = [
    ['203.0.113.0/24', 'eu-west'],
    ['2001:db8::/64', 'eu-west'],
  ] as const;
  context.receiver = createServer((_asked, answer) => void answer.writeHead(204).end()).listen(0, '127.0.0.1');
  await once(context.receiver, 'listening');
  const at = context.receiver.address();
  const hook = `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}/`;
  const flags = ['--allow-synchronous', '--allow-source-whitelist', '--webhook-url', hook];
  const customer = await addCustomer(edgeward, 'Acme', subnets, flags);
  const { activation_token: activation } = z
    .object({ activation_token: z.string() })
    .parse(await edgeward.json('worker', 'register', 'w1', '--architectures', 'amd64'));
  const admin = await adminToken(edgeward, 'root', ADMIN_SCOPES);
  const others = await Promise.all(Array.from({ length: 11 }, () => adminToken(edgeward, 'root', ADMIN_SCOPES)));
  context.askers = {
    customer: [],
    worker: [],
    admin: [admin.token, ...others.map(({ token }) => token)],
  };
  context.url = await edgeward.serve();
  const activated = await request(`${context.url}/api/worker/v1/activate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${activation}` },
  });
  const { worker_token: worker } = z.object({ worker_token: z.string() }).parse(await activated.body.json());
  context.tokens = { customer: customer.token, admin: admin.token, worker };
  context.known = await furnishForFuzzing(context.url, context.tokens, customer);
});

fuzzed.after(async ({ edgeward, receiver }) => {
  await edgeward.remove();
  receiver.close();
});

// Administrators last: what they ask for changes what the others find.
const APIS = [
  ['customer', '/api/v1/', 30],
  ['worker', '/api/worker/v1/', 15],
  ['admin', '/api/admin/v1/', 55],
] as const;

for (const [who, prefix, seconds] of APIS) {
  const title = `in what a ${who} may ask, with all checks on, in ${seconds} seconds`;
  const test = async ({ edgeward, url, tokens, askers, known }: Context) => {
    const args = ['--config-file', join(SUPPORT, 'schemathesis.toml'), 'run', `${url}/openapi.json`];
    args.push('--include-path-regex', `^${prefix}`, '--checks', 'all');
    // In their place are two of ours: `accepted_or_refused_by_a_rule` knows the rules, `gone_once_deleted` what is never erased.
    args.push('--exclude-checks', 'positive_data_acceptance,use_after_free');
    args.push('--max-time', String(seconds), '--seed', SEED, '--request-timeout', '60');
    args.push('--continue-on-failure', '--no-color', '--generation-database', 'none');
    const env = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PYTHONPATH: SUPPORT,
      PYTHONDONTWRITEBYTECODE: '1',
      SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
      EDGEWARD_TOKEN: tokens[who],
      EDGEWARD_TOKENS: JSON.stringify(askers[who]),
      EDGEWARD_KNOWN: JSON.stringify(known[who]),
    };
    const options = { cwd: edgeward.folder, env, timeout: TIMEOUT_MILLISECONDS, maxBuffer: 2 ** 26 };
    const { stdout } = await promisify(execFile)(PROGRAM, args, options).catch((error: unknown) => {
      const found = z.object({ stdout: z.string(), stderr: z.string() }).parse(error);
      throw new Error(`${found.stdout}${found.stderr}`);
    });
    const generated = Number(/(\d+) generated/.exec(stdout)?.[1] ?? 0);
    assert.ok(generated > 0, `it has asked: ${stdout}`);
  };
  if (isInstalled) fuzzed(title, test);
  else fuzzed.skip(title, test);
}

fuzzed.run();
