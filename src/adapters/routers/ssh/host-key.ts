import { createHash } from 'node:crypto';

/** The host key that a router must show. */
export type HostKeyPin = Readonly<{
  /** Whether a key, as it comes over the wire, is the pinned one. */
  matches: (key: Buffer) => boolean;
  /** The signature algorithms that make a server show a key of this kind; undefined when a fingerprint doesn't say. */
  algorithms: readonly string[] | undefined;
}>;

const FINGERPRINT = /^SHA256:([A-Za-z0-9+/]{43})=?$/;
const PUBLIC_KEY = /^(?:([a-z0-9@.-]+)\s+)?([A-Za-z0-9+/]{40,}={0,2})(?:\s+\S.*)?$/;

const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'],
};

/**
 * Reads a pin: `SHA256:<base64>` as `ssh-keygen -lf` prints it, or a public key as it stands in a `.pub` or known_hosts file
 * (`ssh-ed25519 AAAA… comment`, or the base64 alone). Undefined for anything else.
 */
export function parseHostKeyPin(text: string): HostKeyPin | undefined {
  const fingerprint = FINGERPRINT.exec(text)?.[1];
  if (fingerprint !== undefined) {
    return { matches: (key) => fingerprintOf(key) === `SHA256:${fingerprint}`, algorithms: undefined };
  }
  const [, namedType, base64] = PUBLIC_KEY.exec(text) ?? [];
  if (base64 === undefined) return undefined;
  const pinned = Buffer.from(base64, 'base64');
  const type = hostKeyType(pinned);
  const algorithms = ALGORITHMS[type];
  if (algorithms === undefined || (namedType !== undefined && namedType !== type)) return undefined;
  return { matches: (key) => key.equals(pinned), algorithms };
}

/** The fingerprint as OpenSSH prints it. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** The type that a public key names at its beginning (RFC 4253, section 6.6); empty for what is no key. */
export function hostKeyType(key: Buffer): string {
  if (key.length < 4) return '';
  const length = key.readUInt32BE(0);
  return length <= 64 ? key.toString('latin1', 4, 4 + length) : '';
}
