import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { z } from 'zod';
import { testProgram } from '../../support/repository.ts';
import { killed } from '../../support/servers/bound-process.ts';
import { openCalls } from './calls.ts';
import * as messages from './messages.ts';

/** What was asked of a server that was killed meanwhile. */
export class ServerGone extends Error {
  override readonly name = 'ServerGone';
}

/** A server in a process of its own. Every call rejects with `ServerGone` once it was killed. */
export type EngineServer = Readonly<{
  found: (pools: messages.PoolsCall) => Promise<void>;
  edit: (given: z.infer<typeof messages.editCall>) => Promise<void>;
  submit: (given: z.infer<typeof messages.submitCall>) => Promise<void>;
  activate: (token: string) => Promise<z.infer<typeof messages.activated>>;
  ready: (token: string) => Promise<z.infer<typeof messages.readied>>;
  take: (token: string) => Promise<z.infer<typeof messages.taken>>;
  finish: (given: z.infer<typeof messages.finishCall>) => Promise<void>;
  pass: (given: z.infer<typeof messages.passCall>) => Promise<z.infer<typeof messages.passed>>;
  accounts: () => Promise<z.infer<typeof messages.accounted>>;
  /** Ends it as an operator does. */
  stop: () => Promise<void>;
  /** SIGKILL, whatever it does. */
  kill: () => Promise<void>;
}>;

/** A process that is loaded and has opened nothing yet. */
export type LoadedServer = Readonly<{
  start: (given: z.infer<typeof messages.startCall>) => Promise<EngineServer>;
  kill: () => Promise<void>;
}>;

const PROGRAM = testProgram('test/lab/engine/engine-process');

/** Starts a process for the next server. `askProvider` answers its calls. */
export function loadServer(askProvider: (call: unknown) => Promise<unknown>): LoadedServer {
  const child = spawn(process.execPath, PROGRAM, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Who interrupts the run from a terminal does not interrupt its servers.
    detached: true,
  });
  const calls = openCalls(
    // What is sent to one that was just killed is lost.
    (message) => void (child.connected && child.send(message, () => undefined)),
    async (_name, call) => askProvider(call),
  );
  const loaded = once(child, 'message').then(() => void child.on('message', calls.hear));
  child.once('exit', (code, signal) => calls.end(new ServerGone(`the server has ended: ${code ?? signal}`)));
  const kill = (): Promise<void> => killed(child);
  return {
    start: async (given) => {
      await Promise.race([loaded, endedEarly(child)]);
      await calls.ask('start', given);
      return serverOf(calls.ask, kill, child);
    },
    kill,
  };
}

async function endedEarly(child: ChildProcess): Promise<never> {
  await once(child, 'exit');
  throw new ServerGone('the server has ended before it began');
}

function serverOf(
  ask: (name: string, given: unknown) => Promise<unknown>,
  kill: () => Promise<void>,
  child: ChildProcess,
): EngineServer {
  return {
    found: async (given) => void (await ask('found', given)),
    edit: async (given) => void (await ask('edit', given)),
    submit: async (given) => void (await ask('submit', given)),
    activate: async (token) => messages.activated.parse(await ask('activate', { token })),
    ready: async (token) => messages.readied.parse(await ask('ready', { token })),
    take: async (token) => messages.taken.parse(await ask('take', { token })),
    finish: async (given) => void (await ask('finish', given)),
    pass: async (given) => messages.passed.parse(await ask('pass', given)),
    accounts: async () => messages.accounted.parse(await ask('accounts', null)),
    stop: async () => {
      await ask('stop', null);
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
    kill,
  };
}
