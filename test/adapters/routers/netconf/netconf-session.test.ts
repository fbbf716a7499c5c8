import { Duplex, PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createFrameReader, frame } from '../../../../src/adapters/routers/netconf/framing.ts';
import { type NetconfSession, openNetconfSession } from '../../../../src/adapters/routers/netconf/netconf-session.ts';
import { COMMIT, LOCK_CANDIDATE } from '../../../../src/adapters/routers/netconf/operations.ts';
import { RpcFailure } from '../../../../src/adapters/routers/netconf/rpc-error.ts';
import { systemClock } from '../../../../src/adapters/clock.ts';
import { fails, never } from '../../../contracts/router-driver.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import {
  type Answer,
  CANDIDATE,
  CONFIRMED_1_0,
  CONFIRMED_1_1,
  NETCONF_1_0,
  NETCONF_1_1,
  refusal,
  serveNetconf,
  STARTUP,
  type StandInBehaviour,
  VALIDATE,
} from '../../../support/routers/netconf-stand-in.ts';
import { waitUntil } from '../../../support/wait-until.ts';

const OK: Answer = { content: '<ok/>' };

/** Two ends of one channel. */
function channelPair(): Readonly<{ ours: Duplex; theirs: Duplex }> {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const ours = Duplex.from({ readable: back, writable: there });
  const theirs = Duplex.from({ readable: there, writable: back });
  for (const end of [ours, theirs]) end.on('error', () => undefined);
  return { ours, theirs };
}

async function sessionWith(
  answer: (operation: string) => Answer,
  behaviour: StandInBehaviour = { capabilities: [NETCONF_1_0, NETCONF_1_1] },
  clock = systemClock,
): Promise<Readonly<{ session: NetconfSession; theirs: Duplex }>> {
  const { ours, theirs } = channelPair();
  serveNetconf(theirs, behaviour, (operation) => answer(operation.name));
  const session = await openNetconfSession(ours, { clock, answerMilliseconds: 60_000 }, never);
  return { session, theirs };
}

for (const versions of [[NETCONF_1_0], [NETCONF_1_0, NETCONF_1_1], [NETCONF_1_1]]) {
  test(`speaks with a server of ${versions.join(' and ')}`, async () => {
    const { session } = await sessionWith((name) => ({ content: `<data>${name}</data>` }), { capabilities: versions });
    for (const operation of [LOCK_CANDIDATE, COMMIT]) {
      const { reply, warnings } = await session.call(operation, never);
      assert.is(reply.children[0]?.text, operation.name);
      assert.equal(warnings, []);
    }
    assert.is(session.answers(), 2);
    await session.close();
    assert.not(session.isOpen());
  });
}

test('what it sends first, and then in chunks', async () => {
  const { ours, theirs } = channelPair();
  const sent: string[] = [];
  let text = '';
  const reader = createFrameReader(
    {
      bytes: (bytes) => (text += Buffer.from(bytes).toString()),
      end: () => {
        sent.push(text);
        text = '';
        reader.use('chunked');
      },
    },
    10_000,
  );
  theirs.on('data', (bytes: Buffer) => reader.push(bytes));
  theirs.write(frame(hello(NETCONF_1_1), 'end-of-message'));
  const session = await openNetconfSession(ours, { clock: systemClock, answerMilliseconds: 60_000 }, never);
  const call = fails('unreachable', session.call(LOCK_CANDIDATE, never));
  await waitUntil('the operation has come', () => sent.length === 2);
  session.destroy();
  await call;
  assert.is(
    sent[0],
    '<?xml version="1.0" encoding="UTF-8"?><hello xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><capabilities>' +
      '<capability>urn:ietf:params:netconf:base:1.0</capability><capability>urn:ietf:params:netconf:base:1.1</capability>' +
      '</capabilities></hello>',
  );
  assert.is(
    sent[1],
    '<?xml version="1.0" encoding="UTF-8"?><rpc message-id="1" xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">' +
      '<lock><target><candidate/></target></lock></rpc>',
  );
});

