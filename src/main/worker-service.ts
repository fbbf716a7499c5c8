import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openWorkDispatcher } from '../application/worker-pools/work-dispatcher.ts';
import { DIRECTORY_ID } from '../commands/ip-control/directory.ts';
import type { WorkerApiDependencies } from '../http/worker/worker-api.ts';
import { BoundedMap } from '../kernel/bounded-map.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import { openSavedPositions } from '../projections/engine/saved-positions.ts';
import type { Aggregates, OpenedViews } from './contexts.ts';
import type { Reached, ServerTools } from './process-wiring.ts';
import type { Stores } from './stores.ts';
import { viewsShow } from './views-show.ts';

/** What serves workers, on every server, and what of it the leader's engine goes by. */
export type WorkerService = Readonly<{
  workerApi: WorkerApiDependencies;
  /** Follows the work that waits until `signal` aborts. @throws StoreUnavailable */
  run: (signal: AbortSignal) => Promise<void>;
  forEngine: Pick<ServerTools, 'views' | 'isLogWhole' | 'lastHeard' | 'areShared'>;
}>;

const WORKERS_MAX = 100_000;
/** As the build has compiled it: beside this file, or, where the sources themselves are run, in what was built of them. */
const AGENT_PLACES = ['../cli/worker-pools/agent.js', '../../dist/cli/worker-pools/agent.js'];

/** Opens it; `reached` tells when all views that are read show a position. When workers were heard of is no event: of hundreds of them each says every few seconds that it is there. */
export function openWorkerService(
  aggregates: Aggregates,
  views: OpenedViews,
  { store, readModels, areShared }: Pick<Stores, 'store' | 'readModels' | 'areShared'>,
  { clock, ids, log, reached }: Readonly<{ clock: Clock; ids: Ids; log: Log; reached: Reached }>,
): WorkerService {
  // A leader of an older version saves no views that have a new form: work is given all the same where it needs none of these.
  const needed = [views.openWork, views.workerPools, views.scopes];
  const reachedByNeeded = areShared ? openSavedPositions(needed, { readModels, store, clock }).reached : reached;
  const catchUp = (): Promise<void> => viewsShow({ store }, reachedByNeeded);
  const dispatcher = openWorkDispatcher({ ...aggregates, store, clock, log, views, catchUp });
  const heardAt = new BoundedMap<string, number>(WORKERS_MAX);
  const heard = (worker: string): void => heardAt.set(worker, clock.monotonicMilliseconds());
  return {
    workerApi: { ...aggregates, clock, ids, dispatcher, heard, agentProgram },
    run: dispatcher.run,
    forEngine: {
      views,
      isLogWhole: async () => (await aggregates.directory.state(DIRECTORY_ID)).state.restored === undefined,
      lastHeard: (worker) => heardAt.get(worker),
      areShared,
    },
  };
}

/** The agent as instances run it: one ES module that imports nothing but Node's own. @throws where nothing was built */
async function agentProgram(): Promise<string> {
  const files = AGENT_PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const file = files.find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error('the agent of workers is not built: npm run build');
  return readFile(file, 'utf8');
}
