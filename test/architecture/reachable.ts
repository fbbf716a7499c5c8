import { posix } from 'node:path';
import type { SourceFile } from './import-table.ts';
import { importsOf } from './source-text.ts';

/** The files that no chain of imports from the entry reaches, as paths in order. What nothing runs is no product. */
export function unreachableFrom(entry: string, files: readonly SourceFile[]): readonly string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  if (!texts.has(entry)) throw new Error(`${entry} is not among the files`);
  const reached = new Set([entry]);
  // A set hands out what is added while it is walked.
  for (const path of reached) {
    for (const specifier of importsOf(texts.get(path) ?? '').specifiers) {
      const target = posix.join(posix.dirname(path), specifier);
      if (specifier.startsWith('.') && texts.has(target)) reached.add(target);
    }
  }
  return [...texts.keys()].filter((path) => !reached.has(path)).toSorted();
}
