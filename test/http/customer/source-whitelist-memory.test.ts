import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { pdf } from '../../support/http/multipart-form.ts';
import { submitForm } from './source-whitelist-examples.ts';

const AT_ONCE = 50;
const MAX_BYTES = 5 * 1024 * 1024;
const ALLOWED_MEGABYTES = 20;

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [], ['--allow-source-whitelist', '--whitelist-limit', '10000']);

test.after(() => edgeward.remove());

/** Resident memory of a process, in MB. */
function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

test(`${AT_ONCE} uploads of the largest size at once take no more than ${ALLOWED_MEGABYTES} MB more memory`, async () => {
  const { child, listening } = await edgeward.spawn(['serve']);
  const api = openApiClient(await listening(), acme.token);
  const pid = child.pid ?? 0;
  let address = 0;
  const upload = async (): Promise<void> => {
    const ip = `1.1.${(address += 1) >> 8}.${address & 255}`;
    const { status, text } = await submitForm(api, { ip, evidence: pdf(ip, MAX_BYTES) });
    assert.is(status, 201, text);
  };
  // What a server that has served some uploads has: code that is compiled, a heap that has grown to its usual size.
  for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 4 }, upload));
  const before = residentMegabytes(pid);
  let most = before;
  const uploads = Promise.all(Array.from({ length: AT_ONCE }, upload));
  do most = Math.max(most, residentMegabytes(pid));
  while (await Promise.race([uploads.then(() => false), pause(5, true)]));
  const grown = most - before;
  console.log(`${before.toFixed(0)} MB before, ${most.toFixed(0)} MB at most: ${grown.toFixed(1)} MB more`);
  assert.ok(grown <= ALLOWED_MEGABYTES, `${grown.toFixed(1)} MB more`);
  await api.close();
  child.kill('SIGTERM');
});

test.run();
