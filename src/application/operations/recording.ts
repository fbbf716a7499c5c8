import type { Aggregate } from '../../commands/aggregate.ts';
import { type Command, isRefusal } from '../../kernel/decider.ts';
import type { Event, Sealed } from '../../kernel/event.ts';
import type { Application } from '../application.ts';

/** The stream that must not have moved: of which aggregate, and at which revision. */
export type Expected = Readonly<{ of: keyof Recorded; id: string | number; revision: bigint }>;

type Recorded = Pick<
  Application,
  | 'customers'
  | 'directory'
  | 'regions'
  | 'deliveries'
  | 'administrators'
  | 'workerPools'
  | 'scopes'
  | 'assets'
  | 'workers'
  | 'workRequests'
>;

/**
 * The same application, which leaves in `recorded` what its commands record: whether anything was changed is seen from that, whatever a
 * use case is made of. A command on the stream that is `expected` is refused with `revision-differs` where that has moved, until one has recorded
 * something there.
 */
export function recordingInto<A extends Recorded>(application: A, recorded: Sealed[], expected?: Expected): A {
  const watched = <C extends Command, S, E extends Event>(
    of: keyof Recorded,
    aggregate: Aggregate<C, S, E>,
  ): Aggregate<C, S, E> => {
    let awaited = expected?.of === of ? expected : undefined;
    return {
      state: aggregate.state,
      handle: async (id, command, context, revision) => {
        const isAwaited = awaited !== undefined && String(awaited.id) === String(id);
        const standing = isAwaited ? awaited?.revision : revision;
        const answer = await aggregate.handle(id, command, context, standing);
        if (isRefusal(answer)) return answer;
        if (isAwaited && answer.events.length > 0) awaited = undefined;
        recorded.push(...answer.events);
        return answer;
      },
    };
  };
  return {
    ...application,
    customers: watched('customers', application.customers),
    directory: watched('directory', application.directory),
    regions: watched('regions', application.regions),
    deliveries: watched('deliveries', application.deliveries),
    administrators: watched('administrators', application.administrators),
    workerPools: watched('workerPools', application.workerPools),
    scopes: watched('scopes', application.scopes),
    assets: watched('assets', application.assets),
    workers: watched('workers', application.workers),
    workRequests: watched('workRequests', application.workRequests),
  };
}
