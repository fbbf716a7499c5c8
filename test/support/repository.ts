import { join } from 'node:path';

/**
 * The path of a file or folder of the repository, given from its root. Tests are started there, and run compiled out of another folder:
 * what lies beside a test's source does not lie beside the test that runs.
 */
export function repositoryFile(path: string): string {
  return join(process.cwd(), path);
}
