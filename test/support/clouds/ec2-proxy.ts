import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createKeyedMutex } from '../../../src/concurrency/keyed-mutex.ts';
import { problemOfSignature } from './aws-signature.ts';
import { problemOfForm } from './ec2-checks.ts';
import type { Ec2Parameter, Moto } from './moto.ts';

/** What becomes of one call. `after`: EC2 does it first. */
export type Ec2Fault =
  | Readonly<{ kind: 'cut'; after: boolean }>
  | Readonly<{ kind: 'hang' }>
  /** EC2's error answer, nothing done. */
  | Readonly<{ kind: 'error'; status: number; code: string; message?: string }>
  /** An answer that is not EC2's. */
  | Readonly<{ kind: 'page' }>
  /** A fleet that answers 200 with these errors; with `instance` there is an instance beside them. */
  | Readonly<{ kind: 'fleet-errors'; codes: readonly string[]; instance: boolean }>;

/** EC2 as a client sees it: moto executes, this refuses what EC2 refuses, knows tokens, and fails where a test wants it to. */
export type Ec2Proxy = Readonly<{
  url: string;
  /** The next call of that action fails; several are used up in order. */
  fail: (action: string, ...faults: readonly Ec2Fault[]) => void;
  /** After `calls` calls, of which the last is done but not answered, the client is dead: nothing comes from it or goes to it any more. */
  dieAfter: (calls: number) => void;
  /** A new client lives; whether the old one had died. */
  revive: () => boolean;
  /** New instances are not shown by the next `reads` reads. */
  hideNew: (reads: number) => void;
  pageSize: (size: number) => void;
  /** Takes an instance away as a spot interruption does. */
  interrupt: (id: string) => Promise<void>;
  /** Every request that came in: its action and its form. */
  requests: () => readonly Readonly<{ action: string; form: URLSearchParams }>[];
  stop: () => Promise<void>;
}>;

export type Ec2Login = Readonly<{ accessKeyId: string; secretAccessKey: string; region: string }>;

type Answer = Readonly<{ status: number; text: string }>;

const SPOT_CODE = 'Server.SpotInstanceTermination';

