/** One file of evidence: whose it is, and the SHA-256 (hex) of its bytes. */
export type EvidenceReference = Readonly<{ customerId: number; sha256: string }>;

/** A file on its way in; no reader finds it before it is stored. `store` or `discard` ends it. */
export type EvidenceDraft = Readonly<{
  /** Takes the next bytes; a caller that waits for it never fills the memory. @throws StoreUnavailable */
  write: (bytes: Uint8Array) => Promise<void>;
  /** Durable and to be found when it resolves; `keep` or `release` follows. @throws StoreUnavailable, after which nothing is left */
  store: () => Promise<StoredEvidence>;
  /** Nothing is left of it. */
  discard: () => Promise<void>;
}>;

/**
 * A durable file that no event names yet. When what became of the event is not known, neither `keep` nor `release` is called: `recover`
 * decides after the next start.
 */
export type StoredEvidence = EvidenceReference &
  Readonly<{
    bytes: number;
    /** An event names it: it stays for good. */
    keep: () => Promise<void>;
    /** No event will name it: it goes, unless the same bytes of the same customer were kept or are still in use. */
    release: () => Promise<void>;
  }>;

/** Files that were given as proof, for good, outside of the event log. */
export type EvidenceStore = Readonly<{
  /** Whether other processes may take files in at the same time. */
  isShared: boolean;
  /** Begins to take in a file of a customer. @throws StoreUnavailable */
  begin: (customerId: number) => Promise<EvidenceDraft>;
  /** The bytes of a file, piece by piece, which must be read; `undefined` when there is none. */
  read: (reference: EvidenceReference) => Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Removes what processes that ended in the middle left behind: every draft, and stored files that were neither kept nor released and
   * that no event names. A store that is not shared is asked at the start, while no server takes files in. A shared one leaves alone what
   * may be in use still, and is asked again from time to time.
   */
  recover: (isNamed: (reference: EvidenceReference) => Promise<boolean>) => Promise<void>;
}>;
