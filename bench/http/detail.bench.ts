// The detail of a 65,536-address subnet, against building the objects and JSON.stringify in a plain server.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'undici';
import { startEdgeward } from './edgeward.ts';

const ROUNDS = 15;
if (process.argv.includes('--baseline')) serveBaseline();
else await compare();

async function compare(): Promise<void> {
  const edgeward = await startEdgeward(['10.0.0.0/16']);
  const headers = { authorization: `Bearer ${edgeward.token}` };
  // Runs of 8 disabled, 8 enabled.
  for (let block = 0; block < 256; block += 1) {
    const ips = Array.from({ length: 128 }, (_, at) => `10.0.${block}.${(at >> 3) * 16 + (at & 7)}`);
    const body = JSON.stringify({ action: 'disable', ips });
    const answer = await request(`${edgeward.url}/api/v1/ips/bulk`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    await answer.body.dump();
  }
  const baseline = fork(new URL(import.meta.url).pathname, ['--baseline'], { execArgv: ['--import', 'tsx'] });
  const [url] = await once(baseline, 'message');
  const ours = `${edgeward.url}/api/v1/subnets/1`;
  const pairs: { ours: Timing; theirs: Timing }[] = [];
  const before = residentMegabytes(edgeward.child.pid);
  const baselineBefore = residentMegabytes(baseline.pid);
  let peak = before;
  for (let round = 0; round < ROUNDS; round += 1) {
    const theirs = time(String(url), {});
    pairs.push({ theirs, ours: time(ours, headers) });
    peak = Math.max(peak, residentMegabytes(edgeward.child.pid));
  }
  const baselinePeak = residentMegabytes(baseline.pid);
  const warm = pairs.slice(3);
  const ratio = median(warm.map((pair) => pair.ours.total / pair.theirs.total));
  const [total, theirTotal] = [
    median(warm.map((pair) => pair.ours.total)),
    median(warm.map((pair) => pair.theirs.total)),
  ];
  const first = median(warm.map((pair) => pair.ours.firstByte / pair.ours.total));
  console.log(
    `detail of 65,536 addresses: ours ${total.toFixed(1)} ms, baseline ${theirTotal.toFixed(1)} ms, ratio ${ratio.toFixed(2)} (target <= 0.7)`,
  );
  console.log(`detail first byte: ours ${(first * 100).toFixed(1)} % of its time (target <= 10 %)`);
  console.log(
    `detail memory: ours +${(peak - before).toFixed(0)} MiB, baseline +${(baselinePeak - baselineBefore).toFixed(0)} MiB (target <= 25 MiB)`,
  );
  baseline.kill();
  await edgeward.stop();
}

type Timing = { total: number; firstByte: number };

/** curl measures from outside, so that this process's own work does not count. */
function time(url: string, headers: Record<string, string>): Timing {
  const args = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const text = execFileSync(
    'curl',
    ['-s', '-o', '/dev/null', '-w', '%{time_total} %{time_starttransfer}', ...args, url],
    { encoding: 'utf8' },
  );
  const [total = 0, firstByte = 0] = text.split(' ').map((seconds) => Number(seconds) * 1000);
  return { total, firstByte };
}

function residentMegabytes(pid: number | undefined): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

function serveBaseline(): void {
  const disabled = new Uint8Array(65_536).map((_, at) => ((at & 15) < 8 ? 1 : 0));
  const server = createServer((_request, response) => {
    const ips = Array.from(disabled, (isDisabled, at) => ({
      address: `10.0.${at >> 8}.${at & 255}`,
      status: isDisabled === 1 ? 'disabled' : 'enabled',
      pending_change: isDisabled === 1,
    }));
    const body = JSON.stringify({
      data: { id: 1, cidr: '10.0.0.0/16', ip_version: 4, asn: 64500, ips },
      meta: { pending_changes: 32_768 },
    });
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
