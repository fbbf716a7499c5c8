import { beginRestore } from '../application/ip-control/restore.ts';
import type { CommandContext } from '../commands/aggregate.ts';
import { DIRECTORY_ID } from '../commands/ip-control/directory.ts';
import { isRestored } from '../commands/ip-control/restore.ts';
import type { RestoreReason } from '../events/ip-control/restore.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import type { AheadOfLog } from '../projections/engine/ahead-of-log.ts';
import type { Aggregates } from './contexts.ts';

/** Whether the log is one that was put back from an older copy, as this server knows and tells it. */
export type Restoring = Readonly<{
  /** Records it; nothing may be pushed before this has resolved. */
  begin: (because: RestoreReason, context: CommandContext) => Promise<void>;
  /** The same, where views have applied what the log does not hold: they are the last to know of it, and are about to forget it. */
  whenAhead: (ahead: AheadOfLog) => Promise<void>;
  /** Where routers keep what the log does not explain; `undefined`: nowhere. */
  regions: () => Promise<readonly string[] | undefined>;
  /** The same, as an operator wants to be told again and again. */
  warn: () => Promise<void>;
  /** Each region, and whether that is so there. */
  byRegion: () => Promise<readonly Readonly<{ region: string; restored: boolean }>[]>;
}>;

export function openRestoring(
  { directory }: Pick<Aggregates, 'directory'>,
  { store, ids, log }: Readonly<{ store: Pick<EventStore, 'revision' | 'eventAt'>; ids: Ids; log: Log }>,
): Restoring {
  const begin: Restoring['begin'] = async (because, context) => {
    if (await beginRestore(because, context, { directory, store }))
      log.warn({ because, actor: context.actor }, 'the log was restored from an older copy: this is recorded');
  };
  const byRegion = async () => {
    const { state } = await directory.state(DIRECTORY_ID);
    return [...state.regions].map(([regionId, region]) => ({ region, restored: isRestored(state, regionId) }));
  };
  const regions = async () => {
    const { state } = await directory.state(DIRECTORY_ID);
    if (state.restored === undefined) return undefined;
    return (await byRegion()).filter(({ restored }) => restored).map(({ region }) => region);
  };
  return {
    begin,
    whenAhead: async (ahead) => {
      if (await lacksAnEvent(ahead, store))
        await begin('log-older-than-views', { actor: 'system:restore', requestId: ids.uuid() });
    },
    regions,
    byRegion,
    warn: async () => {
      const where = await regions();
      if (where === undefined) return;
      const advice = 'edgeward restore status lists it, edgeward restore accept ends this';
      log.warn({ regions: where }, `the log was restored: routers keep what it does not explain; ${advice}`);
    },
  };
}

/** A log that was copied into another store holds every event, if at another position. */
async function lacksAnEvent({ views }: AheadOfLog, store: Pick<EventStore, 'eventAt'>): Promise<boolean> {
  for (const { anchor } of views) {
    if (anchor === undefined) return true;
    const found = await store.eventAt(anchor.stream, anchor.revision);
    if (found?.hash !== anchor.hash) return true;
  }
  return false;
}
