import { streamName } from '../kernel/stream-name.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { EvidenceReference, EvidenceStore } from '../ports/evidence.ts';
import type { Log } from '../ports/log.ts';

export type EvidenceRecovery = Readonly<{ stop: () => Promise<void> }>;

const AGAIN_MILLISECONDS = 300_000;

/**
 * Removes what uploads that a crash ended left behind: an event of the customer must name a file that is to stay. Before it resolves, where
 * no other process takes files in; otherwise beside the work, from time to time, until it is stopped.
 */
export async function startEvidenceRecovery(
  { evidence, store }: Readonly<{ evidence: EvidenceStore; store: EventStore }>,
  { clock, log }: Readonly<{ clock: Clock; log: Log }>,
): Promise<EvidenceRecovery> {
  const recover = (): Promise<void> => evidence.recover((reference) => isNamed(reference, store));
  if (!evidence.isShared) {
    await recover();
    return { stop: () => Promise.resolve() };
  }
  const stopped = new AbortController();
  const recovering = recoverRepeatedly();
  return {
    stop: async () => {
      stopped.abort();
      await recovering;
    },
  };

  async function recoverRepeatedly(): Promise<void> {
    while (!stopped.signal.aborted) {
      await recover().catch((error: unknown) => {
        log.warn({ error }, 'evidence that was left behind could not be looked for; that follows later');
      });
      await clock.wait(AGAIN_MILLISECONDS, stopped.signal).catch(() => undefined);
    }
  }
}

/** Removed requests count too: their evidence is kept for audit. */
async function isNamed({ customerId, sha256 }: EvidenceReference, store: EventStore): Promise<boolean> {
  for await (const page of store.read(streamName('customer', customerId))) {
    for (const { type, data } of page) {
      if (type === 'SourceWhitelistSubmitted' && 'evidence' in data && isEvidence(data.evidence, sha256)) return true;
    }
  }
  return false;
}

function isEvidence(evidence: unknown, sha256: string): boolean {
  return typeof evidence === 'object' && evidence !== null && 'sha256' in evidence && evidence.sha256 === sha256;
}
