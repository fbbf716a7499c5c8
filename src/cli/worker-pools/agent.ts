import { spawn } from 'node:child_process';
import { open, readFile, rename } from 'node:fs/promises';
import { arch, cpus, hostname, release, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';

/** Work as the service gives it. */
export type GivenWork = Readonly<{ id: string; scope: string; payload: unknown }>;

export type WorkEnd = Readonly<{ outcome: 'succeeded' | 'failed'; because?: string }>;

export type AgentOptions = Readonly<{
  /** Of the service, without `/api`. */
  server: string;
  /** Holds the activation token; the worker's own token is kept beside it, so that the agent may be started again. */
  tokenFile: string;
  run: (work: GivenWork) => Promise<WorkEnd>;
  /** One line for people. */
  say: (line: string) => void;
  /** Takes no more work from then on; what runs is reported before the agent ends. */
  stop: AbortSignal;
}>;

/** The token is unknown to the service, or has ended: the worker is not wanted any more. */
export class TokenEnded extends Error {
  override readonly name = 'TokenEnded';
}

const HEARTBEAT_MILLISECONDS = 20_000;
const WAIT = 'PT30S';
const ANSWER_MILLISECONDS = 60_000;
const RETRY_MILLISECONDS_MIN = 500;
const RETRY_MILLISECONDS_MAX = 30_000;
/** What is wrong with what was said, whoever is asked. */
const REFUSED_FOR_GOOD: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * Reports to the service, takes one piece of work after another, runs it and reports how it ended, until `stop` aborts. A service that is
 * away is asked again until it is back; what ran meanwhile is reported then. @throws TokenEnded
 */
export async function runAgent(options: AgentOptions): Promise<void> {
  const { say, stop, run } = options;
  const ended = new AbortController();
  const token = await workerTokenOf(options);
  await insist(options, token, '/ready', { metadata: metadata() });
  say('ready for work');
  const beating = beat(options, token, ended.signal);
  try {
    while (!stop.aborted) {
      const work = await next(options, token);
      if (work === undefined) continue;
      say(`work request ${work.id} begins`);
      const end = await run(work);
      say(`work request ${work.id} ${end.outcome}${end.because === undefined ? '' : `: ${end.because}`}`);
      await insist(options, token, '/finish', { id: work.id, ...end });
    }
  } finally {
    ended.abort();
    await beating;
  }
}

const INSTALLED_EXEC = '/etc/edgeward/run-task';

/**
 * The agent of an instance, as first boot has installed it: the folder holds `worker.json` and the activation token. Ends when it is told to
 * (SIGTERM), or when the service knows the worker no more. @public imported by what first boot writes
 */
export async function runInstalledAgent(folder: string): Promise<void> {
  const settings: unknown = JSON.parse(await readFile(`${folder}/worker.json`, 'utf8'));
  if (typeof settings !== 'object' || settings === null || !('server_url' in settings)) {
    throw new Error(`${folder}/worker.json does not say server_url`);
  }
  const exec = 'exec' in settings && typeof settings.exec === 'string' ? settings.exec : INSTALLED_EXEC;
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
  const tokenFile = `${folder}/activation-token`;
  const server = String(settings.server_url);
  try {
    await runAgent({ server, tokenFile, run: commandRunner(exec), say: sayOnStandardOutput, stop: stop.signal });
  } catch (error) {
    // Started again, it would not be known either.
    if (!(error instanceof TokenEnded)) throw error;
    sayOnStandardOutput(error.message);
  }
}

function sayOnStandardOutput(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs a command for each piece of work: its payload as JSON on standard input, its end by exit status. */
export function commandRunner(command: string): AgentOptions['run'] {
  return ({ id, scope, payload }) =>
    new Promise((resolve) => {
      const env = { ...process.env, EDGEWARD_WORK_REQUEST: id, EDGEWARD_SCOPE: scope };
      const child = spawn('/bin/sh', ['-c', command], { env, stdio: ['pipe', 'inherit', 'inherit'] });
      child.once('error', (error) =>
        resolve({ outcome: 'failed', because: `it could not be started: ${error.message}` }),
      );
      child.once('exit', (code, signal) => {
        if (code === 0) resolve({ outcome: 'succeeded' });
        else
          resolve({
            outcome: 'failed',
            because: code === null ? `ended by ${signal ?? 'a signal'}` : `exit status ${code}`,
          });
      });
      // A command that reads nothing is none the worse for it.
      child.stdin.on('error', () => undefined);
      child.stdin.end(JSON.stringify(payload));
    });
}

/** The worker's token: kept from before, or the activation token exchanged for one, once. */
async function workerTokenOf(options: AgentOptions): Promise<string> {
  const keptFile = `${options.tokenFile}.worker`;
  const kept = await readFile(keptFile, 'utf8').catch(() => undefined);
  if (kept !== undefined) return kept.trim();
  const activation = (await readFile(options.tokenFile, 'utf8')).trim();
  const answer = await insist(options, activation, '/activate', undefined);
  const token: unknown =
    typeof answer === 'object' && answer !== null && 'worker_token' in answer ? answer.worker_token : undefined;
  if (typeof token !== 'string') throw new Error('the service gave no worker token');
  await keep(keptFile, `${token}\n`);
  return token;
}

/** A crash or a power cut in the middle must leave no half of a token: the activation token is worth nothing any more. */
async function keep(file: string, text: string): Promise<void> {
  const draft = await open(`${file}.new`, 'w', 0o600);
  try {
    await draft.writeFile(text);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(`${file}.new`, file);
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function beat(options: AgentOptions, token: string, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await rest(HEARTBEAT_MILLISECONDS, undefined, { signal: ended }).catch(() => undefined);
    // One that does not get through is followed by the next.
    if (!ended.aborted) await call(options, token, '/heartbeat', undefined, ended).catch(() => undefined);
  }
}

async function next(options: AgentOptions, token: string): Promise<GivenWork | undefined> {
  const { stop, say } = options;
  for (let delay = RETRY_MILLISECONDS_MIN; !stop.aborted; delay = Math.min(delay * 2, RETRY_MILLISECONDS_MAX)) {
    try {
      const answer = await call(options, token, `/take?wait=${WAIT}`, undefined, stop);
      if (answer.status === 401) throw new TokenEnded('the service knows this worker no more');
      if (answer.status === 204) return undefined;
      if (answer.status === 200) return givenWork(await answer.json());
      say(`no work could be taken: HTTP ${answer.status}`);
    } catch (error) {
      if (error instanceof TokenEnded) throw error;
      if (stop.aborted) return undefined;
      say(`the service can not be reached (${reasonOf(error)}); trying again`);
    }
    await rest(delay, undefined, { signal: stop }).catch(() => undefined);
  }
  return undefined;
}

/** Says something until it was heard, whatever is in the way. Gives the answer's body. @throws TokenEnded */
async function insist(options: AgentOptions, token: string, path: string, body: unknown): Promise<unknown> {
  for (let delay = RETRY_MILLISECONDS_MIN; ; delay = Math.min(delay * 2, RETRY_MILLISECONDS_MAX)) {
    try {
      const answer = await call(options, token, path, body, new AbortController().signal);
      if (answer.status === 401) throw new TokenEnded('the service knows this worker no more');
      if (answer.status === 200) return await answer.json();
      if (answer.status === 204) return undefined;
      // What it says of work that is not this worker's any more is no news for it.
      if (path === '/finish' && (answer.status === 404 || answer.status === 409)) return undefined;
      // Said again it would be refused again, and no other work would be taken.
      if (path === '/finish' && REFUSED_FOR_GOOD.has(answer.status)) {
        options.say(`how the work ended was refused with HTTP ${answer.status}; it is not reported`);
        return undefined;
      }
      options.say(`${path} was answered with HTTP ${answer.status}; trying again`);
    } catch (error) {
      if (error instanceof TokenEnded) throw error;
      options.say(`the service can not be reached (${reasonOf(error)}); trying again`);
    }
    if (options.stop.aborted && path !== '/finish') return undefined;
    await rest(delay);
  }
}

async function call(
  { server }: AgentOptions,
  token: string,
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(`${server}/api/worker/v1${path}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MILLISECONDS)]),
  });
}

function givenWork(answer: unknown): GivenWork {
  if (typeof answer === 'object' && answer !== null && 'id' in answer && 'scope' in answer && 'payload' in answer) {
    return { id: String(answer.id), scope: String(answer.scope), payload: answer.payload };
  }
  throw new Error('the service gave something that is no work request');
}

function metadata(): Readonly<Record<string, string | number>> {
  return { hostname: hostname(), cpus: cpus().length, memory_bytes: totalmem(), machine: arch(), kernel: release() };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
