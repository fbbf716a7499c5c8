// A stand-in for EventStoreDB in a process of its own, so that its work is not counted as the client's.
// Prints its port, and that of a proxy before it that remembers long answers; ends with its parent.
import { startEventStoreStandIn } from '../../test/support/stores/eventstoredb-stand-in/stand-in.ts';
import { startRememberingProxy } from './remembering-proxy.ts';

const { port } = await startEventStoreStandIn();
console.log(port, await startRememberingProxy(port));
process.once('disconnect', () => process.exit(0));
