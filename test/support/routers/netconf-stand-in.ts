import type { Duplex } from 'node:stream';
import { createFrameReader, frame, type Framing } from '../../../src/adapters/routers/netconf/framing.ts';
import {
  childNamed,
  createXmlReader,
  elementsAt,
  renderXml,
  textOf,
  type XmlElement,
} from '../../../src/adapters/xml.ts';
import { createOpenRouter } from '../../../src/adapters/routers/open-router.ts';
import type { RouterDriver } from '../../../src/ports/routers.ts';
import { routerContext } from './router-context.ts';
import { startSshServer, type TestSshServer } from './ssh-server.ts';

/**
 * A NETCONF server inside the test, for what the real one lacks: servers that know NETCONF 1.0 only, Junos' way of greeting,
 * warnings, no confirmed commit, and answers that are wrong, late or missing. It keeps Junos prefix-lists, and is no proof of
 * anything that the real one can show.
 */
export type NetconfStandIn = Readonly<{
  /** The options that make a driver find it and log in. */
  options: Readonly<Record<string, string>>;
  /** The operations that have come, by name; a confirmed commit is `commit confirmed`. */
  operations: () => readonly string[];
  /** What a list holds; undefined for none. */
  running: (list: string) => readonly string[] | undefined;
  /** How many sessions were opened. */
  sessions: () => number;
  stop: () => Promise<void>;
}>;

/** What an operation is answered with: the content of its reply, a whole answer as it goes over the wire, or nothing. */
export type Answer = Readonly<{ content: string } | { raw: string } | 'silence' | 'cut'>;

export type StandInBehaviour = Readonly<{
  capabilities: readonly string[];
  /** Answers an operation in place of the server; undefined leaves it to the server. `number` counts those of that name from 1. */
  answer?: (operation: string, number: number) => Answer | undefined;
  /** What stands in a reply before what the server answers. */
  remark?: (operation: string) => string;
  /** The hello, in place of the usual one. */
  hello?: string;
}>;

export const NETCONF_1_0 = 'urn:ietf:params:netconf:base:1.0';
export const NETCONF_1_1 = 'urn:ietf:params:netconf:base:1.1';
export const CANDIDATE = 'urn:ietf:params:netconf:capability:candidate:1.0';
export const CONFIRMED_1_0 = 'urn:ietf:params:netconf:capability:confirmed-commit:1.0';
export const CONFIRMED_1_1 = 'urn:ietf:params:netconf:capability:confirmed-commit:1.1';
export const VALIDATE = 'urn:ietf:params:netconf:capability:validate:1.1';
export const STARTUP = 'urn:ietf:params:netconf:capability:startup:1.0';

const PASSWORD = 'correct horse';
const OK: Answer = { content: '<ok/>' };

type Lists = ReadonlyMap<string, readonly string[]>;
type Store = { running: Lists; candidate: Lists; before: Lists | undefined };

export async function startNetconfStandIn(behaviour: StandInBehaviour): Promise<NetconfStandIn> {
  const store: Store = { running: new Map(), candidate: new Map(), before: undefined };
  const operations: string[] = [];
  let sessions = 0;
  const server: TestSshServer = await startSshServer({
    authenticate: (attempt) => {
      if (attempt.method === 'password' && attempt.password === PASSWORD) attempt.accept();
      else attempt.reject(['password']);
    },
    subsystem: (_name, channel) => {
      sessions += 1;
      serveNetconf(channel, behaviour, (operation) => {
        const name = nameOf(operation);
        operations.push(name);
        const number = operations.filter((other) => other === name).length;
        const given = behaviour.answer?.(name, number) ?? perform(store, operation);
        if (typeof given === 'string' || 'raw' in given) return given;
        return { content: `${behaviour.remark?.(name) ?? ''}${given.content}` };
      });
    },
  });
  return {
    options: {
      host: '127.0.0.1',
      port: String(server.port),
      user: 'edgeward',
      password: 'secret:router',
      host_key: server.hostKey,
    },
    operations: () => operations.filter((name) => name !== 'close-session'),
    running: (list) => store.running.get(list),
    sessions: () => sessions,
    stop: server.stop,
  };
}

/** A junos driver for a stand-in, with more options as given. */
export function openStandIn(standIn: NetconfStandIn, more: Readonly<Record<string, string>> = {}): RouterDriver {
  const open = createOpenRouter(routerContext({ router: PASSWORD }));
  return open({ name: 'core1', driver: 'junos', options: { ...standIn.options, ...more } });
}

