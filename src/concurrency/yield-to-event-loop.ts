/** Resolves when the event loop has read what came in on its sockets meanwhile, so that long synchronous work takes turns with the rest. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
