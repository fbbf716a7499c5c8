/**
 * Resolves when the event loop has read what came in on its sockets meanwhile. Everything on a SQLite file is synchronous:
 * long work takes turns with the rest of the process.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
