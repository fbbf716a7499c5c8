import { type Feed, openProjector, type ProjectorDependencies } from './projector.ts';

/** Builds a new generation of each projection beside the one in use, from the first event on, then swaps. Readers notice nothing before. */
export async function rebuildProjections(
  shelves: readonly Feed[],
  dependencies: Omit<ProjectorDependencies, 'writes'>,
  progress: (done: bigint, end: bigint) => void,
): Promise<void> {
  const { readModels } = dependencies;
  const collections = [];
  for (const shelf of shelves) {
    const collection = await readModels.begin(shelf.name, shelf.version);
    await shelf.open(collection);
    collections.push(collection);
  }
  await openProjector(shelves, { ...dependencies, writes: true }).catchUp(progress);
  for (const collection of collections) await readModels.activate(collection);
}
