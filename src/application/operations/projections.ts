import { type Refusal, refuse } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';

export type RebuildDependencies = Readonly<{ projections: Pick<Application['projections'], 'names' | 'rebuild'> }>;

/** Builds the views of these projections from the events, beside the ones in use, and swaps them in; `all`: of every one. */
export async function rebuildProjections(
  wanted: readonly string[] | 'all',
  show: (done: bigint, end: bigint) => void,
  { projections }: RebuildDependencies,
): Promise<Refusal | Readonly<{ rebuilt: readonly string[] }>> {
  const names = wanted === 'all' ? projections.names : wanted;
  const unknown = names.find((name) => !projections.names.includes(name));
  if (unknown !== undefined) return refuse('not-found', `projection ${unknown} not found.`, 'names');
  await projections.rebuild(names, show);
  return { rebuilt: names };
}
