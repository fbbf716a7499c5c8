// What comes of answers that no edgeward has made: a proxy's. Prints a line each; edgeward's tests run it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EdgewardError, openEdgeward, waitUntilDeployed } from '../src/index.ts';

type Answer = Readonly<{ status: number; headers: Readonly<Record<string, string>>; body: string }>;

const NOTHING = { headers: { 'content-length': '0' }, body: '' };
const PAGE = { headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' };
const OWN = { headers: { 'content-type': 'application/json' }, body: '{"message":"not found."}' };

for (const answer of [
  { status: 502, ...NOTHING },
  { status: 502, ...PAGE },
  { status: 404, ...OWN },
]) {
  await asked(answer, async (url) => {
    const { data, error } = await openEdgeward(url, '').GET('/api/v1/subnets');
    say(`${data === undefined ? 'no data' : 'data'}: ${error?.message}`);
    await waitUntilDeployed(openEdgeward(url, ''), 1).catch((thrown: unknown) => {
      if (!(thrown instanceof EdgewardError)) throw thrown;
      say(`waiting: ${thrown.status} ${thrown.message}`);
    });
  });
}

const inADay = new Date(Date.now() + 86_400_000).toUTCString();
await asked({ status: 503, headers: { ...NOTHING.headers, 'retry-after': inADay }, body: '' }, async (url, count) => {
  const waiting = waitUntilDeployed(openEdgeward(url, ''), 1, { signal: AbortSignal.timeout(1_500) });
  await waiting.catch((thrown: Error) => say(`${thrown.name}, asked ${count()} time`));
});

/** Lets a server answer so, again and again. */
async function asked(
  { status, headers, body }: Answer,
  ask: (url: string, count: () => number) => Promise<void>,
): Promise<void> {
  let count = 0;
  const server = createServer((_request, response) => {
    count += 1;
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await ask(`http://127.0.0.1:${port}`, () => count);
  server.closeAllConnections();
  server.close();
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
