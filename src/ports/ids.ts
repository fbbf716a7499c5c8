/** Randomness from outside. Tests fix it. */
export type Ids = Readonly<{
  /** A random UUID (RFC 9562, version 4). */
  uuid: () => string;
  /** `bytes` random bytes from a secure source. */
  random: (bytes: number) => Uint8Array;
}>;
