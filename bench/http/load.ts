// usage: node --import tsx bench/http/load.ts URL TOKEN CONNECTIONS SECONDS KIND
// A load of POSTs from a process of its own over keep-alive connections; prints {requestsPerSecond, p50, p99, errors} as JSON.
import { Client } from 'undici';

const [url = '', token = '', connections = '1', seconds = '2', kind = 'disable'] = process.argv.slice(2);
const { origin, pathname } = new URL(url);
const latencies: number[] = [];
let errors = 0;
let counter = Math.floor(Math.random() * 2 ** 24);

const warmUntil = performance.now() + 500;
const until = warmUntil + Number(seconds) * 1000;
await Promise.all(Array.from({ length: Number(connections) }, oneConnection));
latencies.sort((a, b) => a - b);
const at = (share: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
console.log(
  JSON.stringify({ requestsPerSecond: latencies.length / Number(seconds), p50: at(0.5), p99: at(0.99), errors }),
);

async function oneConnection(): Promise<void> {
  const client = new Client(origin, { pipelining: 1 });
  for (;;) {
    const started = performance.now();
    if (started >= until) break;
    const { statusCode, body } = await client.request({
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: bodyText(),
    });
    await body.dump();
    if (statusCode !== 200 && statusCode !== 201) errors += 1;
    if (started >= warmUntil) latencies.push(performance.now() - started);
  }
  await client.close();
}

/** Random-looking distinct addresses of 10.0.0.0/8: the multiplier is odd, so that it permutes all 2^24 of them. */
function bodyText(): string {
  counter = (counter + 1) % 2 ** 24;
  const host = Math.imul(counter, 0x9e3779b1) & 0xffffff;
  const ip = `10.${host >>> 16}.${(host >>> 8) & 255}.${host & 255}`;
  return JSON.stringify(kind === 'plain' ? { addresses: [ip], reason: 'attack', actor: 'bench' } : { ip });
}
