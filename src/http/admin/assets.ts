import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import type { AssetAddresses } from './pages/layout.tsx';

const HASH_CHARACTERS = 12;
const FOR_EVER = 'public, max-age=31536000, immutable';

type Asset = Readonly<{ type: string; plain: Buffer; brotli: () => Buffer; gzip: () => Buffer }>;

/** The style sheet, the scripts and the logo. */
export type Assets = Readonly<{ addresses: AssetAddresses; serve: RequestHandler }>;

const FILES = {
  style: { name: 'admin.css', type: 'text/css; charset=utf-8' },
  script: { name: 'admin.js', type: 'text/javascript; charset=utf-8' },
  htmx: { name: 'htmx.min.js', type: 'text/javascript; charset=utf-8' },
  viewer: { name: 'evidence-viewer.js', type: 'text/javascript; charset=utf-8' },
  pdf: { name: 'pdf.min.mjs', type: 'text/javascript; charset=utf-8' },
  pdfWorker: { name: 'pdf.worker.min.mjs', type: 'text/javascript; charset=utf-8' },
  logo: { name: 'logo.svg', type: 'image/svg+xml' },
} as const;

/** Reads them once: each has its content's hash in its name, so that browsers may keep it for ever. */
export function openAssets(): Assets {
  const byName = new Map<string, Asset>();
  const open = ({ name, type }: (typeof FILES)[keyof typeof FILES]): string => {
    const file = fileOf(name);
    const plain = readFileSync(file);
    const hash = createHash('sha256').update(plain).digest('hex').slice(0, HASH_CHARACTERS);
    const hashed = `${hash}-${name}`;
    byName.set(hashed, {
      type,
      plain,
      brotli: compressed(`${file}.br`, () => brotliCompressSync(plain, QUICKLY)),
      gzip: compressed(`${file}.gz`, () => gzipSync(plain)),
    });
    return `/admin/assets/${hashed}`;
  };
  return {
    addresses: {
      style: open(FILES.style),
      script: open(FILES.script),
      htmx: open(FILES.htmx),
      logo: open(FILES.logo),
      viewer: open(FILES.viewer),
      pdf: open(FILES.pdf),
      pdfWorker: open(FILES.pdfWorker),
    },
    serve: (request, response, next) => {
      const asset = byName.get(String(request.params['name']));
      if (asset === undefined) {
        next();
        return;
      }
      const encoding = request.acceptsEncodings('br', 'gzip');
      response.set({
        'Content-Type': asset.type,
        'Cache-Control': FOR_EVER,
        Vary: 'Accept-Encoding',
        // The frame of evidence has an origin of its own, from which modules are asked for like this alone.
        'Access-Control-Allow-Origin': '*',
      });
      if (encoding === 'br') response.set('Content-Encoding', 'br').end(asset.brotli());
      else if (encoding === 'gzip') response.set('Content-Encoding', 'gzip').end(asset.gzip());
      else response.end(asset.plain);
    },
  };
}

/** Where npm has put what is not ours. */
const FOREIGN: Readonly<Record<string, string>> = {
  'htmx.min.js': 'htmx.org/dist/htmx.min.js',
  'pdf.min.mjs': 'pdfjs-dist/legacy/build/pdf.min.mjs',
  'pdf.worker.min.mjs': 'pdfjs-dist/legacy/build/pdf.worker.min.mjs',
};

/** The build has put all files side by side, compressed ones too; the sources have only our own. */
function fileOf(name: string): string {
  const beside = fileURLToPath(new URL(`./assets/${name}`, import.meta.url));
  return existsSync(beside) ? beside : createRequire(import.meta.url).resolve(FOREIGN[name] ?? name);
}

const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** As the build has left it, or made when it is first asked for. */
function compressed(file: string, compress: () => Buffer): () => Buffer {
  let made: Buffer | undefined;
  return () => (made ??= existsSync(file) ? readFileSync(file) : compress());
}
