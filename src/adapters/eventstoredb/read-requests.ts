import { streamIdentifier } from './proposed-events.ts';
import type { AllPosition } from './read-responses.ts';
import { shared, streams } from './protocol.ts';

const { Options } = streams.ReadReq;

/** The server looks through this many records of others at a time, and tells its position at least once for each stretch. */
const SEARCH_WINDOW = 1_000;

/** Forwards from a revision, inclusive, at most `count` events. */
export function readStreamForwards(stream: string, from: bigint, count?: number): streams.ReadReq {
  const place = new Options.StreamOptions().setStreamIdentifier(streamIdentifier(stream)).setRevision(String(from));
  const options = new Options().setStream(place).setReadDirection(Options.ReadDirection.FORWARDS);
  return request(options.setCount(countText(count)).setNoFilter(new shared.Empty()));
}

/** The last event of a stream. */
export function readStreamEnd(stream: string): streams.ReadReq {
  const place = new Options.StreamOptions().setStreamIdentifier(streamIdentifier(stream)).setEnd(new shared.Empty());
  const options = new Options().setStream(place).setReadDirection(Options.ReadDirection.BACKWARDS);
  return request(options.setCount('1').setNoFilter(new shared.Empty()));
}

/** `$all` forwards from a position, inclusive, at most `count` events; only streams whose names start with one of `prefixes`. */
export function readAllForwards(
  from: AllPosition | undefined,
  prefixes: readonly string[],
  count?: number,
): streams.ReadReq {
  const options = new Options().setAll(allOptions(from)).setReadDirection(Options.ReadDirection.FORWARDS);
  return request(options.setCount(countText(count)).setFilter(streamFilter(prefixes)));
}

/** The newest event of `$all` in a stream whose name starts with one of `prefixes`. */
export function readAllEnd(prefixes: readonly string[]): streams.ReadReq {
  const all = new Options.AllOptions().setEnd(new shared.Empty());
  const options = new Options().setAll(all).setReadDirection(Options.ReadDirection.BACKWARDS);
  return request(options.setCount('1').setFilter(streamFilter(prefixes)));
}

/** `$all` backwards from before a position, or from its end; only streams whose names start with one of `prefixes`. */
export function readAllBackwards(before: AllPosition | undefined, prefixes: readonly string[]): streams.ReadReq {
  return request(backwards(before).setCount(countText()).setFilter(streamFilter(prefixes)));
}

/** Records of `$all` backwards from before a place, whoever wrote them. */
export function readRecordsBackwards(before: AllPosition | undefined, count?: number): streams.ReadReq {
  return request(backwards(before).setCount(countText(count)).setNoFilter(new shared.Empty()));
}

function backwards(before: AllPosition | undefined): InstanceType<typeof Options> {
  const all = before === undefined ? new Options.AllOptions().setEnd(new shared.Empty()) : allOptions(before);
  return new Options().setAll(all).setReadDirection(Options.ReadDirection.BACKWARDS);
}

/** The record that begins at a place of `$all`, whoever wrote it. */
export function readPlace(place: AllPosition): streams.ReadReq {
  const options = new Options().setAll(allOptions(place)).setReadDirection(Options.ReadDirection.FORWARDS);
  return request(options.setCount('1').setNoFilter(new shared.Empty()));
}

/** The newest event of all, those of other applications included. */
export function readEnd(): streams.ReadReq {
  const all = new Options.AllOptions().setEnd(new shared.Empty());
  const options = new Options().setAll(all).setReadDirection(Options.ReadDirection.BACKWARDS);
  return request(options.setCount('1').setNoFilter(new shared.Empty()));
}

/** `$all` from after a position, for ever; only streams whose names start with one of `prefixes`. */
export function subscribeToAll(after: AllPosition | undefined, prefixes: readonly string[]): streams.ReadReq {
  const options = new Options().setAll(allOptions(after)).setReadDirection(Options.ReadDirection.FORWARDS);
  return request(options.setSubscription(new Options.SubscriptionOptions()).setFilter(streamFilter(prefixes)));
}

function allOptions(position: AllPosition | undefined): streams.ReadReq.Options.AllOptions {
  const all = new Options.AllOptions();
  if (position === undefined) return all.setStart(new shared.Empty());
  const { commit, prepare } = position;
  return all.setPosition(new Options.Position().setCommitPosition(String(commit)).setPreparePosition(String(prepare)));
}

function streamFilter(prefixes: readonly string[]): streams.ReadReq.Options.FilterOptions {
  const expression = new Options.FilterOptions.Expression().setPrefixList([...prefixes]);
  return new Options.FilterOptions()
    .setStreamIdentifier(expression)
    .setMax(SEARCH_WINDOW)
    .setCheckpointintervalmultiplier(1);
}

function request(options: streams.ReadReq.Options): streams.ReadReq {
  options.setResolveLinks(false).setUuidOption(new Options.UUIDOption().setString(new shared.Empty()));
  return new streams.ReadReq().setOptions(options);
}

function countText(count?: number): string {
  return String(count ?? Number.MAX_SAFE_INTEGER);
}
