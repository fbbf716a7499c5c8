import { existsSync, readFileSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { OWN_PASSWORD } from '../http/pages-client.ts';

const PROGRAM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));

/** Whether there is a browser to try pages in (Debian: `chromium`). */
export const hasChromium = PROGRAM !== undefined;

/** How a page is looked at. */
export type Look = Readonly<{ scheme: 'light' | 'dark'; width: number; height: number }>;

/** Screens as people have them: a laptop's and a telephone's, by day and by night. */
export const LOOKS: readonly Look[] = [
  { scheme: 'light', width: 1366, height: 860 },
  { scheme: 'dark', width: 1366, height: 860 },
  { scheme: 'light', width: 400, height: 860 },
  { scheme: 'dark', width: 400, height: 860 },
];

/** Starts the browser of this machine. */
export async function openChromium(): Promise<Browser> {
  // What runs as root in a container can't have the browser's own sandbox.
  return chromium.launch({ args: ['--no-sandbox'], ...(PROGRAM === undefined ? {} : { executablePath: PROGRAM }) });
}

/** What a browser has complained about, and what it has asked others for. */
export type Complaints = Readonly<{ all: () => readonly string[] }>;

/** Watches pages of a context: errors and warnings of the console, exceptions, and requests to other hosts than `base`. */
export function watchComplaints(context: BrowserContext, base: string): Complaints {
  const all: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') all.push(`${message.type()}: ${message.text()}`);
  });
  context.on('weberror', (error) => all.push(`exception: ${error.error().message}`));
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && origin !== base) all.push(`a request to ${request.url()}`);
  });
  return { all: () => all };
}

/** Logs in with the form; a password that must be changed is changed to `OWN_PASSWORD`. */
export async function logIn(page: Page, base: string, name: string, password: string): Promise<void> {
  await page.goto(`${base}/admin/login`);
  await page.fill('#name', name);
  await page.fill('#password', password);
  await send(page);
  if (!page.url().endsWith('/admin/account/password')) return;
  await page.fill('#password', OWN_PASSWORD);
  await page.fill('#again', OWN_PASSWORD);
  await send(page);
}

/** Sends the form of a page by its first button, and waits for the page that follows. */
export async function send(page: Page, button = 'main form.form button'): Promise<void> {
  await Promise.all([page.waitForEvent('framenavigated'), page.click(button)]);
  await page.waitForLoadState();
}

const AXE = hasChromium ? readFileSync('node_modules/axe-core/axe.min.js', 'utf8') : '';

/** What axe finds wrong with a page that was opened in a context with `bypassCSP`. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const found: unknown = await page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`);
  assert.ok(Array.isArray(found));
  return found.map(String);
}
