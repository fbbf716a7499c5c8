import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A certificate for this machine that nobody knows but those who are given `ca`, the file with its authority. */
export async function ownAuthority(): Promise<
  Readonly<{ ca: string; tls: Readonly<{ key: string; certificate: string }>; remove: () => Promise<void> }>
> {
  const { path, remove } = await temporaryFolder();
  const altNames = [
    { type: 2, value: 'localhost' },
    { type: 7, ip: '127.0.0.1' },
  ] as const;
  const pem = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [...altNames] }],
  });
  const ca = join(path, 'ca.pem');
  await writeFile(ca, pem.cert);
  return { ca, tls: { key: pem.private, certificate: pem.cert }, remove };
}