for (const [what, uris, expected] of [
  [
    'netconfd',
    [NETCONF_1_0, NETCONF_1_1, CANDIDATE, CONFIRMED_1_0, CONFIRMED_1_1, VALIDATE],
    { base11: true, candidate: true, confirmedCommit: 'persist', validate: true, startup: false },
  ],
  [
    'a server of NETCONF 1.0 that says more than it can',
    [NETCONF_1_0, CANDIDATE, CONFIRMED_1_1, STARTUP],
    { base11: false, candidate: true, confirmedCommit: 'session', validate: false, startup: true },
  ],
  [
    'an old Junos',
    [
      'urn:ietf:params:xml:ns:netconf:base:1.0',
      'urn:ietf:params:xml:ns:netconf:capability:candidate:1.0',
      'urn:ietf:params:xml:ns:netconf:capability:confirmed-commit:1.0',
      'urn:ietf:params:xml:ns:netconf:capability:validate:1.0',
      'urn:ietf:params:xml:ns:netconf:capability:url:1.0?protocol=http,ftp,file',
      'http://xml.juniper.net/netconf/junos/1.0',
    ],
    { base11: false, candidate: true, confirmedCommit: 'session', validate: true, startup: false },
  ],
  [
    'a server that can do nothing',
    [NETCONF_1_0, 'urn:example:candidate:1.0'],
    { base11: false, candidate: false, confirmedCommit: undefined, validate: false, startup: false },
  ],
] as const) {
  test(`the capabilities of ${what}`, async () => {
    const { session } = await sessionWith(() => OK, { capabilities: uris });
    assert.equal(session.capabilities, { ...expected, monitoring: false });
    session.destroy();
  });
}

test('a Junos that greets with comments, and without a namespace', async () => {
  const greeting =
    '<!-- No zombies were killed during the creation of this user interface -->\n<!-- user edgeward, class super-user -->\n' +
    `<hello><capabilities><capability>${NETCONF_1_0}</capability></capabilities></hello>\n`;
  const { session } = await sessionWith(() => OK, { capabilities: [NETCONF_1_0], hello: greeting });
  await session.call(LOCK_CANDIDATE, never);
  session.destroy();
});

test('an error is a failure with what the device says', async () => {
  const { session } = await sessionWith(() => ({
    content: `<rpc-error><error-type>protocol</error-type><error-tag>lock-denied</error-tag><error-severity>error</error-severity>
      <error-app-tag>no-access</error-app-tag><error-path>/rpc/lock</error-path><error-message xml:lang="en">lock denied</error-message>
      <error-info><session-id>7</session-id><bad-element>candidate</bad-element></error-info></rpc-error>`,
  }));
  const failure = await session.call(LOCK_CANDIDATE, never).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.instance(failure, RpcFailure);
  if (!(failure instanceof RpcFailure)) return;
  assert.ok(failure.has('lock-denied'));
  assert.not(failure.has('in-use'));
  assert.is(failure.message, '<lock>: lock-denied (no-access) lock denied [/rpc/lock candidate]');
  assert.equal(failure.errors, [
    {
      tag: 'lock-denied',
      severity: 'error',
      appTag: 'no-access',
      path: '/rpc/lock',
      message: 'lock denied',
      sessionId: '7',
      bad: 'candidate',
    },
  ]);
  assert.ok(session.isOpen(), 'a refusal does not end the session');
  session.destroy();
});

test('a warning beside ok is no failure', async () => {
  const { session } = await sessionWith(() => ({ content: `${refusal('x', 'beware', 'warning').content}<ok/>` }));
  const { warnings } = await session.call(COMMIT, never);
  assert.equal(
    warnings.map(({ message }) => message),
    ['beware'],
  );
  session.destroy();
});

test('an answer to what could not be read has no id, and is a failure all the same', async () => {
  const { session } = await sessionWith(() => ({
    raw: `<rpc-reply>${refusal('malformed-message', 'no').content}</rpc-reply>`,
  }));
  const failure = await session.call(COMMIT, never).catch((error: unknown) => error);
  assert.instance(failure, RpcFailure);
  session.destroy();
});

for (const [what, raw] of [
  ['to another message', '<rpc-reply message-id="77"><ok/></rpc-reply>'],
  ['without an id', '<rpc-reply><ok/></rpc-reply>'],
  ['that is no reply', '<hello message-id="MESSAGE-ID"/>'],
  ['that is no XML', '<rpc-reply message-id="MESSAGE-ID"><ok>'],
  ['with a document type', '<!DOCTYPE a><rpc-reply message-id="MESSAGE-ID"/>'],
] as const) {
  test(`an answer ${what} ends the session`, async () => {
    const { session } = await sessionWith(() => ({ raw }));
    await fails('unreadable-answer', session.call(COMMIT, never));
    assert.not(session.isOpen());
    await fails('unreadable-answer', session.call(COMMIT, never));
  });
}

