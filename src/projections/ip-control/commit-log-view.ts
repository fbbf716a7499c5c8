import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';
import { newestFirst } from '../engine/newest-first.ts';

/**
 * A commit set, where a reader looks for the newest. Keys: `all/…`, `customer/<number>/…`, `region/<number>/…`, each with the place of
 * its first request in the log (`newestFirst`).
 */
export type CommitLogView = Readonly<{ commitSetId: string }>;

type Shown = Extract<CustomerEvent, { type: 'CommitRequested' }>;

export const commitLogProjection: Projection<Shown, CommitLogView> = {
  name: 'commit-log',
  version: 1,
  handles: ['CommitRequested'],
  keysOf: ({ stream, position, data }) => {
    if (data.attempt > 1) return [];
    const place = newestFirst(position);
    return [`all/${place}`, `customer/${streamId(stream)}/${place}`, `region/${data.regionId}/${place}`];
  },
  evolve: (view, { data: { commitSetId } }) => view ?? { commitSetId },
};
