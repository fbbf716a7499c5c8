import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { freePort } from '../support/free-port.ts';
import { repositoryFile } from '../support/repository.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MILLISECONDS = 300_000;
const run = promisify(execFile);

/** A customer with a server, and a port for its receiver of webhooks. */
type Scene = Readonly<{ url: string; token: string; secret: string; port: number; list: string }>;
/** What has received webhooks; `heard`: what it wrote about those that it took. */
type Receiver = Readonly<{ heard: () => string; stop: () => void }>;

/** The examples of one language. */
type Language = Readonly<{
  name: string;
  /** Programs that it needs, each with arguments with which it ends at once. */
  tools: readonly (readonly string[])[];
  prepare?: (folder: string) => Promise<unknown>;
  disable: (folder: string) => readonly string[];
  receive: (scene: Scene, folder: string) => Receiver;
}>;

const example = (path: string): string => repositoryFile(`examples/${path}`);

const LANGUAGES: readonly Language[] = [
  {
    name: 'Python',
    tools: [['python3', '--version']],
    disable: () => ['python3', example('python/disable.py')],
    receive: (scene) => program(scene, 'python3', example('python/webhook.py'), String(scene.port)),
  },
  {
    name: 'Go',
    tools: [['go', 'version']],
    prepare: (folder) =>
      run('go', ['build', '-o', `${folder}/`, './...'], { cwd: example('go'), timeout: TIMEOUT_MILLISECONDS }),
    disable: (folder) => [join(folder, 'disable')],
    receive: (scene, folder) => program(scene, join(folder, 'webhook'), String(scene.port)),
  },
  {
    name: 'shell',
    tools: [
      ['curl', '--version'],
      ['jq', '--version'],
      ['openssl', 'version'],
    ],
    disable: () => ['sh', example('shell/disable.sh')],
    receive: (scene, folder) => cgi(scene, join(folder, 'notifications'), example('shell/webhook.sh')),
  },
];

function program({ secret }: Scene, file: string, ...args: readonly string[]): Receiver {
  const env = { ...process.env, EDGEWARD_WEBHOOK_SECRET: secret };
  const child: ChildProcess = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  return { heard: () => out, stop: () => void child.kill('SIGKILL') };
}

/** A web server that does nothing but to run one CGI program (RFC 3875). */
function cgi({ secret, port }: Scene, notifications: string, file: string): Receiver {
  const status = async (asked: IncomingMessage): Promise<number> => {
    const body = await buffer(asked);
    const headers = Object.entries(asked.headers).map(([name, value]) => [
      `HTTP_${name.toUpperCase().replaceAll('-', '_')}`,
      String(value),
    ]);
    const env = {
      PATH: process.env['PATH'],
      ...Object.fromEntries(headers),
      CONTENT_LENGTH: String(body.length),
      EDGEWARD_WEBHOOK_SECRET: secret,
      NOTIFICATIONS: notifications,
    };
    const { stdout } = spawnSync('sh', [file], { env, input: body, encoding: 'utf8' });
    return Number(/^Status: (\d{3})\r\n\r\n$/.exec(stdout)?.[1] ?? 500);
  };
  const server = createServer((asked, response) => {
    void status(asked).then((code) => response.writeHead(code).end());
  }).listen(port, '127.0.0.1');
  const heard = (): string => (existsSync(notifications) ? readFileSync(notifications, 'utf8') : '');
  return { heard, stop: () => void server.close() };
}

const examples = suite<{ edgeward: Edgeward; url: string }>('examples');

examples.before(async (context) => {
  context.edgeward = await openEdgeward({ QUIET_PERIOD: 'PT1S', SCHEDULER_INTERVAL: 'PT0.1S' });
  await addRegion(context.edgeward, 'eu-west');
  context.url = await context.edgeward.serve();
});

examples.after(({ edgeward }) => edgeward.remove());

for (const [at, language] of LANGUAGES.entries()) {
  const { name, tools } = language;
  const missing = tools.filter(([file = '', ...args]) => spawnSync(file, args).status !== 0).map(([file]) => file);
  if (missing.length > 0) console.log(`skipped: ${name}, without ${missing.join(', ')}`);
  const title = `in ${name}: an address is disabled, it is waited for, and the webhook is believed; what is forged is not`;
  const test = async ({ edgeward, url }: Readonly<{ edgeward: Edgeward; url: string }>): Promise<void> => {
    const folder = edgeward.folder;
    await language.prepare?.(folder);
    const scene = await openScene(edgeward, url, `Customer ${name}`, at);
    const receiver = language.receive(scene, folder);
    try {
      await waitUntil('the receiver answers', () => post(scene.port, '{}', {}).catch(() => undefined), 120);
      await disables(scene, language.disable(folder), at);
      await waitUntil('the webhook is believed', () => receiver.heard().endsWith('\n') || undefined, 120);
      const told = `commit_completed: ${scene.list} in eu-west: success\n`;
      assert.is(receiver.heard(), told);
      await refusesForgeries(scene);
      await waitUntil('the genuine one is believed', () => receiver.heard().includes('test:') || undefined, 120);
      assert.is(receiver.heard(), `${told}test: x in y: success\n`);
    } finally {
      receiver.stop();
    }
  };
  if (missing.length > 0) examples.skip(title, test);
  else examples(title, test);
}

