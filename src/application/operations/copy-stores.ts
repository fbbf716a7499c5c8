import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { EvidenceStore } from '../../ports/evidence.ts';
import { type CopiedEvents, copyEvents } from './copy-events.ts';
import { type CopiedEvidence, copyEvidence } from './copy-evidence.ts';

/** Where something is kept: in a data directory (`undefined`: the one of the settings), or on a server. */
export type StorePlace = Readonly<{ directory: string | undefined }> | Readonly<{ url: string }>;

export type CopyPlaces = Readonly<{ from: StorePlace; to: StorePlace }>;

export type Opened<T> = Readonly<{ store: T; close: () => Promise<void> }>;

/** Opens what a copy works on. A source must be there; on what is a target no server may act meanwhile. */
export type CopyEnds = Readonly<{
  /** The log, each event as it is stored. */
  openLog: (place: StorePlace, role: 'source' | 'target') => Promise<Opened<EventStore>>;
  openEvidence: (place: StorePlace, role: 'source' | 'target') => Promise<Opened<EvidenceStore>>;
}>;

/** `evidence`: undefined where it stays where it is. */
export type CopiedStores = Readonly<{ events: CopiedEvents; evidence: CopiedEvidence | undefined }>;

/** Copies a log and, where its places are given, the evidence that it names; goes on where an earlier copy stopped. */
export async function copyStores(
  { log, evidence }: Readonly<{ log: CopyPlaces; evidence: CopyPlaces | undefined }>,
  ends: CopyEnds,
  show: (done: bigint, end: bigint) => void,
): Promise<Refusal | CopiedStores> {
  return withBoth(log, ends.openLog, async (logs) => {
    if (evidence === undefined) {
      const events = await copyEvents(logs, show);
      return isRefusal(events) ? events : { events, evidence: undefined };
    }
    // Both are open for all of the time, so that no server comes in between.
    return withBoth(evidence, ends.openEvidence, async (evidences) => {
      const events = await copyEvents(logs, show);
      return isRefusal(events) ? events : { events, evidence: await copyEvidence(logs.to, evidences) };
    });
  });
}

async function withBoth<T, R>(
  { from, to }: CopyPlaces,
  open: (place: StorePlace, role: 'source' | 'target') => Promise<Opened<T>>,
  work: (both: Readonly<{ from: T; to: T }>) => Promise<R>,
): Promise<R> {
  const source = await open(from, 'source');
  try {
    const target = await open(to, 'target');
    try {
      return await work({ from: source.store, to: target.store });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
