/** One part of a form: a text, or a file. `headers` are sent as they are, in place of what is usual. */
export type FormPart = Readonly<{
  name: string;
  value?: string;
  file?: Buffer;
  fileName?: string;
  contentType?: string;
  headers?: readonly string[];
}>;

/** A form as the bytes of a request: what `send` of a client takes. */
export type FormBody = Readonly<{ method: 'POST'; headers: Readonly<Record<string, string>>; body: Buffer }>;

export const BOUNDARY = '----edgeward-test-boundary';

/** A `multipart/form-data` body (RFC 7578), in the order of its parts. */
export function formBody(parts: readonly FormPart[], boundary = BOUNDARY): FormBody {
  const pieces = parts.flatMap((part) => [
    `--${boundary}\r\n${headersOf(part).join('\r\n')}\r\n\r\n`,
    part.file ?? part.value ?? '',
    '\r\n',
  ]);
  const body = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)));
  return { method: 'POST', headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body };
}

function headersOf({ name, file, fileName, contentType, headers }: FormPart): readonly string[] {
  if (headers !== undefined) return headers;
  const disposition = `Content-Disposition: form-data; name="${name}"`;
  if (file === undefined && fileName === undefined) return [disposition];
  return [
    `${disposition}${fileName === undefined ? '' : `; filename="${fileName}"`}`,
    `Content-Type: ${contentType ?? 'application/octet-stream'}`,
  ];
}

/** The first bytes of a real PDF, made `bytes` long and its own by `content`. */
export function pdf(content = '', bytes = 0): Buffer {
  const text = Buffer.from(`%PDF-1.7\n%âãÏÓ\n1 0 obj\n<< /Type /Catalog >>\nendobj\n% ${content}\n%%EOF\n`);
  return Buffer.concat([text, Buffer.alloc(Math.max(0, bytes - text.length), '%')]);
}

/** One grey pixel. */
export function png(): Buffer {
  return Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
    'base64',
  );
}

/** The beginning of a JFIF file. */
export function jpeg(): Buffer {
  return Buffer.from('/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////2Q==', 'base64');
}
