import { z } from 'zod';
import type { CloudInstance } from '../../../ports/clouds.ts';

/** The service's own labels, by which every server of it is found again. */
export const LABEL = {
  installation: 'edgeward/installation',
  pool: 'edgeward/pool',
  worker: 'edgeward/worker',
  run: 'edgeward/run',
} as const;

const id = z.int();

/** What is read of a server. `datacenter` is gone from the API, and `root_password` is a secret: neither is taken. */
const server = z.object({
  id,
  name: z.string(),
  status: z.string(),
  created: z.string().refine((text) => !Number.isNaN(Date.parse(text)), { error: 'is no time' }),
  labels: z.record(z.string(), z.string()),
});

export type Server = z.infer<typeof server>;

const action = z.object({
  id,
  status: z.enum(['running', 'success', 'error']),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});

export type Action = z.infer<typeof action>;

const page = z.object({ pagination: z.object({ next_page: z.int().nullable() }) }).optional();

export const serverAnswer = z.object({ server });
export const serversAnswer = z.object({ servers: z.array(server), meta: page });
export const createdAnswer = z.object({ server, action, next_actions: z.array(action).default([]) });
export const actionAnswer = z.object({ action });
export const actionsAnswer = z.object({ actions: z.array(action) });
export const networksAnswer = z.object({ networks: z.array(z.object({ id, name: z.string() })), meta: page });
export const serverTypesAnswer = z.object({ server_types: z.array(z.object({ architecture: z.string() })) });
export const imagesAnswer = z.object({ images: z.array(z.object({ id })) });
export const anyAnswer = z.unknown();

/** A server with the service's own labels; undefined for one that is not ours. It costs until it is deleted, powered off or not. */
export function instanceOf({ id: serverId, labels, status, created }: Server): CloudInstance | undefined {
  const [installation, pool, worker, run] = [LABEL.installation, LABEL.pool, LABEL.worker, LABEL.run].map(
    (label) => labels[label],
  );
  if (installation === undefined || pool === undefined || worker === undefined || run === undefined) return undefined;
  return {
    installation,
    pool,
    worker,
    run,
    data: { server_id: serverId },
    createdAt: new Date(created).toISOString().replace('Z', '+00:00'),
    state:
      status === 'deleting' ? 'ended' : status === 'initializing' || status === 'starting' ? 'starting' : 'running',
    endedAt: null,
    because: null,
  };
}
