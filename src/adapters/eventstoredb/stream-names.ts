import { type StoredEvent, UndecodableEvent } from '../../events/codec.ts';

/** The names of our streams, as everybody else knows them and as the server has them: there they have a prefix, which nobody else sees. */
export type StreamNames = Readonly<{
  onServer: (stream: string) => string;
  /** Of a name that the server gave. */
  known: (name: string) => string;
  /** What the names of our streams start with on the server. */
  starts: readonly string[];
  /** Why an event that can't be read may be there at all. */
  explain: (event: StoredEvent, error: unknown) => unknown;
}>;

/** `prefix` keeps apart what several programs, or several installations, have in one server; empty: they are not kept apart. */
export function streamNames(prefix: string, categories: readonly string[]): StreamNames {
  return {
    onServer: (stream) => `${prefix}${stream}`,
    known: (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name),
    starts: categories.map((category) => `${prefix}${category}-`),
    explain: (event, error) =>
      error instanceof UndecodableEvent && !isSealed(event) ? new UndecodableEvent(event, notOurs(prefix)) : error,
  };
}

function notOurs(prefix: string): string {
  const own =
    'edgeward has not written it: with EVENT_STORE_STREAM_PREFIX streams get names that nobody else writes to';
  return prefix === '' ? `${own} (stores copy takes a log there)` : `${own}; now it is ${prefix}`;
}

function isSealed({ metadata }: StoredEvent): boolean {
  return typeof metadata === 'object' && metadata !== null && 'hash' in metadata;
}
