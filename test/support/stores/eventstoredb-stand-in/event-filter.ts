import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { LoggedEvent } from './event-log.ts';

export type EventFilter = Readonly<{
  passes: (event: LoggedEvent) => boolean;
  /** A checkpoint is due after this many events were looked at. */
  checkpointInterval: number;
}>;

/** Prefixes or a regular expression, over the names of streams or the types of events. */
export function eventFilter(options: streams.ReadReq.Options.FilterOptions | undefined): EventFilter {
  if (options === undefined) return { passes: () => true, checkpointInterval: Number.POSITIVE_INFINITY };
  const expression = options.getStreamIdentifier() ?? options.getEventType();
  const regex = expression?.getRegex() ?? '';
  const prefixes = expression?.getPrefixList() ?? [];
  const pattern = regex === '' ? undefined : new RegExp(regex);
  const window = options.hasMax() ? options.getMax() : 32;
  return {
    passes: (event) => {
      const text = options.hasStreamIdentifier() ? event.stream : event.type;
      return pattern === undefined ? prefixes.some((prefix) => text.startsWith(prefix)) : pattern.test(text);
    },
    checkpointInterval: window * Math.max(1, options.getCheckpointintervalmultiplier()),
  };
}
