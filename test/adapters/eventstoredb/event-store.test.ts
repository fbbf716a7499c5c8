import { systemClock } from '../../../src/adapters/clock.ts';
import { openEventStoreDb } from '../../../src/adapters/eventstoredb/event-store.ts';
import { createLog } from '../../../src/adapters/log.ts';
import { eventStoreContract, type EventStoreUnderTest } from '../../contracts/event-store.ts';
import { createEventLog } from '../../support/stores/eventstoredb-stand-in/event-log.ts';
import { startEventStoreStandIn } from '../../support/stores/eventstoredb-stand-in/stand-in.ts';
import { givenEventStoreUrl, ownCategories } from '../../support/stores/given-event-store.ts';
import { stranger } from './strangers.ts';

const log = createLog({ level: 'silent' });
const clock = systemClock;

eventStoreContract('the event log in EventStoreDB', () =>
  givenEventStoreUrl === undefined ? onStandIn() : onServer(givenEventStoreUrl),
);

async function onStandIn(): Promise<EventStoreUnderTest> {
  // Beyond 2^53, so that a position that passed through a number would show.
  const server = await startEventStoreStandIn({ log: createEventLog(2n ** 53n + 1n) });
  const url = `esdb://127.0.0.1:${server.port}?tls=false`;
  return {
    open: (codec) => openEventStoreDb({ url, codec, clock, log, categories: ['customer'], streamPrefix: 'ours.' }),
    stop: () => server.stop(),
    strangersWrite: (count) => stranger(server.log, 'customer-1', count),
    doubt: { begin: () => server.log.loseQuorum(), end: () => server.log.regainQuorum() },
  };
}

async function onServer(url: string): Promise<EventStoreUnderTest> {
  const { categories, seen } = ownCategories(['customer']);
  return {
    open: async (codec) => seen(await openEventStoreDb({ url, codec, clock, log, categories })),
    stop: async () => undefined,
  };
}
