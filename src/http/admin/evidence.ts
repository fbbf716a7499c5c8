import type { Response } from 'express';
import type { RequestEvidence } from '../../application/ip-control/whitelist-review.ts';
import { writePiece } from './api/call.ts';

/** What browsers may do with a customer's file: keep it, or show it as an image; opened by itself it is downloaded and runs nothing. */
export function evidenceHeaders({ evidence }: RequestEvidence): Readonly<Record<string, string>> {
  return {
    'Content-Type': evidence.mediaType,
    'Content-Length': String(evidence.bytes),
    'Content-Disposition': `attachment; filename*=UTF-8''${encodedName(evidence.fileName)}`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  };
}

/** RFC 8187, 3.2: these too may not stand for themselves. Names of before may have half a character, which UTF-8 has not. */
function encodedName(fileName: string): string {
  return encodeURIComponent(fileName.replaceAll(/\p{Cs}/gu, '\ufffd')).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Sends the file; one that is not what was given must not look like a whole one. */
export async function sendEvidence({ copy }: RequestEvidence, response: Response): Promise<void> {
  const refusal = await copy((piece) => writePiece(response, piece));
  if (refusal === undefined) response.end();
  else response.destroy(new Error(refusal.because));
}
