import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { ListContent, ListKind, RouterOutcome } from '../../events/ip-control/vocabulary.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** One commit set, from its first request to its last outcome. Key: its UUID. */
export type CommitView = Readonly<{
  commitSetId: string;
  customerId: number;
  regionId: number;
  list: ListKind;
  status: 'deploying' | 'success' | 'failed';
  attempt: number;
  reason: 'quiet' | 'retry' | 'synchronous' | 'operator';
  /** Of its first request in the log: which of two commits is the newer one, whatever clocks say. */
  position: number;
  requestedAt: string;
  /** Who asked for it: of several attempts, the newest. */
  requestedBy: string;
  completedAt: string | null;
  content: ListContent | null;
  outcomes: readonly RouterOutcome[];
  /** While it is deployed in slices: how many of its blocks are on every router. */
  progress: Readonly<{ done: number; total: number }> | null;
  /** While all others have given their outcome: the routers that have not answered. */
  waitsFor: readonly string[];
}>;

type Shown = Extract<
  CustomerEvent,
  { type: 'CommitRequested' | 'CommitCompleted' | 'CommitFailed' | 'CommitSliceDeployed' | 'CommitHeldUp' }
>;

export const commitProjection: Projection<Shown, CommitView> = {
  name: 'commits',
  version: 4,
  handles: ['CommitRequested', 'CommitCompleted', 'CommitFailed', 'CommitSliceDeployed', 'CommitHeldUp'],
  keysOf: (event) => [event.data.commitSetId],
  evolve: (view, event) => {
    const { commitSetId, regionId, list, attempt } = event.data;
    if (event.type === 'CommitRequested') {
      return {
        commitSetId,
        customerId: Number(streamId(event.stream)),
        regionId,
        list,
        status: 'deploying',
        attempt,
        reason: event.data.reason,
        position: view?.position ?? Number(event.position),
        requestedAt: view?.requestedAt ?? event.metadata.at,
        requestedBy: event.metadata.actor,
        completedAt: null,
        content: view?.content ?? null,
        outcomes: view?.outcomes ?? [],
        progress: view?.status === 'deploying' ? view.progress : null,
        waitsFor: [],
      };
    }
    if (view === undefined) return undefined;
    if (event.type === 'CommitSliceDeployed') {
      const { done, total } = event.data;
      return { ...view, progress: { done, total } };
    }
    if (event.type === 'CommitHeldUp') return { ...view, waitsFor: event.data.routers };
    const { outcomes, content, completedAt } = event.data;
    return {
      ...view,
      status: event.type === 'CommitCompleted' ? 'success' : 'failed',
      attempt,
      outcomes,
      content,
      completedAt,
      progress: null,
      waitsFor: [],
    };
  },
};
