import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';

type Answer = Readonly<{ headers: OutgoingHttpHeaders; body: Buffer; trailers: OutgoingHttpHeaders }>;

/** Before each message of gRPC: whether it is packed, and its length. */
const PREFIX_BYTES = 5;
/** A shorter answer may be another one next time; so long a one is a read of what does not change. */
const REMEMBERED_FROM_BYTES = 200_000;

/**
 * Passes calls on to a gRPC server on this machine, and gives a long answer that it gave before at once, from memory: then what reading costs
 * the client is measured, and not the server. Gives its port.
 */
export async function startRememberingProxy(serverPort: number): Promise<number> {
  const session = connect(`http://127.0.0.1:${serverPort}`);
  const remembered = new Map<string, Answer>();
  const proxy = createServer();
  proxy.on('stream', (stream, headers) => {
    // A client that has read enough ends its call.
    stream.on('error', () => undefined);
    void answer(stream, headers);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  return typeof address === 'object' && address !== null ? address.port : 0;

  async function answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const question = await allOf(stream);
    const key = `${headers[':path']} ${question.toString('base64')}`;
    const known = remembered.get(key);
    if (known !== undefined) {
      give(stream, known);
      return;
    }
    const given = await passOn(session, headers, question, stream);
    if (given.body.length >= REMEMBERED_FROM_BYTES) remembered.set(key, given);
  }
}

/** The answer goes to who asked as it comes. */
async function passOn(
  session: ClientHttp2Session,
  asked: IncomingHttpHeaders,
  question: Buffer,
  stream: ServerHttp2Stream,
): Promise<Answer> {
  const request = session.request({ ...asked });
  const responded = once(request, 'response');
  let trailers: OutgoingHttpHeaders = {};
  request.on('trailers', (given: IncomingHttpHeaders) => void (trailers = { ...given }));
  request.end(question);
  const [answered] = await responded;
  const headers: OutgoingHttpHeaders = { ...answered };
  const chunks: Buffer[] = [];
  // A call that ends at once has its status there already.
  const isOver = 'grpc-status' in headers;
  stream.respond(headers, isOver ? { endStream: true } : { waitForTrailers: true });
  if (isOver) return { headers, body: Buffer.alloc(0), trailers };
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  for await (const chunk of request) {
    chunks.push(chunk);
    stream.write(chunk);
  }
  stream.end();
  return { headers, body: Buffer.concat(chunks), trailers };
}

function give(stream: ServerHttp2Stream, { headers, body, trailers }: Answer): void {
  if (stream.destroyed) return;
  stream.respond(headers, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  for (const message of messagesIn(body)) stream.write(message);
  stream.end();
}

/** As a server writes them, each in a frame of its own. */
function* messagesIn(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length;) {
    const end = at + PREFIX_BYTES + body.readUInt32BE(at + 1);
    yield body.subarray(at, end);
    at = end;
  }
}

async function allOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
