import type { WorkerPoolEvent } from '../../events/worker-pools/worker-pool.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { WorkerView } from '../../projections/worker-pools/worker-view.ts';
import type { Application } from '../application.ts';

/** How the workers of an architecture stand, and how much work waits for them. */
export type ArchitectureRow = Readonly<{
  architecture: string;
  connected: number;
  busy: number;
  idle: number;
  waiting: number;
}>;

type OverviewDependencies = Readonly<{ views: Pick<Application['views'], 'workers' | 'openWork'> }>;

/** Workers and waiting work by architecture. A worker of several architectures counts for each of them. */
export async function architectureRows({ views }: OverviewDependencies): Promise<readonly ArchitectureRow[]> {
  const [workers, work] = await Promise.all([views.workers.list(), views.openWork.list()]);
  const rows = new Map<string, ArchitectureRow>();
  const add = (architecture: string, more: Partial<Omit<ArchitectureRow, 'architecture'>>): void => {
    const before = rows.get(architecture) ?? { architecture, connected: 0, busy: 0, idle: 0, waiting: 0 };
    rows.set(architecture, {
      architecture,
      connected: before.connected + (more.connected ?? 0),
      busy: before.busy + (more.busy ?? 0),
      idle: before.idle + (more.idle ?? 0),
      waiting: before.waiting + (more.waiting ?? 0),
    });
  };
  for (const { view } of workers) {
    if (!isConnected(view)) continue;
    for (const architecture of view.architectures)
      add(architecture, { connected: 1, ...(view.task === null ? { idle: 1 } : { busy: 1 }) });
  }
  for (const { view } of work) if (view.isWaiting) add(view.architecture, { waiting: 1 });
  return [...rows.values()].sort((a, b) => (a.architecture < b.architecture ? -1 : 1));
}

function isConnected({ phase, silentSince }: WorkerView): boolean {
  return phase === 'ready' && silentSince === null;
}

/** What was decided about a pool's instances, and why. */
export type PoolDecision = RecordedEvent<Extract<WorkerPoolEvent, { type: 'WorkerPoolScalingDecided' }>>;

/** The newest decisions are looked for among so many events of the pool. */
const LOOKED_THROUGH = 500n;

/** The newest decisions about a pool, the newest first, at most `limit`. */
export async function poolDecisions(
  pool: string,
  limit: number,
  { store }: Readonly<{ store: Pick<EventStore, 'read' | 'revision'> }>,
): Promise<readonly PoolDecision[]> {
  const stream = streamName('workerPool', pool);
  const end = await store.revision(stream);
  const decisions: PoolDecision[] = [];
  for await (const page of store.read(stream, end < LOOKED_THROUGH ? undefined : end - LOOKED_THROUGH))
    decisions.push(...page.filter(isDecision));
  return decisions.slice(-limit).toReversed();
}

function isDecision(event: RecordedEvent): event is PoolDecision {
  return event.type === 'WorkerPoolScalingDecided';
}
