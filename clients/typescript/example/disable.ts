// Takes an address out of service for four hours, waits until all routers have it, and hears of it by webhook.
// usage: EDGEWARD_URL=… EDGEWARD_TOKEN=… EDGEWARD_WEBHOOK_SECRET=whsec_… node dist/example/disable.js ADDRESS PORT
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { EdgewardError, openEdgeward, parseExactly, verifyWebhook, waitUntilDeployed } from '../src/index.ts';
import type { Subnets } from '../src/index.ts';

const { EDGEWARD_URL = 'http://127.0.0.1:8080', EDGEWARD_TOKEN = '', EDGEWARD_WEBHOOK_SECRET = '' } = process.env;
const [address = '203.0.113.7', port = '8090'] = process.argv.slice(2);

const receiver = createServer((request, response) => {
  void receive(request).then((status) => response.writeHead(status).end());
}).listen(Number(port));

/** Gives the status to answer with. */
async function receive(request: IncomingMessage): Promise<number> {
  try {
    const told = verifyWebhook(EDGEWARD_WEBHOOK_SECRET, request.headers, await buffer(request));
    if (told.event === 'commit_completed') {
      console.log(`told: ${told.prefix_list_name} in ${told.region}: ${told.status}`);
      receiver.close();
    }
    return 204;
  } catch {
    return 400;
  }
}

const edgeward = openEdgeward(EDGEWARD_URL, EDGEWARD_TOKEN);

const { error, response } = await edgeward.POST('/api/v1/ips/disable', {
  body: { ip: address, until: 'PT4H', reason: 'under attack', ticket: 'NET-4711' },
});
if (error !== undefined) throw new EdgewardError(response, error.message);

const listed = await edgeward.GET('/api/v1/subnets', { parseAs: 'text' });
if (listed.data === undefined) throw new EdgewardError(listed.response, listed.error.message);
for (const { id, cidr, ip_counts } of parseExactly<Subnets>(listed.data).data) {
  // A /64 has 18446744073709551616 addresses, and that is what is printed.
  console.log(`${cidr}: ${ip_counts.disabled} of ${ip_counts.total} disabled`);
  if (ip_counts.pending > 0) await waitUntilDeployed(edgeward, Number(id), { signal: AbortSignal.timeout(600_000) });
}
console.log(`${address} is disabled on all routers`);
