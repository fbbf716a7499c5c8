// The pages work without this; it makes them live and quicker to the keyboard.
'use strict';

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/* Live: one stream while the page is looked at; it says only what has changed, and htmx fetches the part. */
const live = { source: undefined, hasMissed: false, since: undefined };

function topics() {
  return [...new Set([...document.querySelectorAll('[data-live]')].flatMap((part) => part.dataset.live.split(' ')))];
}

function openStream() {
  const wanted = topics();
  if (live.source !== undefined || wanted.length === 0 || document.hidden) return;
  const query = new URLSearchParams(wanted.map((topic) => ['topic', topic]));
  // What has changed since the page was made is rung at once; where all is fetched anyway nothing need be.
  if (!live.hasMissed) query.set('since', document.body.dataset.liveSince ?? '');
  live.source = new EventSource(`${document.body.dataset.liveAt}?${query}`);
  live.source.addEventListener('open', () => {
    // What happened while nobody listened is fetched once.
    if (live.hasMissed) for (const topic of topics()) ring(topic);
    live.hasMissed = false;
    showLive(true);
  });
  live.source.addEventListener('changed', ({ data }) => ring(data));
  live.source.addEventListener('error', () => {
    showLive(false);
    const isRefused = live.source?.readyState === EventSource.CLOSED;
    closeStream();
    setTimeout(openStream, (isRefused ? 5000 : 2000) * (1 + Math.random()));
  });
}

function closeStream() {
  live.source?.close();
  live.source = undefined;
  live.hasMissed = true;
}

function ring(topic) {
  document.body.dispatchEvent(new CustomEvent(`live:${topic}`));
}

/* A part that could not be fetched is old until it is; one that is refused or gone is not asked for again. */
for (const failed of ['htmx:responseError', 'htmx:sendError'])
  document.addEventListener(failed, ({ target, detail: { xhr } }) => {
    const topic = target.dataset?.live?.split(' ')[0];
    const isFinal = xhr.status >= 400 && xhr.status < 500 && xhr.status !== 429;
    if (topic !== undefined && !isFinal) setTimeout(() => ring(topic), 3000 * (1 + Math.random()));
  });

function showLive(isLive) {
  const sign = document.getElementById('live');
  if (sign === null) return;
  live.since = isLive ? undefined : (live.since ?? new Date());
  sign.hidden = false;
  sign.classList.toggle('off', !isLive);
  const text = isLive ? 'live' : `not live since ${live.since.toISOString().slice(11, 19)} +00:00`;
  if (sign.textContent !== text) sign.textContent = text;
}

document.addEventListener('visibilitychange', () => (document.hidden ? closeStream() : openStream()));
addEventListener('pagehide', closeStream);
addEventListener('pageshow', openStream);

/* What is shown once can be copied. */
for (const once of document.querySelectorAll('[data-copy]')) {
  const button = make('button', { type: 'button' }, 'Copy');
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(once.textContent).then(
      () => (button.textContent = 'Copied'),
      () => {
        getSelection().selectAllChildren(once);
        button.textContent = 'Selected: press Ctrl-C';
      },
    );
  });
  once.after(' ', button);
}

/* A PDF is drawn in a frame that may do nothing else; the file is handed over to it. */
for (const frame of document.querySelectorAll('iframe[data-pdf]')) {
  let isAsked = false;
  addEventListener('message', ({ source, data }) => {
    if (source !== frame.contentWindow || data !== 'ready' || isAsked) return;
    isAsked = true;
    void fetch(frame.dataset.pdf)
      .then((answer) => (answer.ok ? answer.arrayBuffer() : new ArrayBuffer(0)))
      .catch(() => new ArrayBuffer(0))
      .then((bytes) => frame.contentWindow.postMessage(bytes, '*'));
  });
  frame.contentWindow?.postMessage('ask', '*');
}

/* A form is sent once. */
document.addEventListener('submit', (event) => {
  if (event.target.method !== 'post') return;
  if (event.target.dataset.sent === 'yes') event.preventDefault();
  event.target.dataset.sent = 'yes';
  event.submitter?.setAttribute('aria-busy', 'true');
});
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
  for (const button of document.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy');
});

