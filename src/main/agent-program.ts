import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** As the build has compiled it: beside this file, or, where the sources themselves are run, in what was built of them. */
const PLACES = ['../cli/worker-pools/agent.js', '../../dist/cli/worker-pools/agent.js'];

/** The agent as instances run it: one ES module that imports nothing but Node's own. @throws where nothing was built */
export async function agentProgram(): Promise<string> {
  const files = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const file = files.find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error('the agent of workers is not built: npm run build');
  return readFile(file, 'utf8');
}
