import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LabRouterKind } from './frr.ts';
import { missingForNamespaces } from './netns.ts';
import { runProgram } from '../servers/run-program.ts';
import { repositoryFile } from '../repository.ts';

/** What the tests keep from one run to the next: half a minute of work, 300 MB. */
const LAB = process.env.EDGEWARD_LAB ?? join(tmpdir(), 'edgeward-lab');
const ROOT = join(LAB, 'trixie');

/** What is missing here to run FRR 10, in words; undefined when nothing is. */
export function missingForTrixie(): string | undefined {
  const namespaces = missingForNamespaces();
  if (namespaces !== undefined) return namespaces;
  if (existsSync(join(ROOT, '.complete'))) return undefined;
  return spawnSync('mmdebstrap', ['--version']).status === 0 ? undefined : 'mmdebstrap (package mmdebstrap)';
}

/** FRR 10 in a system of its own, which is built when it is not there yet. */
export async function frrOfTrixie(): Promise<LabRouterKind> {
  await runProgram(['sh', repositoryFile('test/support/routers/build-trixie.sh'), LAB]);
  return { root: ROOT, daemons: ['mgmtd', 'zebra', 'bgpd'] };
}