async function openScene(edgeward: Edgeward, url: string, name: string, at: number): Promise<Scene> {
  const port = await freePort();
  const subnets = [`203.0.${113 + at}.0/24`, `2001:db8:${at + 1}::/64`].map((cidr) => [cidr, 'eu-west'] as const);
  const webhook = ['--webhook-url', `http://127.0.0.1:${port}/`];
  const { token } = await addCustomer(edgeward, name, subnets, webhook);
  const { webhook_secret: secret } = z
    .object({ webhook_secret: z.string() })
    .parse(await edgeward.json('customer', 'update', name, '--rotate-webhook-secret', '--immediately'));
  const list = `Svc-${name.toUpperCase().replace(' ', '-')}-BLACKHOLE`;
  return { url, token, secret, port, list };
}

async function disables({ url, token }: Scene, [file = '', ...args]: readonly string[], at: number): Promise<void> {
  const env = { ...process.env, EDGEWARD_URL: url, EDGEWARD_TOKEN: token };
  const options = { env, timeout: TIMEOUT_MILLISECONDS };
  const { stdout } = await run(file, [...args, `203.0.${113 + at}.7`], options);
  assert.is(
    stdout,
    [
      `203.0.${113 + at}.7 is disabled`,
      `203.0.${113 + at}.0/24: 1 of 256 disabled`,
      `2001:db8:${at + 1}::/64: 0 of 18446744073709551616 disabled`,
      'all routers have it',
      '',
    ].join('\n'),
  );
  const refused = await run(file, [...args, '192.0.2.1'], options).then(
    () => ({ code: 0, text: '' }),
    (error: unknown) => z.object({ code: z.number(), stdout: z.string(), stderr: z.string() }).parse(error),
  );
  assert.is.not(refused.code, 0, 'an address of another account');
  assert.match(JSON.stringify(refused), 'IP 192.0.2.1 not found in your account.');
}

/** Asks the receiver with what is forged in one way each, and last with what is right. */
async function refusesForgeries({ port, secret }: Scene): Promise<void> {
  const body = '{"event":"test","prefix_list_name":"x","region":"y","status":"success"}';
  const signed = (key: string, id: string, at: Date, text = body): Readonly<Record<string, string>> => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(key).sign(id, at, text),
  });
  const now = new Date();
  const other = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const good = signed(secret, 'msg_1', now);
  const { 'webhook-timestamp': _left, ...undated } = good;
  const forged = {
    'a body that was changed': [`${body} `, good],
    'another id': [body, { ...good, 'webhook-id': 'msg_2' }],
    'another key': [body, signed(other, 'msg_1', now)],
    'from long ago': [body, signed(secret, 'msg_1', new Date(now.getTime() - 600_000))],
    'from the future': [body, signed(secret, 'msg_1', new Date(now.getTime() + 600_000))],
    'no date': [body, undated],
    'a date that is no number': [body, { ...good, 'webhook-timestamp': 'today' }],
    'no header': [body, {}],
  } as const;
  for (const [what, [text, headers]] of Object.entries(forged)) assert.is(await post(port, text, headers), 400, what);
  const ofBoth = `${new Webhook(other).sign('msg_1', now, body)} ${good['webhook-signature']}`;
  assert.is(await post(port, body, { ...good, 'webhook-signature': ofBoth }), 204, 'a secret is being replaced');
}

async function post(port: number, body: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const answer = await request(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  await answer.body.dump();
  return answer.statusCode;
}

examples('what docs/integrators.md shows of them is what they have', () => {
  const text = readFileSync(repositoryFile('docs/integrators.md'), 'utf8');
  const shown = [...text.matchAll(/\]\(\.\.\/(examples\/[\w/.]+)\)[^\n]*\n\n```\w+\n([\s\S]*?)```\n/g)];
  assert.equal(
    shown.map(([, path]) => path),
    ['examples/python/webhook.py', 'examples/go/webhook/main.go', 'examples/shell/webhook.sh'],
  );
  for (const [, path = '', snippet = ''] of shown)
    assert.ok(readFileSync(repositoryFile(path), 'utf8').includes(snippet), `${path} has what is shown of it`);
});

examples.run();
