import { invariant } from './invariant.ts';

/** Builds `<category>-<id>`. No category has a dash: EventStoreDB's by-category projection splits at the first one. */
export function streamName(category: string, id: string | number): string {
  invariant(!category.includes('-'), `the stream category ${category} has no dash`);
  invariant(id !== '', 'a stream id is not empty');
  return `${category}-${id}`;
}

/** The id in a stream name: what follows the first dash. */
export function streamId(stream: string): string {
  return stream.slice(stream.indexOf('-') + 1);
}

/** The category in a stream name: what comes before the first dash. */
export function streamCategory(stream: string): string {
  return stream.slice(0, stream.indexOf('-'));
}