export async function startEc2Proxy(
  moto: Moto,
  login: Ec2Login,
  parameters: ReadonlyMap<string, ReadonlyMap<string, Ec2Parameter>>,
): Promise<Ec2Proxy> {
  const planned = new Map<string, Ec2Fault[]>();
  const tokens = new Map<string, Readonly<{ hash: string; answer: Promise<Answer> }>>();
  const interrupted = new Set<string>();
  const ended = new Set<string>();
  const requests: { action: string; form: URLSearchParams }[] = [];
  const turns = createKeyedMutex();
  let [callsLeft, isDead, hiddenReads, page] = [Number.POSITIVE_INFINITY, false, 0, 0];

  const server = createServer((request, response) => {
    void handle(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (isDead) {
      request.socket.destroy();
      return;
    }
    callsLeft -= 1;
    const isLast = callsLeft === 0;
    const answer = await answerTo(request, body);
    if (isLast) isDead = true;
    if (answer === 'hang') return;
    if (isLast || answer === 'cut') {
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, { 'content-type': 'text/xml;charset=UTF-8' }).end(answer.text);
  }

  async function answerTo(request: IncomingMessage, body: string): Promise<Answer | 'hang' | 'cut'> {
    const form = new URLSearchParams(body);
    const action = form.get('Action') ?? '';
    const unsigned = problemOfSignature(request, body, login);
    if (unsigned !== undefined)
      return errorAnswer(401, unsigned, 'AWS was not able to validate the provided access credentials');
    requests.push({ action, form });
    const problem = problemOfForm(action, form, parameters.get(action));
    if (problem !== undefined) return errorAnswer(400, problem.code, problem.message);
    const [fault] = planned.get(action)?.splice(0, 1) ?? [];
    if (fault?.kind === 'hang') return 'hang';
    if (fault?.kind === 'page') return { status: 502, text: '<html><body>Bad Gateway<br></body></html>' };
    if (fault?.kind === 'error') return errorAnswer(fault.status, fault.code, fault.message ?? 'as the test wants it');
    if (fault?.kind === 'fleet-errors')
      return fleetErrors(fault.codes, fault.instance ? await execute(request, action, form) : undefined);
    if (fault?.kind === 'cut' && !fault.after) return 'cut';
    const answer = await execute(request, action, form);
    return fault?.kind === 'cut' ? 'cut' : answer;
  }

  async function execute(request: IncomingMessage, action: string, form: URLSearchParams): Promise<Answer> {
    if (form.get('DryRun') === 'true')
      return errorAnswer(412, 'DryRunOperation', 'Request would have succeeded, but DryRun flag is set.');
    const token = form.get('ClientToken');
    const hash = createHash('sha256').update(form.toString()).digest('hex');
    const known = token === null ? undefined : tokens.get(token);
    if (known !== undefined) return replay({ hash: known.hash, answer: await known.answer }, hash);
    if (action === 'DescribeInstances' && hiddenReads > 0) {
      hiddenReads -= 1;
      const id = form.get('InstanceId.1');
      return id === null
        ? NO_INSTANCES
        : errorAnswer(400, 'InvalidInstanceID.NotFound', `The instance ID '${id}' does not exist`);
    }
    const answering = forward(request, action, form);
    // Whoever comes with the same token meanwhile has the same answer.
    if (token !== null) tokens.set(token, { hash, answer: answering });
    const answer = await answering;
    if (token !== null && answer.status !== 200) tokens.delete(token);
    if (action === 'TerminateInstances' && answer.status === 200) for (const id of idsIn(answer.text)) ended.add(id);
    return answer;
  }

  function replay({ hash, answer }: Readonly<{ hash: string; answer: Answer }>, now: string): Answer {
    if (hash !== now)
      return errorAnswer(
        400,
        'IdempotentParameterMismatch',
        'The client token has been used before with other parameters',
      );
    if (idsIn(answer.text).some((id) => ended.has(id)))
      return errorAnswer(400, 'IdempotentInstanceTerminated', 'The instance of that token is terminated');
    return answer;
  }

  /** moto looks and writes in two steps, so that two calls at once can make two templates of one name; EC2's calls are whole. */
  function forward(request: IncomingMessage, action: string, form: URLSearchParams): Promise<Answer> {
    return turns.take('moto', new AbortController().signal, () => askMoto(request, action, form));
  }

  async function askMoto(request: IncomingMessage, action: string, form: URLSearchParams): Promise<Answer> {
    const sent = forMoto(action, form, page);
    const answer = await fetch(moto.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
        authorization: request.headers.authorization ?? '',
      },
      body: sent.toString(),
    });
    const text = await answer.text();
    if (action === 'DeleteLaunchTemplate' && text.includes('MissingParameter'))
      return errorAnswer(400, 'InvalidLaunchTemplateName.NotFoundException', 'There is no such launch template');
    return { status: answer.status, text: [...interrupted].reduce(asInterrupted, text) };
  }

  return {
    url: `http://127.0.0.1:${address.port}/`,
    fail: (action, ...faults) => void planned.set(action, [...(planned.get(action) ?? []), ...faults]),
    dieAfter: (calls) => void (callsLeft = calls),
    revive: () => {
      const died = isDead;
      [callsLeft, isDead] = [Number.POSITIVE_INFINITY, false];
      return died;
    },
    hideNew: (reads) => void (hiddenReads = reads),
    pageSize: (size) => void (page = size),
    interrupt: async (id) => {
      const form = new URLSearchParams({ Action: 'TerminateInstances', Version: '2016-11-15', 'InstanceId.1': id });
      const credential = `AWS4-HMAC-SHA256 Credential=${login.accessKeyId}/20261128/${login.region}/ec2/aws4_request`;
      await fetch(moto.url, {
        method: 'POST',
        headers: { authorization: credential, 'content-type': 'application/x-www-form-urlencoded' },
        body: form.toString(),
      });
      interrupted.add(id);
      ended.add(id);
    },
    requests: () => requests,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const NO_INSTANCES: Answer = {
  status: 200,
  text: '<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId><reservationSet/></DescribeInstancesResponse>',
};

/** moto knows no requirements, and takes no less than five a page only because it does not look. */
function forMoto(action: string, form: URLSearchParams, page: number): URLSearchParams {
  const sent = new URLSearchParams(
    [...form].filter(([name]) => !name.startsWith('LaunchTemplateData.InstanceRequirements.')),
  );
  if (action === 'CreateLaunchTemplate' && !sent.has('LaunchTemplateData.InstanceType'))
    sent.set('LaunchTemplateData.InstanceType', 'm5.large');
  if (page > 0 && sent.has('MaxResults')) sent.set('MaxResults', String(page));
  return sent;
}

function fleetErrors(codes: readonly string[], done: Answer | undefined): Answer {
  const items = codes.map(
    (code) =>
      `<item><errorCode>${code}</errorCode><errorMessage>said by the test</errorMessage><lifecycle>spot</lifecycle></item>`,
  );
  const errorSet = `<errorSet>${items.join('')}</errorSet>`;
  if (done !== undefined)
    return {
      ...done,
      text: done.text
        .replace(/<errorSet\s*\/>|<errorSet>.*?<\/errorSet>/s, '')
        .replace('</CreateFleetResponse>', `${errorSet}</CreateFleetResponse>`),
    };
  const text = `<CreateFleetResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><fleetId>fleet-1</fleetId>${errorSet}<fleetInstanceSet/></CreateFleetResponse>`;
  return { status: 200, text };
}

function errorAnswer(status: number, code: string, message: string): Answer {
  return {
    status,
    text: `<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>r-1</RequestID></Response>`,
  };
}

function idsIn(text: string): readonly string[] {
  return [...new Set(text.match(/\bi-[0-9a-f]{8,17}\b/g))];
}

/** The reasons of one instance, as EC2 gives them for an interruption. */
function asInterrupted(text: string, id: string): string {
  const reason = `<stateReason><code>${SPOT_CODE}</code><message>${SPOT_CODE}: Spot instance termination</message></stateReason>`;
  return text
    .split('<instancesSet>')
    .map((part) =>
      part.includes(`<instanceId>${id}</instanceId>`) ? part.replace(/<stateReason>.*?<\/stateReason>/s, reason) : part,
    )
    .join('<instancesSet>');
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
