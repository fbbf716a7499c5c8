/** A secret that is there; `since` is when its present value was put (ISO 8601 with numeric offset). */
export type KeptSecret = Readonly<{ id: string; since: string }>;

/** Secrets by id (`webhook-12`, `router-core1`): events name the id, never the value. */
export type Secrets = Readonly<{
  get: (id: string) => Promise<string | undefined>;
  put: (id: string, value: string) => Promise<void>;
  /** Puts the value unless there is one: of several at the same moment the first stays. */
  putIfAbsent: (id: string, value: string) => Promise<void>;
  remove: (id: string) => Promise<void>;
  /** All there are, by id; no values. */
  list: () => Promise<readonly KeptSecret[]>;
}>;
