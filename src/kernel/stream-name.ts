import { invariant } from './invariant.ts';

/** Every stream category of the house. None has a dash: EventStoreDB's by-category projection splits at the first one. */
export const STREAM_CATEGORIES = [
  'customer',
  'directory',
  'region',
  'webhookDelivery',
  'administrator',
  'workerPool',
  'scope',
  'asset',
  'worker',
] as const;

export type StreamCategory = (typeof STREAM_CATEGORIES)[number];

/** Builds `<category>-<id>`. */
export function streamName(category: StreamCategory, id: string | number): string {
  invariant(id !== '', 'a stream id is not empty');
  return `${category}-${id}`;
}

/** The id in a stream name: what follows the first dash. */
export function streamId(stream: string): string {
  return stream.slice(stream.indexOf('-') + 1);
}
