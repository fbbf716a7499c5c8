// Draws the PDF that the page around hands over. Nothing of the file is run, and nothing can be asked for from here.
const PAGES_MAX = 20;
const PIXELS_MAX = 4_000_000;
const state = document.getElementById('state');
const { pdf, pdfWorker } = document.body.dataset;
let isGiven = false;

addEventListener('message', ({ data, source }) => {
  if (source !== parent) return;
  if (data === 'ask') parent.postMessage('ready', '*');
  if (!(data instanceof ArrayBuffer) || isGiven) return;
  isGiven = true;
  state.textContent = 'The document is being drawn.';
  draw(data).catch(() => (state.textContent = 'This document can not be drawn: download it.'));
});
parent.postMessage('ready', '*');

async function draw(data) {
  // An opaque origin can start no worker: its part runs here.
  const [{ getDocument }, worker] = await Promise.all([import(pdf), import(pdfWorker)]);
  globalThis.pdfjsWorker = worker;
  const document = await getDocument({
    data,
    isEvalSupported: false,
    enableXfa: false,
    useWorkerFetch: false,
    useWasm: false,
    isOffscreenCanvasSupported: false,
    verbosity: 0,
  }).promise;
  const count = Math.min(document.numPages, PAGES_MAX);
  for (let number = 1; number <= count; number++) await drawPage(await document.getPage(number), number);
  state.hidden = count === document.numPages;
  state.textContent = `The first ${count} of ${document.numPages} pages are shown: download the document for all of them.`;
}

async function drawPage(page, number) {
  const { width, height } = page.getViewport({ scale: 1 });
  const wanted = (innerWidth * Math.min(2, devicePixelRatio)) / width;
  const viewport = page.getViewport({ scale: Math.min(wanted, Math.sqrt(PIXELS_MAX / (width * height))) });
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(viewport.width);
  canvas.height = Math.ceil(viewport.height);
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `Page ${number}`);
  document.body.append(canvas);
  await page.render({ canvas, viewport }).promise;
}
