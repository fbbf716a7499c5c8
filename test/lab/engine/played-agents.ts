import { z } from 'zod';
import { epochMilliseconds } from '../../../src/domain/instants.ts';
import type { CloudInstance } from '../../../src/ports/clouds.ts';
import { type EngineServer, ServerGone } from './engine-server.ts';
import type { PlayedProviders } from './played-providers.ts';

/** The agent of one instance: it lives on whatever becomes of the server. */
type Agent = {
  readonly worker: string;
  token: string | undefined;
  isReady: boolean;
  isAsking: boolean;
  /** Its activation token is worth nothing, or its own has ended. */
  isOver: boolean;
  /** It hangs, on an instance that runs on. */
  isMute: boolean;
  work: { id: string; left: number } | undefined;
};

export type PlayedAgents = Readonly<{
  /** What they do in the next seconds: they boot, report, take work, finish it. */
  act: (server: EngineServer, at: string, seconds: number) => Promise<void>;
  /** The workers that are heard. */
  heard: () => readonly string[];
  /** How many have fallen mute. */
  muted: () => number;
}>;

const BOOT_MILLISECONDS = 90_000;

/** The agents of every instance that a provider has. Some never boot, one in a hundred and fifty hangs at some time. */
export function playAgents(providers: PlayedProviders, random: () => number): PlayedAgents {
  const agents = new Map<string, Agent>();
  let muted = 0;
  return {
    act: async (server, at, seconds) => {
      const living = providers.living();
      const runs = new Set(living.map(({ run }) => run));
      for (const run of agents.keys()) if (!runs.has(run)) agents.delete(run);
      await Promise.all(living.map((instance) => actOf(instance, server, at, seconds)));
    },
    heard: () =>
      [...agents.values()]
        .filter(({ isReady, isMute, isOver }) => isReady && !isMute && !isOver)
        .map(({ worker }) => worker),
    muted: () => muted,
  };

  async function actOf(instance: CloudInstance, server: EngineServer, at: string, seconds: number): Promise<void> {
    const { worker, run, createdAt } = instance;
    // By its run: whether an instance ever boots is its own.
    if (run.startsWith('0') || epochMilliseconds(at) - epochMilliseconds(createdAt) < BOOT_MILLISECONDS) return;
    const fresh = { worker, token: undefined, isReady: false, isAsking: false, isOver: false, isMute: false };
    const agent = agents.get(run) ?? { ...fresh, work: undefined };
    agents.set(run, agent);
    if (agent.isMute || agent.isOver) return;
    if (agent.isReady && random() < 0.00005) {
      agent.isMute = true;
      muted += 1;
      return;
    }
    try {
      await step(agent, run, server, seconds);
    } catch (error) {
      // It is told again in a while.
      if (!(error instanceof ServerGone) && !isOutage(error)) throw error;
    }
  }

  async function step(agent: Agent, run: string, server: EngineServer, seconds: number): Promise<void> {
    if (agent.token === undefined) {
      const answer = await server.activate(activationToken(providers.userDataOf(run)));
      agent.token = answer?.token;
      agent.isOver = answer === null;
    }
    const { token } = agent;
    if (token === undefined) return;
    if (!agent.isReady) {
      const answer = await server.ready(token);
      agent.isReady = answer === 'ready';
      agent.isOver = answer === 'ended';
    }
    if (!agent.isReady) return;
    if (agent.work !== undefined) {
      agent.work.left -= seconds;
      if (agent.work.left > 0) return;
      await server.finish({ token, id: agent.work.id });
      agent.work = undefined;
    }
    if (!agent.isAsking) void ask(agent, token, server);
  }

  /** It has an answer when there is work, or when time has passed. */
  async function ask(agent: Agent, token: string, server: EngineServer): Promise<void> {
    agent.isAsking = true;
    try {
      const work = await server.take(token);
      if (work !== null) agent.work = { id: work.id, left: work.seconds };
    } catch (error) {
      if (!(error instanceof ServerGone) && !isOutage(error)) throw error;
    } finally {
      agent.isAsking = false;
    }
  }
}

/** A server that answers 503: the store was away. */
function isOutage(error: unknown): boolean {
  return error instanceof Error && /StoreUnavailable|AppendInDoubt/.test(error.message);
}

const firstBoot = z.looseObject({ write_files: z.array(z.looseObject({ path: z.string(), content: z.string() })) });

/** As cloud-init leaves it for the agent. */
function activationToken(userData: string): string {
  const { write_files: files } = firstBoot.parse(JSON.parse(userData.replace('#cloud-config\n', '')));
  const file = files.find(({ path }) => path === '/etc/edgeward/activation-token');
  if (file === undefined) throw new Error('the user data have no activation token');
  return file.content.trim();
}
