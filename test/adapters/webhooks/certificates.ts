import { generate } from 'selfsigned';

export type Certificate = Readonly<{ key: string; cert: string }>;

/** An authority of the test's own. */
export function makeAuthority(name = 'Test Authority'): Promise<Certificate> {
  return make(name, { extensions: [{ name: 'basicConstraints', cA: true, critical: true }] });
}

/** A certificate for `host` (a name or an address), signed by `issuer`, or by itself. */
export function makeCertificate(
  host: string,
  issuer?: Certificate,
  valid: Readonly<{ from: string; to: string }> = { from: '2020-01-01', to: '2099-01-01' },
): Promise<Certificate> {
  const altName = /^[\d.]+$/.test(host) ? { type: 7 as const, ip: host } : { type: 2 as const, value: host };
  return make(host, {
    notBeforeDate: new Date(valid.from),
    notAfterDate: new Date(valid.to),
    extensions: [{ name: 'subjectAltName', altNames: [altName] }],
    ...(issuer === undefined ? {} : { ca: issuer }),
  });
}

async function make(name: string, options: Parameters<typeof generate>[1]): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...options,
  });
  return { key, cert };
}
