// A process of its own that takes a lease, says which number it has, and keeps it.
// usage: node --import tsx holding-process.ts DIRECTORY NAME
import { openSqliteLeases } from '../../../src/adapters/sqlite/leases.ts';

const leases = openSqliteLeases({ directory: process.argv[2] ?? '', label: 'holder' });
const lease = await leases.acquire(process.argv[3] ?? '', new AbortController().signal);
process.stdout.write(`${lease.fence}\n`);
process.stdin.resume();
