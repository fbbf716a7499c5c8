// Small commits: a thousand customers with one changed address each are due at once, in a region with one router that is a directory;
// against a bare loop that writes, syncs, renames and reads back the same files. A list that a router takes in time is never cut into
// slices, so that slices may cost such a commit nothing: the ratio is what it was before there were any.
// usage: node --import tsx bench/deploy/small-commits.bench.ts   (ROUNDS, and EDGEWARD_MAIN for another build, from the environment)
import { reportShare } from '../measure.ts';
import { deployDueCommits } from './due-commits.ts';

reportShare(
  'one small commit among a thousand; files written, synced and read back in a bare loop',
  await deployDueCommits({ customers: 1_000, routers: 1 }, 5),
  4.4,
);
