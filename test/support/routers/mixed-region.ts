import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOpenRouter } from '../../../src/adapters/routers/open-router.ts';
import type { RouterDriver } from '../../../src/ports/routers.ts';
import { birdUnderTest, missingForBird, openBird, startBird } from './bird.ts';
import { FRR_OF_THIS_MACHINE, missingForFrr, startFrr } from './frr.ts';
import { frrUnderTest, openFrr } from './frr-contract.ts';
import { missingForNetconfd, openNetconf, startNetconfd } from './netconfd.ts';
import { netconfUnderTest } from './netconfd-contract.ts';
import { routerContext } from './router-context.ts';

/** A real router of a region that has one of every kind, and what may happen to it. */
export type MixedRouter = Readonly<{
  name: string;
  driver: string;
  options: Readonly<Record<string, string>>;
  /** A driver beside edgeward's. */
  open: () => RouterDriver;
  /** Puts entries under a list's name that no driver would write, by the router's own means. */
  editByHand: (list: string) => Promise<void>;
  /** Ends it without asking it. */
  kill: () => Promise<void>;
  start: () => Promise<void>;
  /** Keeps a copy of what it has saved. */
  backUp: () => Promise<void>;
  /** Kills it, and starts it with the copy, if there is one. */
  restore: () => Promise<void>;
  stop: () => Promise<void>;
}>;

/** What is missing here to run one router of every kind, in words; undefined when nothing is. */
export function missingForMixedRegion(): string | undefined {
  return missingForFrr() ?? missingForBird() ?? missingForNetconfd();
}

/** A router of every kind; `folder` has room for files. */
export async function startMixedRegion(folder: string): Promise<readonly MixedRouter[]> {
  return Promise.all([
    fileRouter(folder),
    frrRouter(folder),
    birdRouter(folder),
    netconfRouter('junos'),
    netconfRouter('openconfig'),
  ]);
}

/** A directory that routers pull from; it goes and comes as if it were mounted. */
async function fileRouter(folder: string): Promise<MixedRouter> {
  const path = join(folder, 'pull');
  const [aside, copy] = [join(folder, 'pull.aside'), join(folder, 'pull.copy')];
  await mkdir(path);
  const kill = (): Promise<void> => rename(path, aside);
  const start = (): Promise<void> => rename(aside, path);
  return {
    name: 'pull',
    driver: 'file',
    options: { path },
    open: () => createOpenRouter(routerContext())({ name: 'pull', driver: 'file', options: { path } }),
    editByHand: (list) => writeFile(join(path, list), '10.0.0.0/8 le 32\n'),
    kill,
    start,
    backUp: () => copyOver(path, copy),
    restore: async () => {
      await kill();
      if (existsSync(copy)) await copyOver(copy, aside);
      await start();
    },
    stop: async () => undefined,
  };
}

async function frrRouter(folder: string): Promise<MixedRouter> {
  const router = await startFrr(FRR_OF_THIS_MACHINE);
  const saved = join('/etc/frr', router.name, 'frr.conf');
  const copy = join(folder, 'frr.copy');
  return {
    name: 'frr',
    driver: 'frr',
    options: { ...router.options, transport: 'local' },
    open: () => openFrr(router),
    editByHand: frrUnderTest(router, 0, () => openFrr(router)).plantForeign,
    kill: () => router.kill('bgpd'),
    start: router.restart,
    backUp: () => copyFile(saved, copy).catch(ignoreMissing),
    restore: async () => {
      if (existsSync(copy)) await copyFile(copy, saved);
      await router.restart();
    },
    stop: router.stop,
  };
}

async function birdRouter(folder: string): Promise<MixedRouter> {
  const bird = await startBird();
  const { directory: lists = '' } = bird.options;
  const copy = join(folder, 'bird.copy');
  return {
    name: 'bird',
    driver: 'bird',
    options: { ...bird.options, transport: 'local' },
    open: () => openBird(bird),
    editByHand: birdUnderTest(bird, 0, () => openBird(bird)).plantForeign,
    kill: bird.kill,
    start: bird.start,
    backUp: () => copyOver(lists, copy),
    restore: async () => {
      await bird.kill();
      if (existsSync(copy)) await copyOver(copy, lists);
      await bird.start();
    },
    stop: bird.stop,
  };
}

async function netconfRouter(driver: 'junos' | 'openconfig'): Promise<MixedRouter> {
  const netconfd = await startNetconfd();
  return {
    name: driver,
    driver,
    options: { ...netconfd.options, lock_seconds: '3' },
    open: () => openNetconf(driver, netconfd),
    editByHand: netconfUnderTest(driver, netconfd, 0).plantForeign,
    kill: netconfd.kill,
    start: netconfd.start,
    backUp: async () => undefined,
    restore: async () => {
      await netconfd.kill();
      await netconfd.start();
    },
    stop: netconfd.stop,
  };
}

/** Makes a directory have the files of another, as they are found: who writes there may rename or remove one meanwhile. */
async function copyOver(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(to)) await rm(join(to, name), { force: true });
  for (const name of await readdir(from)) await copyFile(join(from, name), join(to, name)).catch(ignoreMissing);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
