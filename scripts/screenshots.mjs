// Makes the pictures of the README from the demo, in Chromium (Debian: `chromium`), so that they show the pages as they are.
// usage: npm run build && node scripts/screenshots.mjs
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';

const FOLDER = 'docs/images';
const PASSWORD = 'correct horse battery staple';
const DEMO_SECONDS_MAX = 120;
/** Twice the demo's quiet period: what was changed before is on the routers. */
const QUIET_MILLISECONDS = 5_000;
const TRIES_MAX = 5;

const demo = spawn(process.execPath, ['dist/main.js', 'demo'], { stdio: ['ignore', 'pipe', 'inherit'] });
let browser;
let customerToken = '';
let nextRow = 64;
try {
  const { base, password, token } = await demoIsUp();
  customerToken = token;
  await furnish(base, token);
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));
  // What runs as root in a container can't have the browser's own sandbox.
  browser = await chromium.launch({ args: ['--no-sandbox'], executablePath });
  const page = await browser.newPage({ viewport: { width: 1366, height: 760 }, colorScheme: 'light' });
  await logIn(page, base, password);
  await take(page, `${base}/admin/subnets/1`, '.legend >> text=to be disabled', 'subnet-map.png');
  await take(page, `${base}/admin/`, '#work table', 'overview.png');
} finally {
  await browser?.close();
  demo.kill('SIGINT');
}

/** What the demo prints when it stays up: where it is, the account's password and the customer's token. */
async function demoIsUp() {
  let printed = '';
  demo.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
  for (let waited = 0; waited < DEMO_SECONDS_MAX; waited += 0.1) {
    const [, base, password] = /for administrators: (\S+)\/admin\/ \(name: ada, password: (\S+)\)/.exec(printed) ?? [];
    const [, token] = /Bearer (edw_[\w-]+)/.exec(printed) ?? [];
    if (base !== undefined && token !== undefined) return { base, password, token };
    if (demo.exitCode !== null) throw new Error(`the demo ended with ${demo.exitCode}`);
    await pause(100);
  }
  throw new Error(`the demo was not up within ${DEMO_SECONDS_MAX} s`);
}

/** More than the demo does by itself: what is disabled for long, and enabled again. */
async function furnish(base, token) {
  await change(base, token, '/ips/bulk', { action: 'disable', cidr: '203.0.113.32/27' });
  await change(base, token, '/ips/bulk', { action: 'disable', cidr: '203.0.113.200/29' });
  await change(base, token, '/ips/enable', { ip: '203.0.113.40' });
  await pause(QUIET_MILLISECONDS);
}

async function change(base, token, path, body) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${base}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
}

async function logIn(page, base, password) {
  await page.goto(`${base}/admin/login`);
  await page.fill('#name', 'ada');
  await page.fill('#password', password);
  await Promise.all([page.waitForURL(/\/account\/password$/), page.click('main form button')]);
  await page.fill('#password', PASSWORD);
  await page.fill('#again', PASSWORD);
  await Promise.all([page.waitForURL(/\/admin\/$/), page.click('main form.form button')]);
}

/** Pages are taken while a change is on its way, which is so for two seconds: the next one follows where that was too short. */
async function take(page, url, onItsWay, name) {
  const { origin } = new URL(url);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const range = { start: `203.0.113.${nextRow}`, end: `203.0.113.${nextRow + 11}` };
    nextRow += 16;
    await change(origin, customerToken, '/ips/bulk', { action: 'disable', range });
    await page.goto(url);
    await page.waitForSelector('#live:has-text("live")');
    if ((await page.locator(onItsWay).count()) === 0) continue;
    await page.screenshot({ path: `${FOLDER}/${name}` });
    console.log(`${FOLDER}/${name}`);
    return;
  }
  throw new Error(`${name}: no change was seen on its way in ${TRIES_MAX} tries`);
}
