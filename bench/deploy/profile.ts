// What Node.js's own profiler has seen of a server: how long it worked on what.
import { readFileSync } from 'node:fs';

type CallFrame = Readonly<{ functionName: string; url: string }>;
type Node = Readonly<{ id: number; callFrame: CallFrame; children?: readonly number[] }>;

/** A profile as `node --cpu-prof` writes it. */
export type Profile = Readonly<{
  nodes: readonly Node[];
  samples: readonly number[];
  timeDeltas: readonly number[];
  startTime: number;
  endTime: number;
}>;

export function readProfile(file: string): Profile {
  const profile: Profile = JSON.parse(readFileSync(file, 'utf8'));
  return profile;
}

/**
 * Milliseconds of the main thread for each of `times` works, by the part of the build that was at work or had called what was, within so
 * many milliseconds before the profile's end. Whatever the first of the parts calls is work of that part.
 */
export function workIn(
  { nodes, samples, timeDeltas, endTime, startTime }: Profile,
  window: Readonly<{ from: number; to: number }>,
  parts: readonly string[],
  times: number,
): Readonly<{ work: ReadonlyMap<string, number>; garbage: number }> {
  const partOf = partsOfNodes(nodes, parts);
  const work = new Map<string, number>();
  let garbage = 0;
  let now = startTime;
  samples.forEach((id, at) => {
    const delta = timeDeltas[at] ?? 0;
    now += delta;
    const left = (endTime - now) / 1_000;
    if (left > window.from || left < window.to) return;
    const part = partOf.get(id);
    const milliseconds = delta / 1_000 / times;
    if (part === GARBAGE) garbage += milliseconds;
    else if (part !== undefined) work.set(part, (work.get(part) ?? 0) + milliseconds);
  });
  return { work, garbage };
}

const GARBAGE = '(garbage collector)';
const OTHER = 'all else';

function partsOfNodes(nodes: readonly Node[], parts: readonly string[]): ReadonlyMap<number, string | undefined> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found = new Map<number, string | undefined>();
  const visit = (node: Node, above: string): void => {
    const { functionName, url } = node.callFrame;
    if (functionName === '(idle)') return;
    const within = /\/dist\/(.*)$/.exec(url)?.[1];
    const isForeign = above === parts[0] || within === undefined || url.includes('node_modules');
    const own = isForeign ? above : (parts.find((part) => within.startsWith(`${part}/`)) ?? OTHER);
    const part = functionName === GARBAGE ? GARBAGE : own;
    found.set(node.id, part);
    for (const child of node.children ?? []) {
      const next = byId.get(child);
      if (next !== undefined) visit(next, part);
    }
  };
  const [root] = nodes;
  if (root !== undefined) visit(root, OTHER);
  return found;
}
