// A stand-in for EventStoreDB in a process of its own, so that its work is not counted as the client's.
// Prints its port; ends with its parent.
import { startEventStoreStandIn } from '../../test/support/stores/eventstoredb-stand-in/stand-in.ts';

const { port } = await startEventStoreStandIn();
console.log(port);
process.once('disconnect', () => process.exit(0));
