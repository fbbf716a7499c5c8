import type { AddressRange } from '../../addresses/range.ts';
import { AppendTooLarge } from '../../ports/event-store.ts';

/** Records what these ranges are about: at once, or in parts where that is more than the store takes; `isMore`: not the first part. */
export async function inParts(
  ranges: readonly AddressRange[],
  record: (part: readonly AddressRange[], isMore: boolean) => Promise<void>,
  isMore = false,
): Promise<void> {
  try {
    await record(ranges, isMore);
  } catch (error) {
    if (!(error instanceof AppendTooLarge) || ranges.length < 2) throw error;
    const half = Math.ceil(ranges.length / 2);
    await inParts(ranges.slice(0, half), record, isMore);
    await inParts(ranges.slice(half), record, true);
  }
}
