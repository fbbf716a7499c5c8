// usage: node --import tsx bench/http/load.ts URL TOKEN CONNECTIONS SECONDS KIND
// A load of POSTs from a process of its own over keep-alive connections; prints {requestsPerSecond, p50, p99, errors} as JSON.
// On bare sockets: a client library takes about as long for a request as the server, and would compete with it for the processors.
import { connect } from 'node:net';

const [url = '', token = '', connections = '1', seconds = '2', kind = 'disable'] = process.argv.slice(2);
const { hostname, port, pathname } = new URL(url);
const latencies: number[] = [];
let errors = 0;
let counter = Math.floor(Math.random() * 2 ** 24);
const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: keep-alive\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\ncontent-length: `;
const warmUntil = performance.now() + 500;
const until = warmUntil + Number(seconds) * 1000;
await Promise.all(Array.from({ length: Number(connections) }, oneConnection));
latencies.sort((a, b) => a - b);
const at = (share: number): number =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
console.log(
  JSON.stringify({ requestsPerSecond: latencies.length / Number(seconds), p50: at(0.5), p99: at(0.99), errors }),
);

function oneConnection(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1');
    let started = 0;
    let received = '';
    const send = (): void => {
      started = performance.now();
      if (started >= until) {
        socket.end();
        return resolve();
      }
      const body = bodyText();
      socket.write(`${head}${body.length}\r\n\r\n${body}`, 'latin1');
    };
    socket
      .on('connect', send)
      .on('error', reject)
      .on('close', () => reject(new Error('the server closed a connection')))
      .on('data', (text: string) => {
        received += text;
        const end = received.indexOf('\r\n\r\n');
        if (end < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
        if (received.length < end + 4 + length) return;
        const status = received.slice(9, 12);
        if (status !== '200' && status !== '201') errors += 1;
        received = '';
        if (started >= warmUntil) latencies.push(performance.now() - started);
        send();
      });
  });
}

/** Random-looking distinct addresses of 10.0.0.0/8: the multiplier is odd, so that it permutes all 2^24 of them. */
function bodyText(): string {
  counter = (counter + 1) % 2 ** 24;
  const host = Math.imul(counter, 0x9e3779b1) & 0xffffff;
  const ip = `10.${host >>> 16}.${(host >>> 8) & 255}.${host & 255}`;
  return JSON.stringify(kind === 'plain' ? { addresses: [ip], reason: 'attack', actor: 'bench' } : { ip });
}
