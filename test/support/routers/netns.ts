import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { runProgram } from '../servers/run-program.ts';

const PREFIX = 'ewtest';

/** A name that no other test uses, and that tells whose it is: `ewtest-<process id>-<random>`. */
export function labName(): string {
  return `${PREFIX}-${process.pid}-${randomBytes(3).toString('hex')}`;
}

/** Whether something was left behind by a test process that is gone. */
export function isLeftOver(name: string): boolean {
  const owner = new RegExp(`^${PREFIX}-(\\d+)-`).exec(name)?.[1];
  return owner !== undefined && !existsSync(`/proc/${owner}`);
}

/** What is missing here to make network namespaces, in words; undefined when nothing is. */
export function missingForNamespaces(): string | undefined {
  if (process.getuid?.() !== 0) return 'root';
  if (spawnSync('ip', ['netns', 'list']).status !== 0) return 'ip (package iproute2)';
  return undefined;
}

/** A network namespace of its own with its loopback up: what runs in it never meets the machine's network. */
export async function createNamespace(name: string): Promise<void> {
  for (const old of existsSync('/run/netns') ? readdirSync('/run/netns') : [])
    if (isLeftOver(old)) removeNamespace(old);
  await runProgram(['ip', 'netns', 'add', name]);
  await runProgram(['ip', '-n', name, 'link', 'set', 'lo', 'up']);
}

/** Also for the end of a process, when nothing can be waited for any more. */
export function removeNamespace(name: string): void {
  spawnSync('ip', ['netns', 'del', name]);
}