/** Speaks NETCONF on a channel; `answerTo` says what operations are answered with. */
export function serveNetconf(
  channel: Duplex,
  { capabilities, hello }: Pick<StandInBehaviour, 'capabilities' | 'hello'>,
  answerTo: (operation: XmlElement) => Answer,
): void {
  let framing: Framing = 'end-of-message';
  let reader = createXmlReader();
  const answer = (rpc: XmlElement): void => {
    const [operation] = rpc.children;
    const id = rpc.attributes.find(({ name }) => name === 'message-id')?.value ?? '';
    if (operation === undefined) throw new Error('an rpc has an operation');
    const given = answerTo(operation);
    if (given === 'cut') channel.destroy();
    else if (given === 'silence') return;
    else if ('raw' in given) channel.write(frame(given.raw.replaceAll('MESSAGE-ID', id), framing));
    else channel.write(frame(`<rpc-reply xmlns="${NETCONF}" message-id="${id}">${given.content}</rpc-reply>`, framing));
    if (operation.name === 'close-session') channel.end();
  };
  const frames = createFrameReader(
    {
      bytes: (bytes) => reader.write(bytes),
      end: () => {
        const document = reader.end();
        reader = createXmlReader();
        if (document.name !== 'hello') return answer(document);
        const theirs = elementsAt(document, 'capabilities', 'capability').map(textOf);
        if (!theirs.includes(NETCONF_1_1) || !capabilities.includes(NETCONF_1_1)) return;
        framing = 'chunked';
        frames.use(framing);
      },
    },
    10_000_000,
  );
  channel.on('data', (bytes: Buffer) => frames.push(bytes));
  const texts = capabilities.map((uri) => `<capability>${uri}</capability>`).join('');
  const usual = `<hello xmlns="${NETCONF}"><capabilities>${texts}</capabilities><session-id>1</session-id></hello>`;
  channel.write(frame(hello ?? usual, framing));
}

const NETCONF = 'urn:ietf:params:xml:ns:netconf:base:1.0';

function nameOf(operation: XmlElement): string {
  return childNamed(operation, 'confirmed') === undefined ? operation.name : `${operation.name} confirmed`;
}

function perform(store: Store, operation: XmlElement): Answer {
  switch (nameOf(operation)) {
    case 'edit-config':
      store.candidate = edited(store.candidate, operation);
      return OK;
    case 'discard-changes':
      store.candidate = store.running;
      return OK;
    case 'commit confirmed':
      store.before = store.running;
      store.running = store.candidate;
      return OK;
    case 'commit':
      store.before = undefined;
      store.running = store.candidate;
      return OK;
    case 'cancel-commit': {
      if (store.before === undefined) return refusal('invalid-value', 'nothing waits');
      store.running = store.candidate = store.before;
      store.before = undefined;
      return OK;
    }
    case 'get-config':
      return shown(store, operation);
    case 'lock':
    case 'unlock':
    case 'validate':
    case 'copy-config':
    case 'close-session':
      return OK;
    default:
      return refusal('operation-not-supported', operation.name);
  }
}

/** An error as it stands in a reply. */
export function refusal(tag: string, message: string, severity = 'error'): Extract<Answer, { content: string }> {
  const texts = `<error-tag>${tag}</error-tag><error-severity>${severity}</error-severity><error-message>${message}</error-message>`;
  return { content: `<rpc-error><error-type>application</error-type>${texts}</rpc-error>` };
}

function edited(lists: Lists, operation: XmlElement): Lists {
  const [list] = elementsAt(operation, 'config', 'configuration', 'policy-options', 'prefix-list');
  const items = elementsAt(list, 'prefix-list-item').map((item) => textOf(childNamed(item, 'name')) ?? '');
  return new Map(lists).set(textOf(childNamed(list, 'name')) ?? '', items);
}

function shown({ running, candidate }: Store, operation: XmlElement): Answer {
  const [source] = childNamed(operation, 'source')?.children ?? [];
  const [filter] = elementsAt(operation, 'filter', 'configuration', 'policy-options', 'prefix-list', 'name').map(
    textOf,
  );
  const items = (source?.name === 'candidate' ? candidate : running).get(filter ?? '');
  if (filter === undefined || items === undefined) return { content: '<data/>' };
  const list = junos('prefix-list', [
    junos('name', [], filter),
    ...items.map((item) => junos('prefix-list-item', [junos('name', [], item)])),
  ]);
  return { content: `<data>${renderXml(junos('configuration', [junos('policy-options', [list])]))}</data>` };
}

function junos(name: string, children: readonly XmlElement[], text = ''): XmlElement {
  return { namespace: 'http://xml.juniper.net/xnm/1.1/xnm', name, attributes: [], children, text };
}
