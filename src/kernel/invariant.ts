/** Throws when the program itself is wrong. Caught nowhere below the edge and the runners. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`);
}
