import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';
import type { RouterCheckResult } from '../../events/ip-control/router-upkeep.ts';
import type { Projection } from '../../kernel/projection.ts';

/** What an administrator has asked for that may take a while. Key: `asked/` and the correlation id of the command. */
export type AskedOperation = Readonly<
  { requestedAt: string; by: string; regionId: number } & (
    | { kind: 'check' | 'prune'; router: string; checkId: string }
    | { kind: 'enable'; router: string }
    /** `result`: null as long as it goes on. */
    | {
        kind: 'drain';
        router: string;
        result: Readonly<{ removed: readonly string[]; problems: readonly string[] }> | null;
      }
    | { kind: 'commit'; commitSetId: string }
  )
>;

/** How a check that was asked for has ended. Key: `check/` and its id. */
export type EndedCheck = Readonly<{ kind: 'checked'; endedAt: string; result: RouterCheckResult }>;

export type OperationView = AskedOperation | EndedCheck;

type Shown =
  | Extract<
      RegionEvent,
      { type: 'RouterCheckRequested' | 'RouterChecked' | 'RouterEnabled' | 'RouterDrainRequested' | 'RouterDrained' }
    >
  | Extract<CustomerEvent, { type: 'CommitRequested' }>;

export const operationProjection: Projection<Shown, OperationView> = {
  name: 'operations',
  version: 2,
  handles: [
    'RouterCheckRequested',
    'RouterChecked',
    'RouterEnabled',
    'RouterDrainRequested',
    'RouterDrained',
    'CommitRequested',
  ],
  keysOf: (event) => {
    if (event.type === 'RouterChecked') return [`check/${event.data.checkId}`];
    if (event.type === 'CommitRequested' && event.data.reason !== 'operator') return [];
    return [`asked/${event.metadata.$correlationId}`];
  },
  evolve: (view, event) => {
    const { at, actor: by } = event.metadata;
    const { regionId } = event.data;
    switch (event.type) {
      case 'RouterChecked': {
        const { regionId: _region, router: _router, checkId: _check, ...result } = event.data;
        return { kind: 'checked', endedAt: at, result };
      }
      case 'RouterCheckRequested': {
        const { router, checkId, prune } = event.data;
        return { kind: prune ? 'prune' : 'check', router, checkId, regionId, requestedAt: at, by };
      }
      case 'RouterEnabled':
        return { kind: 'enable', router: event.data.router, regionId, requestedAt: at, by };
      case 'RouterDrainRequested':
        return { kind: 'drain', router: event.data.router, regionId, requestedAt: at, by, result: null };
      case 'RouterDrained': {
        const { router, removed, problems } = event.data;
        // Those that were drained before there were requests have their end alone.
        const asked = view?.kind === 'drain' ? view : { requestedAt: at, by };
        return { ...asked, kind: 'drain', router, regionId, result: { removed, problems } };
      }
      case 'CommitRequested':
        return { kind: 'commit', commitSetId: event.data.commitSetId, regionId, requestedAt: at, by };
    }
  },
};
