import { evidenceOf, sha256Of } from '../../domain/ip-control/evidence.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { BEGINNING, type EventStore } from '../../ports/event-store.ts';
import type { EvidenceReference, EvidenceStore } from '../../ports/evidence.ts';
import { type CopiedEvents, copyEvents } from './copy-events.ts';

/**
 * Where something is kept: in a data directory (`undefined`: the one of the settings), or on a server; `streamPrefix`: before the names of
 * a log's streams there (`undefined`: what the settings say).
 */
export type StorePlace =
  | Readonly<{ directory: string | undefined }>
  | Readonly<{ url: string; streamPrefix?: string | undefined }>;

export type CopyPlaces = Readonly<{ from: StorePlace; to: StorePlace }>;

export type Opened<T> = Readonly<{ store: T; close: () => Promise<void> }>;

/** Opens what a copy works on. A source must be there; on what is a target no server may act meanwhile. */
export type CopyEnds = Readonly<{
  /** The log, each event as it is stored. */
  openLog: (place: StorePlace, role: 'source' | 'target') => Promise<Opened<EventStore> | Refusal>;
  openEvidence: (place: StorePlace, role: 'source' | 'target') => Promise<Opened<EvidenceStore> | Refusal>;
}>;

/** `evidence`: undefined where it stays where it is. */
export type CopiedStores = Readonly<{ events: CopiedEvents; evidence: CopiedEvidence | undefined }>;

/** What is done besides, while nothing else can come in between: before anything is written, and when all is there. */
export type CopySteps = Readonly<{
  before?: (from: EventStore) => Promise<Refusal | undefined>;
  /** Once, before the first event that the target lacks is written. */
  beforeFirst?: () => Promise<void>;
  after?: () => Promise<void>;
  /** What the target may hold behind all of the source's events, as the last one: an earlier try came so far. */
  mayEndWith?: (event: RecordedEvent) => boolean;
}>;

/** Copies a log and, where its places are given, the evidence that it names; goes on where an earlier copy stopped. */
export async function copyStores(
  { log, evidence }: Readonly<{ log: CopyPlaces; evidence: CopyPlaces | undefined }>,
  ends: CopyEnds,
  show: (done: bigint, end: bigint) => void,
  steps: CopySteps = {},
): Promise<Refusal | CopiedStores> {
  return withBoth(log, ends.openLog, async ({ from, to }) => {
    const logs = { from, to: toldBeforeFirst(to, steps.beforeFirst) };
    const refusal = await steps.before?.(logs.from);
    if (refusal !== undefined) return refusal;
    if (evidence === undefined) {
      const events = await copyEvents(logs, show, steps.mayEndWith);
      if (isRefusal(events)) return events;
      await steps.after?.();
      return { events, evidence: undefined };
    }
    // Both are open for all of the time, so that no server comes in between.
    return withBoth(evidence, ends.openEvidence, async (evidences) => {
      const events = await copyEvents(logs, show, steps.mayEndWith);
      if (isRefusal(events)) return events;
      const copied = { events, evidence: await copyEvidence(logs.to, evidences) };
      await steps.after?.();
      return copied;
    });
  });
}

function toldBeforeFirst(store: EventStore, beforeFirst: CopySteps['beforeFirst']): EventStore {
  let told: Promise<void> | undefined;
  return {
    ...store,
    append: async (...call) => {
      await (told ??= beforeFirst?.() ?? Promise.resolve());
      return store.append(...call);
    },
  };
}

async function withBoth<T, R>(
  { from, to }: CopyPlaces,
  open: (place: StorePlace, role: 'source' | 'target') => Promise<Opened<T> | Refusal>,
  work: (both: Readonly<{ from: T; to: T }>) => Promise<R>,
): Promise<R | Refusal> {
  const source = await open(from, 'source');
  if (isRefusal(source)) return source;
  try {
    const target = await open(to, 'target');
    if (isRefusal(target)) return target;
    try {
      return await work({ from: source.store, to: target.store });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

type CopiedEvidence = Readonly<{ copied: number; there: number; problems: readonly string[] }>;

type Evidences = Readonly<{ from: EvidenceStore; to: EvidenceStore }>;
type Outcome = Readonly<{ is: 'copied' | 'there' }> | Readonly<{ problem: string }>;

/** Copies every file that an event of the log names, unless it is there already, and checks each by its SHA-256. */
async function copyEvidence(log: EventStore, evidences: Evidences): Promise<CopiedEvidence> {
  const seen = new Set<string>();
  const counts = { copied: 0, there: 0 };
  const problems: string[] = [];
  for await (const page of log.readAll(BEGINNING)) {
    for (const event of page) {
      const reference = evidenceOf(event);
      if (reference === undefined) continue;
      const key = `${reference.customerId}/${reference.sha256}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const outcome = await copyFile(reference, evidences);
      if ('problem' in outcome) problems.push(`${event.stream} revision ${event.revision}: ${outcome.problem}`);
      else counts[outcome.is] += 1;
    }
  }
  return { ...counts, problems };
}

async function copyFile(reference: EvidenceReference, { from, to }: Evidences): Promise<Outcome> {
  const there = await to.read(reference);
  if (there !== undefined) {
    if ((await sha256Of(there)) === reference.sha256) return { is: 'there' };
    return { problem: 'its evidence is in the target and was altered there' };
  }
  const pieces = await from.read(reference);
  if (pieces === undefined) return { problem: 'its evidence is missing in the source' };
  const draft = await to.begin(reference.customerId);
  try {
    for await (const piece of pieces) await draft.write(piece);
  } catch (error) {
    await draft.discard();
    throw error;
  }
  const stored = await draft.store();
  if (stored.sha256 === reference.sha256) {
    await stored.keep();
    return { is: 'copied' };
  }
  await stored.release();
  return { problem: 'its evidence was altered in the source' };
}
