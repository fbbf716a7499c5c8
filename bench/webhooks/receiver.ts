// A receiver in a process of its own: answers every POST with 204. Says its port first, and to whoever asks how many have come.
import { createServer } from 'node:http';

let received = 0;
const server = createServer((request, response) => {
  received += 1;
  request.resume().on('end', () => response.writeHead(204).end());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address !== 'string') console.log(address.port);
});
process.on('disconnect', () => process.exit(0));
process.on('message', () => process.send?.(received));