test('two answers to one operation end the session', async () => {
  const reply = '<rpc-reply message-id="1"><ok/></rpc-reply>';
  const twice = `${reply}\n##\n\n#${reply.length}\n${reply}`;
  const { session } = await sessionWith(() => ({ raw: reply }));
  await session.call(COMMIT, never);
  assert.ok(session.isOpen());
  session.destroy();
  const { ours, theirs } = channelPair();
  theirs.write(frame(hello(NETCONF_1_1), 'end-of-message'));
  const doubled = await openNetconfSession(ours, { clock: systemClock, answerMilliseconds: 60_000 }, never);
  const call = doubled.call(COMMIT, never);
  theirs.write(`\n#${reply.length}\n${twice}\n##\n`);
  await call;
  await waitUntil('the session is over', () => !doubled.isOpen());
});

test('notifications are passed over', async () => {
  const { session, theirs } = await sessionWith(() => OK);
  theirs.write(frame('<notification/>', 'chunked'));
  await session.call(COMMIT, never);
  session.destroy();
});

test('a server that does not greet with hello', async () => {
  const { ours, theirs } = channelPair();
  theirs.write(frame('<rpc-reply/>', 'end-of-message'));
  await fails('unreadable-answer', openNetconfSession(ours, { clock: systemClock, answerMilliseconds: 60_000 }, never));
});

test('a server that never greets: the wait is bounded', async () => {
  const { ours } = channelPair();
  const clock = createManualClock();
  const opening = fails('timed-out', openNetconfSession(ours, { clock, answerMilliseconds: 5000 }, never));
  await waitUntil('it waits', () => clock.waiting() === 1);
  await clock.advance({ milliseconds: 5000 });
  assert.match((await opening).message, /<hello> in 5000 ms/);
});

test('an answer that does not come in time ends the session, as what comes then would answer something else', async () => {
  const clock = createManualClock();
  const { session } = await sessionWith((name) => (name === 'commit' ? 'silence' : OK), undefined, clock);
  const call = fails('timed-out', session.call(COMMIT, never));
  await waitUntil('it waits', () => clock.waiting() === 2);
  await clock.advance({ milliseconds: 60_000 });
  assert.match((await call).message, /<commit>/);
  assert.not(session.isOpen());
});

test('the signal ends the wait, and the session', async () => {
  const { session } = await sessionWith(() => 'silence');
  const stop = new AbortController();
  const reason = new Error('enough');
  const call = fails('timed-out', session.call(COMMIT, stop.signal));
  stop.abort(reason);
  assert.is((await call).cause, reason);
  assert.not(session.isOpen());
});

test('a signal that has aborted before sends nothing, and leaves the session', async () => {
  let calls = 0;
  const { session } = await sessionWith(() => {
    calls += 1;
    return OK;
  });
  await fails('timed-out', session.call(COMMIT, AbortSignal.abort()));
  await session.call(COMMIT, never);
  assert.is(calls, 1);
  session.destroy();
});

test('a session that is lost while it waits', async () => {
  const { session } = await sessionWith(() => 'cut');
  await fails('unreachable', session.call(COMMIT, never));
  await fails('unreachable', session.call(COMMIT, never));
});

test('a server that lets an operation lie until more comes gets the first byte of the next message early', async () => {
  const clock = createManualClock();
  let lies = true;
  const { ours, theirs } = channelPair();
  const parts: string[] = [];
  theirs.on('data', (bytes: Buffer) => {
    parts.push(bytes.toString());
    if (lies && bytes.toString() !== '\n') return;
    lies = false;
    theirs.write(frame(`<rpc-reply message-id="${parts.length === 3 ? 1 : 2}"><ok/></rpc-reply>`, 'chunked'));
  });
  theirs.write(frame(hello(NETCONF_1_1), 'end-of-message'));
  const session = await openNetconfSession(ours, { clock, answerMilliseconds: 60_000 }, never);
  const call = session.call(LOCK_CANDIDATE, never);
  await waitUntil('it waits', () => parts.length === 2 && clock.waiting() === 2);
  await clock.advance({ milliseconds: 500 });
  await call;
  await session.call(COMMIT, never);
  assert.is(parts.length, 4);
  assert.is(parts[2], '\n');
  assert.match(parts[3] ?? '', /^#\d+\n</);
  session.destroy();
});

test('closing does not wait long for a server that does not answer', async () => {
  const clock = createManualClock();
  const { session } = await sessionWith(() => 'silence', undefined, clock);
  const closed = session.close();
  await waitUntil('it waits', () => clock.waiting() === 2);
  await clock.advance({ seconds: 3 });
  await closed;
  assert.not(session.isOpen());
});

function hello(...capabilities: readonly string[]): string {
  const texts = capabilities.map((uri) => `<capability>${uri}</capability>`).join('');
  return `<hello xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><capabilities>${texts}</capabilities></hello>`;
}

test.run();
