import type { DirectoryEvent } from '../../events/ip-control/directory.ts';
import type { RestoreReason } from '../../events/ip-control/restore.ts';
import { isRefusal } from '../../kernel/decider.ts';
import { streamName } from '../../kernel/stream-name.ts';
import { type EventStore, NO_STREAM } from '../../ports/event-store.ts';
import type { Aggregate, CommandContext } from '../../commands/aggregate.ts';
import { DIRECTORY_ID, type DirectoryCommand, type DirectoryState } from '../../commands/ip-control/directory.ts';

/** Asked of the store at the same moment. */
const ASKED_AT_ONCE = 16;

/** Records that the log was put back from an older copy; `true` where that is news. Nothing may be pushed before it has resolved. */
export async function beginRestore(
  because: RestoreReason,
  context: CommandContext,
  {
    directory,
    store,
  }: Readonly<{
    directory: Aggregate<DirectoryCommand, DirectoryState, DirectoryEvent>;
    store: Pick<EventStore, 'revision'>;
  }>,
): Promise<boolean> {
  const known = [...(await directory.state(DIRECTORY_ID)).state.customers.keys()];
  const customers: { customerId: number; revision: number }[] = [];
  for (let at = 0; at < known.length; at += ASKED_AT_ONCE) {
    await Promise.all(
      known.slice(at, at + ASKED_AT_ONCE).map(async (customerId) => {
        const revision = await store.revision(streamName('customer', customerId));
        // A name that was reserved for a customer who was never registered has no stream.
        if (revision !== NO_STREAM) customers.push({ customerId, revision: Number(revision) });
      }),
    );
  }
  customers.sort((a, b) => a.customerId - b.customerId);
  const answer = await directory.handle(DIRECTORY_ID, { type: 'BeginRestore', data: { because, customers } }, context);
  if (isRefusal(answer)) throw new Error(`the restored log could not be recorded as such: ${answer.because}`);
  return answer.events.length > 0;
}
