// Resident memory of a server with 1,000 customers × 4 subnets of /20, half of each disabled in runs, after each customer has read its subnets.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { freePort, ready } from '../http/edgeward.ts';
import { firstAddress, ipv4, tokenOf, writeLog } from './event-log.ts';

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;
const CUSTOMERS = 1_000;
const SUBNETS = 4;
const RUN = 64;

const directory = mkdtempSync(join(tmpdir(), 'edgeward-memory-'));
const shape = {
  customers: CUSTOMERS,
  subnetsEach: SUBNETS,
  subnetLength: 20,
  events: 1 + CUSTOMERS * (2 + 2 * SUBNETS),
};
await writeLog(directory, shape, (customerId, turn) => {
  const first = firstAddress((customerId - 1) * SUBNETS + turn + 1, 20);
  const ranges = Array.from({ length: 4096 / RUN / 2 }, (_, at) => first + at * RUN * 2);
  return {
    type: 'AddressesDisabled',
    data: { regionId: 1, ranges: ranges.map((from) => `${ipv4(from)}-${ipv4(from + RUN - 1)}`) },
  };
});
const port = await freePort();
const child = spawn(process.execPath, [MAIN, 'serve'], {
  env: { ...process.env, DATA_DIR: directory, PORT: String(port), QUIET_PERIOD: 'PT1H', LOG_LEVEL: 'error' },
  stdio: ['ignore', 'inherit', 'inherit'],
});
try {
  await ready(`http://127.0.0.1:${port}`);
  for (let customerId = 1; customerId <= CUSTOMERS; customerId += 1) {
    const answer = await request(`http://127.0.0.1:${port}/api/v1/subnets`, {
      headers: { authorization: `Bearer ${tokenOf(customerId)}` },
    });
    if (answer.statusCode !== 200) throw new Error(`customer ${customerId}: ${answer.statusCode}`);
    await answer.body.dump();
  }
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
  console.log(
    `memory of a server with ${CUSTOMERS} customers × ${SUBNETS} subnets of /20, half disabled in runs of ${RUN}: ours ${(Number(kilobytes) / 1024).toFixed(0)} MiB (target < 250 MB)`,
  );
} finally {
  child.kill('SIGTERM');
  await once(child, 'exit');
  rmSync(directory, { recursive: true, force: true });
}
