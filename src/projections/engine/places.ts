import type { RecordedEvent } from '../../kernel/event.ts';
import { type Anchor, BEGINNING } from '../../ports/event-store.ts';

type Placed = Readonly<{ position: () => bigint }>;

/** The lowest place of them all: by default the position up to which each has applied the log. */
export function lowest<F extends Placed>(feeds: readonly F[], placeOf: (feed: F) => bigint = positionOf): bigint {
  let least: bigint | undefined;
  for (const feed of feeds) {
    const place = placeOf(feed);
    if (least === undefined || place < least) least = place;
  }
  return least ?? BEGINNING;
}

function positionOf(feed: Placed): bigint {
  return feed.position();
}

/** Where an event is, and by what it is known there. */
export function anchorOf({ stream, revision, position, metadata: { hash } }: RecordedEvent): Anchor {
  return { stream, revision, position, hash };
}
