// Many routers: 300 customers with one changed address each are due at once, in a region with 64 routers that are directories; against a
// bare loop that writes, syncs, renames and reads back the same files. The time is that of one list on one router.
// usage: node --import tsx bench/deploy/many-routers.bench.ts   (ROUNDS, and EDGEWARD_MAIN for another build, from the environment)
import { reportShare } from '../measure.ts';
import { deployDueCommits } from './due-commits.ts';

reportShare(
  'one list on one of 64 routers; files written, synced and read back in a bare loop',
  await deployDueCommits({ customers: 300, routers: 64 }, 3),
);
