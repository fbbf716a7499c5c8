/** Secrets by id (`webhook-12`, `router-core1`): events name the id, never the value. */
export type Secrets = Readonly<{
  get: (id: string) => Promise<string | undefined>;
  put: (id: string, value: string) => Promise<void>;
  remove: (id: string) => Promise<void>;
}>;
