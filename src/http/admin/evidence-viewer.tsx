import type { RequestHandler } from 'express';
import { render } from 'preact-render-to-string';
import type { OwnOrigin } from './csrf.ts';
import type { AssetAddresses } from './pages/layout.tsx';

/**
 * The frame in which a customer's PDF is drawn. It has an origin of its own and reaches nothing but the scripts that draw: what such a file
 * brings along can neither run nor ask for anything. The page around it hands the file over.
 */
export function evidenceViewer(assets: AssetAddresses, ownOrigin: OwnOrigin): RequestHandler {
  const html = `<!doctype html>${render(<Viewer assets={assets} />)}`;
  return (request, response) => {
    const origin = ownOrigin ?? originOf(`${request.protocol}://${request.get('host') ?? ''}`);
    response.set({ 'Content-Security-Policy': policyOf(origin), 'Cross-Origin-Resource-Policy': 'same-origin' });
    response.type('html').end(html);
  };
}

/** In an origin of its own `'self'` would be nothing. */
function policyOf(origin: string): string {
  return [
    'sandbox allow-scripts',
    "default-src 'none'",
    `script-src ${origin}/admin/assets/`,
    `style-src ${origin}/admin/assets/`,
    `frame-ancestors ${origin}`,
    "base-uri 'none'",
  ].join('; ');
}

function originOf(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : "'none'";
}

function Viewer({ assets }: Readonly<{ assets: AssetAddresses }>) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>Evidence</title>
        <link rel="stylesheet" href={assets.style} />
        <script type="module" src={assets.viewer} />
      </head>
      <body class="viewer" data-pdf={assets.pdf} data-pdf-worker={assets.pdfWorker}>
        <p id="state" class="dim" role="status">
          The document is drawn by a script. Without scripts, download it.
        </p>
      </body>
    </html>
  );
}
