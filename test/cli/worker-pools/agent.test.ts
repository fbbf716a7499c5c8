import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runAgent } from '../../../src/cli/worker-pools/agent.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A service that gives one piece of work, and answers how it ended with a status. */
async function serviceThatAnswers(finishStatus: number) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace('/api/worker/v1', '').split('?')[0] ?? '';
    asked.push(path);
    const json = (body: object): void => void response.writeHead(200).end(JSON.stringify(body));
    if (path === '/activate') return json({ worker_token: 'token-1' });
    if (path === '/finish') return void response.writeHead(finishStatus).end();
    if (path !== '/take') return void response.writeHead(204).end();
    if (asked.filter((one) => one === '/take').length === 1) json({ id: 'w1', scope: 'builds', payload: {} });
    // The second one waits until the agent hangs up.
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const place = server.address();
  const port = typeof place === 'object' && place !== null ? place.port : 0;
  return { url: `http://127.0.0.1:${port}`, asked, server };
}

for (const status of [204, 404, 409, 413, 422]) {
  test(`when it is answered ${status} to how work ended, the agent takes the next; its token is kept`, async () => {
    const { path, remove } = await temporaryFolder();
    const tokenFile = join(path, 'activation-token');
    writeFileSync(tokenFile, 'activation\n');
    const { url, asked, server } = await serviceThatAnswers(status);
    const stop = new AbortController();
    const lines: string[] = [];
    const running = runAgent({
      server: url,
      tokenFile,
      run: async () => ({ outcome: 'succeeded' }),
      say: (line) => void lines.push(line),
      stop: stop.signal,
    });
    while (asked.filter((one) => one === '/take').length < 2) await once(server, 'request');
    stop.abort();
    await running;
    assert.is(asked.filter((one) => one === '/finish').length, 1);
    assert.is(readFileSync(`${tokenFile}.worker`, 'utf8'), 'token-1\n');
    assert.is(
      lines.some((line) => line.includes(`refused with HTTP ${status}`)),
      status === 413 || status === 422,
    );
    server.closeAllConnections();
    server.close();
    await remove();
  });
}

test.run();
