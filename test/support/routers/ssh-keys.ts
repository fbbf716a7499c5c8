import ssh2 from 'ssh2';

/** A key pair as texts: OpenSSH's private form, and a line for authorized_keys or known_hosts. */
export type SshKeyPair = Readonly<{ private: string; public: string }>;

/** A new key pair. One Ed25519 key in 256 that ssh2 makes is malformed, so each is read before it is given out. */
export function newSshKeyPair(kind: 'ed25519' | 'rsa' | 'ecdsa' = 'ed25519', passphrase?: string): SshKeyPair {
  for (;;) {
    const pair = generate(kind, passphrase);
    if (!(ssh2.utils.parseKey(pair.private, passphrase) instanceof Error)) return pair;
  }
}

function generate(kind: 'ed25519' | 'rsa' | 'ecdsa', passphrase: string | undefined): SshKeyPair {
  if (passphrase !== undefined) {
    return ssh2.utils.generateKeyPairSync('ed25519', { passphrase, cipher: 'aes256-cbc', rounds: 4 });
  }
  if (kind === 'rsa') return ssh2.utils.generateKeyPairSync('rsa', { bits: 2048 });
  if (kind === 'ecdsa') return ssh2.utils.generateKeyPairSync('ecdsa', { bits: 384 });
  return ssh2.utils.generateKeyPairSync('ed25519');
}
