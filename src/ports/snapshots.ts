/** A decider's state at a revision, as JSON. A cache: deleting any of them changes nothing but time. */
export type Snapshot = Readonly<{ version: number; revision: bigint; hash: string; at: string; json: string }>;

export type Snapshots = Readonly<{
  load: (stream: string) => Promise<Snapshot | undefined>;
  save: (stream: string, snapshot: Snapshot) => Promise<void>;
}>;
