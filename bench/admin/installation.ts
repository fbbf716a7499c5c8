// A large installation, its log written at once, with a server and people who look at its pages.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { z } from 'zod';
import { freePort, ready } from '../http/edgeward.ts';
import { writeLog } from '../replay/event-log.ts';

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;
const PASSWORD = 'correct horse battery staple';
const OWN_PAGES = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };

export type Ask = Readonly<{
  method?: 'GET' | 'POST';
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}>;

export type Answer = Readonly<{
  text: string;
  /** As it came, before it was unpacked. */
  bytes: Buffer;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Until the first byte. */
  milliseconds: number;
}>;

export type Installation = Readonly<{
  url: string;
  agent: Agent;
  /** What the server has in memory. */
  residentMebibytes: () => number;
  /** An answer that is no success is an error. */
  send: (ask: Ask) => Promise<Answer>;
  /** Logs ada in so many times; each session is a cookie. */
  sessions: (many: number) => Promise<readonly string[]>;
  close: () => Promise<void>;
}>;

/** Starts a server with so many customers, each with a /24, and one region with so many routers; nothing is due. */
export async function openInstallation(customers: number, routers: number): Promise<Installation> {
  const directory = mkdtempSync(join(tmpdir(), 'edgeward-bench-'));
  const env = {
    ...process.env,
    DATA_DIR: join(directory, 'data'),
    PORT: String(await freePort()),
    QUIET_PERIOD: 'PT1H',
    DRIFT_INTERVAL: 'PT0S',
    LOG_LEVEL: 'error',
  };
  const added = Array.from({ length: routers }, (_, at) => ({
    type: 'RouterAdded',
    data: {
      regionId: 1,
      router: `edge-${at + 1}`,
      driver: 'file',
      options: { path: join(directory, `edge-${at + 1}`) },
    },
  }));
  const shape = { customers, subnetsEach: 1, subnetLength: 24, events: 0, isListed: true } as const;
  await writeLog(env.DATA_DIR, shape, () => ({ type: 'Nothing', data: {} }), added);
  const printed = execFileSync(process.execPath, [MAIN, 'admin', 'create', 'ada', '--json'], { env, encoding: 'utf8' });
  const { password } = z.object({ password: z.string() }).parse(JSON.parse(printed));
  const child = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${env.PORT}`;
  await ready(url).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  const agent = new Agent({ connections: 256, pipelining: 1, bodyTimeout: 0 });
  const send = (ask: Ask): Promise<Answer> => sendTo(url, agent, ask);
  return {
    url,
    agent,
    residentMebibytes: () => {
      const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8'))?.[1];
      return Math.round(Number(kibibytes) / 1024);
    },
    send,
    sessions: (many) => logIn(send, password, many),
    close: async () => {
      await agent.destroy();
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function sendTo(
  origin: string,
  agent: Agent,
  { method = 'GET', path, headers = {}, body }: Ask,
): Promise<Answer> {
  const started = performance.now();
  const answer = await agent.request({
    origin,
    path,
    method,
    headers: { ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const milliseconds = performance.now() - started;
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  const text = bytes.toString();
  if (answer.statusCode >= 400)
    throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text.slice(0, 500)}`);
  return { text, bytes, headers: answer.headers, milliseconds };
}

async function logIn(send: Installation['send'], first: string, many: number): Promise<readonly string[]> {
  const enter = async (password: string): Promise<string> => {
    const body = new URLSearchParams({ name: 'ada', password }).toString();
    const { headers } = await send({ method: 'POST', path: '/admin/login', headers: OWN_PAGES, body });
    return [headers['set-cookie'] ?? []]
      .flat()
      .map((line) => line.split(';', 1)[0] ?? '')
      .join('; ');
  };
  const cookie = await enter(first);
  const body = new URLSearchParams({ password: PASSWORD, again: PASSWORD }).toString();
  await send({ method: 'POST', path: '/admin/account/password', headers: { ...OWN_PAGES, cookie }, body });
  const sessions: string[] = [];
  while (sessions.length < many) sessions.push(await enter(PASSWORD));
  return sessions;
}
