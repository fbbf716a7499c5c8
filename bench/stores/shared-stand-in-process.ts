// A stand-in for EventStoreDB in a process of its own, to which others write as many records as it is told; it answers how many were
// looked through so far. Prints its port; ends with its parent.
import { createEventLog } from '../../test/support/stores/eventstoredb-stand-in/event-log.ts';
import { startEventStoreStandIn } from '../../test/support/stores/eventstoredb-stand-in/stand-in.ts';

/** As a real server was seen to look through what others wrote. */
const SCANNED_PER_SECOND = 400_000;
const AT_ONCE = 10_000;

const log = createEventLog();
const server = await startEventStoreStandIn({ log });
server.faults.scannedPerSecond = SCANNED_PER_SECOND;
console.log(server.port);
process.once('disconnect', () => process.exit(0));
process.on('message', (records) => {
  // One record again and again: what it says is nothing to us.
  const empty = new Uint8Array();
  const record = { id: '', type: 'OrderPlaced', contentType: 'application/json', data: empty, customMetadata: empty };
  const some = Array.from({ length: AT_ONCE }, () => record);
  for (let written = 0; written < Number(records); written += AT_ONCE) log.append('customer-8f14e45f', 'any', some);
  process.send?.(server.passedOver());
});
