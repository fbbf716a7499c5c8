import { join, sep } from 'node:path';

/**
 * The path of a file or folder of the repository, given from its root. Tests are started there, and run compiled out of another folder:
 * what lies beside a test's source does not lie beside the test that runs.
 */
export function repositoryFile(path: string): string {
  return join(process.cwd(), path);
}

/**
 * What starts a program of the tests in a process of its own, given from the repository's root without its ending: of a run that was
 * compiled the compiled one, which loads in a tenth of the time.
 */
export function testProgram(path: string): readonly string[] {
  const [, running = ''] = process.argv;
  const folder = running.endsWith('.js') ? running.slice(0, running.lastIndexOf(`${sep}test${sep}`)) : undefined;
  return folder === undefined ? ['--import', 'tsx', repositoryFile(`${path}.ts`)] : [join(folder, `${path}.js`)];
}
