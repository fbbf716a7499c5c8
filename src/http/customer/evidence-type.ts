import { extname } from 'node:path';
import { fileTypeFromBuffer } from 'file-type';
import type { EvidenceMediaType } from '../../events/ip-control/source-whitelist.ts';
import type { UploadedFile } from '../middleware/uploads.ts';

const EXTENSIONS: Readonly<Record<string, EvidenceMediaType>> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.pdf': 'application/pdf',
};

/** By what the signatures in a file's first bytes say. An animated PNG is a PNG. */
const CONTENTS: Readonly<Record<string, EvidenceMediaType>> = {
  'image/jpeg': 'image/jpeg',
  'image/png': 'image/png',
  'image/apng': 'image/png',
  'application/pdf': 'application/pdf',
};

/** What a file of evidence is. Its content decides; its name must agree. What the client says of its media type counts nothing. */
export async function evidenceType({
  fileName,
  head,
}: UploadedFile): Promise<Readonly<{ mediaType: EvidenceMediaType }> | Readonly<{ problem: string }>> {
  if (head.length === 0) return { problem: 'must not be empty.' };
  const named = EXTENSIONS[extname(fileName).toLowerCase()];
  if (named === undefined) return { problem: 'must be a file of type jpg, jpeg, png or pdf.' };
  const found = await fileTypeFromBuffer(head);
  const mediaType = found === undefined ? undefined : CONTENTS[found.mime];
  if (mediaType === undefined) return { problem: 'must be a jpg, png or pdf file by its content too.' };
  return mediaType === named ? { mediaType } : { problem: `has the content of ${mediaType}, which its name denies.` };
}
