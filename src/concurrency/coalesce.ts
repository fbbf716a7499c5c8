/** With so many gathered, waiting for more would gain little. */
const GATHERED_MAX = 64;

/**
 * Waits until no more comes: what is asked in the same turn of the event loop goes together; under load, what is asked in the next
 * turns too. What comes alone waits for one turn. `turn` resolves after one.
 */
export async function coalesce(waiting: readonly unknown[], turn: () => Promise<void>): Promise<void> {
  for (let known = 0; waiting.length > known && waiting.length < GATHERED_MAX;) {
    known = waiting.length;
    await turn();
  }
}
