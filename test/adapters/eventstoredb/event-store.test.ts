import { systemClock } from '../../../src/adapters/clock.ts';
import { openEventStoreDb } from '../../../src/adapters/eventstoredb/event-store.ts';
import { createLog } from '../../../src/adapters/log.ts';
import { createEventLog } from '../../support/eventstoredb-stand-in/event-log.ts';
import { startEventStoreStandIn } from '../../support/eventstoredb-stand-in/stand-in.ts';
import { eventStoreContract } from '../../contracts/event-store.ts';

const log = createLog({ level: 'silent' });
const categories = ['customer'];

eventStoreContract('the event log in EventStoreDB', async () => {
  // Beyond 2^53, so that a position that passed through a number would show.
  const server = await startEventStoreStandIn({ log: createEventLog(2n ** 53n + 1n) });
  const url = `esdb://127.0.0.1:${server.port}?tls=false`;
  return {
    open: (codec) => openEventStoreDb({ url, codec, clock: systemClock, log, categories }),
    stop: () => server.stop(),
  };
});