/* The map of a subnet: which block is where one points, and the way into it. */
function placeOnCurve(side, column, row) {
  let [x, y, place] = [column, row, 0];
  for (let size = side / 2; size >= 1; size /= 2) {
    const [right, up] = [x & size ? 1 : 0, y & size ? 1 : 0];
    place += size * size * ((3 * right) ^ up);
    if (up === 1) continue;
    if (right === 1) [x, y] = [side - 1 - x, side - 1 - y];
    [x, y] = [y, x];
  }
  return place;
}

/* The browser itself writes a number as an address, in the shortest form. */
function addressText(version, value) {
  if (version === '4') return new URL(`http://${value}`).hostname;
  const groups = value.toString(16).padStart(32, '0').match(/.{4}/g);
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

function blockAt({ clientX, clientY, target }) {
  const map = target.closest?.('.map svg');
  if (!map?.dataset.first) return undefined;
  const { version, first, length, columns, rows, left, into } = map.dataset;
  const box = map.getBoundingClientRect();
  const { width, height } = map.viewBox.baseVal;
  const x = Math.floor((((clientX - box.left) / box.width) * width - left) / ((width - left) / columns));
  const y = Math.floor((((clientY - box.top) / box.height) * height) / (height / rows));
  if (x < 0 || y < 0 || x >= columns || y >= rows) return undefined;
  const place = into === undefined ? y * columns + x : placeOnCurve(Number(columns), y, x);
  const bits = version === '4' ? 32 : 128;
  const address = addressText(version, BigInt(first) + (BigInt(place) << BigInt(bits - length)));
  const isAddress = Number(length) === bits;
  return { text: isAddress ? address : `${address}/${length}`, isAddress, into };
}

document.addEventListener('pointermove', (event) => {
  const output = document.getElementById('pointed-at');
  if (output === null) return;
  const state = document.elementsFromPoint(event.clientX, event.clientY).find(({ dataset }) => dataset.state);
  const text = blockAt(event)?.text ?? '';
  output.textContent = state === undefined || text === '' ? text : `${text}: ${state.dataset.state}`;
});
document.addEventListener('click', (event) => {
  const block = blockAt(event);
  if (block?.into === undefined || block.isAddress || event.detail === 0) return;
  event.preventDefault();
  const address = new URL(block.into, location);
  address.searchParams.set('block', block.text);
  location.assign(address);
});

/* Keys: what they press says so in the page, as `a` or `g c`; j and k go through rows where they press nothing, ? tells. */
let isAfterG = false;

function moveInRows(step) {
  const rows = [...document.querySelectorAll('main tbody tr')].filter((row) => row.querySelector('a, button'));
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  rows[Math.min(rows.length - 1, Math.max(0, at + step))]?.querySelector('a, button').focus();
}

function showKeys() {
  const told = [];
  if (document.querySelector('[data-press=j], [data-press=k]') === null)
    told.push(make('dt', {}, 'j k'), make('dd', {}, 'Next and previous row'));
  for (const pressed of document.querySelectorAll('[data-press]')) {
    const meaning = pressed.textContent || (pressed.labels?.[0]?.textContent ?? '');
    told.push(make('dt', {}, pressed.dataset.press), make('dd', {}, meaning));
  }
  const box = make('dialog', { id: 'keys', ariaLabel: 'Keys', onclose: () => box.remove() }, make('dl', {}, ...told));
  document.body.append(box);
  box.showModal();
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, textarea, select')) return;
  const key = isAfterG ? `g ${event.key}` : event.key;
  isAfterG = key === 'g';
  const pressed = document.querySelector(`[data-press="${CSS.escape(key)}"]`);
  if (pressed !== null) {
    event.preventDefault();
    pressed.focus();
    if (pressed.tagName !== 'INPUT') pressed.click();
  } else if (key === 'j' || key === 'k') moveInRows(key === 'j' ? 1 : -1);
  else if (key === '?' && document.getElementById('keys') === null) showKeys();
});
