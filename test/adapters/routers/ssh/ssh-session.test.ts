import { text } from 'node:stream/consumers';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../../src/adapters/clock.ts';
import { parseHostKeyPin } from '../../../../src/adapters/routers/ssh/host-key.ts';
import type { RemoteCommand } from '../../../../src/adapters/routers/shell/remote-command.ts';
import type { SshLogin } from '../../../../src/adapters/routers/ssh/ssh-connection.ts';
import {
  createSshSession,
  type SshSession,
  type SshSessionLimits,
} from '../../../../src/adapters/routers/ssh/ssh-session.ts';
import type { Clock } from '../../../../src/ports/clock.ts';
import { fails, never } from '../../../contracts/router-driver.ts';
import { startSilentServer } from '../../../support/servers/cutting-proxy.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { newSshKeyPair } from '../../../support/routers/ssh-keys.ts';
import { startSshServer, type TestSshServer } from '../../../support/routers/ssh-server.ts';
import { waitUntil } from '../../../support/wait-until.ts';

const PASSWORD = 'correct horse';
const KEYS = newSshKeyPair();
const LOCKED_KEYS = newSshKeyPair('ed25519', 'sesame');
const STRANGER = newSshKeyPair();
const WELCOME = [KEYS.public, LOCKED_KEYS.public].map((key) => key.split(' ')[1]);

type Given = Readonly<{
  login?: () => Promise<SshLogin>;
  hostKey?: string;
  port?: number;
  limits?: SshSessionLimits;
  clock?: Clock;
}>;

type Context = {
  server: TestSshServer;
  sessions: SshSession[];
  open: (given?: Given) => SshSession;
};

const ssh = suite<Context>('SSH session');

ssh.before.each(async (context) => {
  context.server = await startSshServer({
    authenticate: (attempt) => {
      if (attempt.method === 'password' && attempt.password === PASSWORD) return attempt.accept();
      if (attempt.method === 'publickey' && WELCOME.includes(attempt.key.data.toString('base64')))
        return attempt.accept();
      return attempt.reject(['password', 'publickey']);
    },
    exec: (command, channel) => {
      const [word, argument = ''] = command.split(' ');
      if (word === 'hang') return;
      if (word === 'cat') {
        channel.pipe(channel);
        return;
      }
      channel.write(`out ${argument}`);
      channel.stderr.write(`err ${argument}`);
      if (word === 'exit') channel.exit(Number(argument));
      if (word === 'die') channel.exit('KILL');
      channel.end();
    },
    subsystem: (name, channel) => {
      channel.write(`welcome to ${name}\n`);
      channel.pipe(channel);
    },
  });
  context.sessions = [];
  context.open = (given = {}) => {
    const pin = parseHostKeyPin(given.hostKey ?? context.server.hostKey);
    assert.ok(pin);
    const login = given.login ?? (async () => ({ password: PASSWORD }));
    const target = {
      host: '127.0.0.1',
      port: given.port ?? context.server.port,
      user: 'edgeward',
      hostKey: pin,
      login,
    };
    const session = createSshSession(target, given.clock ?? systemClock, {
      connectMilliseconds: 60_000,
      ...given.limits,
    });
    context.sessions.push(session);
    return session;
  };
});
ssh.after.each(async ({ server, sessions }) => {
  for (const session of sessions) await session.close();
  await server.stop();
});

async function outcomeOf(command: RemoteCommand): Promise<object> {
  command.stdin.end();
  const [out, err, exit] = await Promise.all([text(command.stdout), text(command.stderr), command.exit]);
  return { out, err, ...exit };
}

/** Those of the server inside the test, too. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

async function hang(session: SshSession): Promise<RemoteCommand> {
  const command = await session.exec('hang', never);
  command.stdout.resume();
  return command;
}

ssh('a command: what it prints, what it complains, its exit code', async ({ open }) => {
  const command = await open().exec('exit 3', never);
  assert.equal(await outcomeOf(command), { out: 'out 3', err: 'err 3', code: 3, signal: undefined });
});

ssh('a command that is killed has a signal and no code', async ({ open }) => {
  const command = await open().exec('die', never);
  assert.equal(await outcomeOf(command), { out: 'out ', err: 'err ', code: null, signal: 'SIGKILL' });
});

ssh('a megabyte through a command and back', async ({ open }) => {
  const command = await open().exec('cat', never);
  const megabyte = 'edgeward'.repeat(131_072);
  command.stdin.end(megabyte);
  assert.is(await text(command.stdout), megabyte);
});

ssh('a subsystem is a channel', async ({ open }) => {
  const channel = await open().subsystem('netconf', never);
  channel.end('hello');
  assert.is(await text(channel), 'welcome to netconf\nhello');
});

ssh('what the router does not allow once logged in', async ({ open, server }) => {
  await server.stop();
  const strict = await startSshServer({ authenticate: (attempt) => attempt.accept() });
  try {
    const session = open({ port: strict.port, hostKey: strict.hostKey });
    const failure = await fails('not-permitted', session.subsystem('netconf', never));
    assert.match(failure.message, /edgeward is logged in to 127\.0\.0\.1/);
    await fails('not-permitted', session.exec('ls', never));
  } finally {
    await strict.stop();
  }
});

for (const [what, login] of [
  ['a password', { password: PASSWORD }],
  ['a key', { privateKey: KEYS.private }],
  ['a key with a passphrase', { privateKey: LOCKED_KEYS.private, passphrase: 'sesame' }],
] as const) {
  ssh(`logs in with ${what}`, async ({ open }) => {
    await outcomeOf(await open({ login: async () => login }).exec('exit 0', never));
  });
}

ssh('logs in where the password is asked for as if at a keyboard', async ({ open, server }) => {
  await server.stop();
  const keyboard = await startSshServer({
    authenticate: (attempt) => {
      if (attempt.method !== 'keyboard-interactive') return attempt.reject(['keyboard-interactive']);
      attempt.prompt([{ prompt: 'Password:', echo: false }], (answers) =>
        answers[0] === PASSWORD ? attempt.accept() : attempt.reject(),
      );
    },
    exec: (_command, channel) => {
      channel.exit(0);
      channel.end();
    },
  });
  try {
    const session = open({ port: keyboard.port, hostKey: keyboard.hostKey });
    assert.equal(await outcomeOf(await session.exec('ls', never)), { out: '', err: '', code: 0, signal: undefined });
  } finally {
    await keyboard.stop();
  }
});

for (const [what, login] of [
  ['a wrong password', { password: 'wrong' }],
  ['the key of a stranger', { privateKey: STRANGER.private }],
] as const) {
  ssh(`is refused with ${what}, and the message does not hold it`, async ({ open }) => {
    const failure = await fails('login-refused', open({ login: async () => login }).exec('exit 0', never));
    assert.not.match(failure.message, 'wrong');
  });
}

for (const [what, login, message] of [
  ['a public key', { privateKey: KEYS.public }, /public key/],
  ['no key at all', { privateKey: 'hunter2' }, /option key/],
  ['a key without its passphrase', { privateKey: LOCKED_KEYS.private }, /passphrase/],
  ['a key with another passphrase', { privateKey: LOCKED_KEYS.private, passphrase: 'wrong' }, /option key/],
] as const) {
  ssh(`does not even connect with ${what}`, async ({ open, server }) => {
    const failure = await fails('bad-option', open({ login: async () => login }).exec('exit 0', never));
    assert.match(failure.message, message);
    assert.not.match(failure.message, 'hunter2');
    assert.is(server.connections(), 0);
  });
}

ssh('a login is asked for at every connection, so that a new key is used at once', async ({ open, server }) => {
  const logins: SshLogin[] = [{ privateKey: STRANGER.private }, { privateKey: KEYS.private }];
  const session = open({ login: async () => logins.shift() ?? { password: '' } });
  await fails('login-refused', session.exec('exit 0', never));
  await outcomeOf(await session.exec('exit 0', never));
  assert.is(server.connections(), 2);
});

ssh(
  'a login that can not be read in time fails, is read once at a time, and counts when it is read at last',
  async ({ open }) => {
    let readings = 0;
    let give: ((login: SshLogin) => void) | undefined;
    const login = (): Promise<SshLogin> => {
      readings += 1;
      return readings > 1 ? Promise.resolve({ password: PASSWORD }) : new Promise((resolve) => (give = resolve));
    };
    const session = open({ login, limits: { connectMilliseconds: 20 } });
    for (const _ of [1, 2]) {
      const failure = await fails('bad-option', session.exec('exit 0', never));
      assert.match(failure.message, /was not read within 0\.02 s/);
    }
    assert.is(readings, 1);
    give?.({ password: PASSWORD });
    await waitUntil('it is read again', async () => {
      await session.exec('exit 0', never).catch(() => undefined);
      return readings > 1;
    });
  },
);

ssh('closing does not wait for a login that is never read', async ({ open }) => {
  const session = open({ login: () => new Promise(() => undefined) });
  const refused = fails('unreachable', session.exec('exit 0', never));
  await session.close();
  await refused;
});

ssh('the host key may be pinned as a key, as its base64, or as its fingerprint', async ({ open, server }) => {
  const base64 = server.hostKey.split(' ')[1] ?? '';
  for (const hostKey of [server.hostKey, `${server.hostKey} comment`, base64, server.fingerprint]) {
    await outcomeOf(await open({ hostKey }).exec('exit 0', never));
  }
});

for (const [kind, keys] of [
  ['RSA', newSshKeyPair('rsa')],
  ['ECDSA', newSshKeyPair('ecdsa')],
] as const) {
  ssh(`the host key may be of the kind ${kind}`, async ({ open }) => {
    const other = await startSshServer({
      hostKey: keys,
      authenticate: (attempt) => attempt.accept(),
      exec: (_command, channel) => {
        channel.exit(0);
        channel.end();
      },
    });
    try {
      for (const hostKey of [other.hostKey, other.fingerprint]) {
        await outcomeOf(await open({ port: other.port, hostKey }).exec('exit 0', never));
      }
    } finally {
      await other.stop();
    }
  });
}

ssh('another host key: no password is sent, and the message says which key was shown', async ({ open, server }) => {
  for (const hostKey of [STRANGER.public, `SHA256:${'A'.repeat(43)}`]) {
    let asked = 0;
    const login = async (): Promise<SshLogin> => {
      asked += 1;
      return { password: PASSWORD };
    };
    const failure = await fails('host-key-mismatch', open({ hostKey, login }).exec('exit 0', never));
    assert.ok(failure.message.includes(`ssh-ed25519 ${server.fingerprint}`));
    assert.is(asked, 1);
  }
});

ssh('a router without a host key of the pinned kind', async ({ open }) => {
  const hostKey = newSshKeyPair('ecdsa').public;
  await fails('host-key-mismatch', open({ hostKey }).exec('exit 0', never));
});

ssh('nobody listens', async ({ open, server }) => {
  await server.stop();
  const failure = await fails('unreachable', open().exec('exit 0', never));
  assert.match(failure.message, /ECONNREFUSED/);
});

ssh('somebody listens and says nothing', async ({ open }) => {
  const silent = await startSilentServer();
  try {
    const session = open({ port: silent.port, limits: { connectMilliseconds: 50 } });
    const failure = await fails('unreachable', session.exec('exit 0', never));
    assert.match(failure.message, /no answer in time/);
  } finally {
    await silent.stop();
  }
});

ssh('commands share one connection, and no more run at a time than the bound says', async ({ open, server }) => {
  const session = open({ limits: { channels: 3 } });
  const commands = Array.from({ length: 12 }, (_, at) =>
    session.exec(`exit ${at}`, new AbortController().signal).then(outcomeOf),
  );
  const outcomes = await Promise.all(commands);
  assert.equal(
    outcomes.map((outcome) => 'code' in outcome && outcome.code),
    [...outcomes.keys()],
  );
  assert.is(server.connections(), 1);
  assert.ok(server.channels().most <= 3);
});

ssh('waiting for a free channel ends with the signal', async ({ open }) => {
  const session = open({ limits: { channels: 1 } });
  const hanging = await hang(session);
  const stop = new AbortController();
  const waiting = session.exec('exit 0', stop.signal);
  stop.abort(new Error('enough'));
  await fails('timed-out', waiting);
  hanging.abandon();
  await outcomeOf(await session.exec('exit 0', never));
});

ssh('connecting ends with the signal', async ({ open }) => {
  const silent = await startSilentServer();
  try {
    const stop = new AbortController();
    const command = open({ port: silent.port }).exec('exit 0', stop.signal);
    await silent.connected;
    stop.abort(new Error('enough'));
    await fails('timed-out', command);
  } finally {
    await silent.stop();
  }
});

ssh('an idle connection is closed, and made again when it is needed', async ({ open, server }) => {
  const clock = createManualClock();
  const session = open({ clock, limits: { idleMilliseconds: 30_000 } });
  await outcomeOf(await session.exec('exit 0', never));
  await waitUntil('the session is idle', () => clock.untilNext() === 30_000);
  await clock.advance({ milliseconds: 29_999 });
  await outcomeOf(await session.exec('exit 0', never));
  assert.is(server.connections(), 1);
  await waitUntil('the session is idle again', () => clock.untilNext() === 30_000);
  await clock.advance({ milliseconds: 30_000 });
  await outcomeOf(await session.exec('exit 0', never));
  assert.is(server.connections(), 2);
});

ssh(
  'a router that does not hear the goodbye on an idle connection holds no socket of ours',
  async ({ open, server }) => {
    const clock = createManualClock();
    const session = open({ clock });
    await outcomeOf(await session.exec('exit 0', never));
    await waitUntil('the session is idle', () => clock.untilNext() === 30_000);
    server.fallSilent();
    const before = openSockets();
    await clock.advance({ seconds: 30 });
    await waitUntil('an answer to the goodbye is expected', () => clock.untilNext() === 3000);
    await clock.advance({ seconds: 3 });
    await waitUntil('the socket is gone', () => openSockets() < before);
    assert.is(clock.waiting(), 0);
  },
);

ssh('a connection in use is not idle, however long it takes', async ({ open, server }) => {
  const clock = createManualClock();
  const session = open({ clock });
  const hanging = await hang(session);
  assert.is(clock.waiting(), 0);
  await outcomeOf(await session.exec('exit 0', never));
  await waitUntil('the end of the channel is confirmed', () => clock.waiting() === 0);
  assert.is(server.connections(), 1);
  hanging.abandon();
  await waitUntil('the session is idle', () => clock.untilNext() === 30_000);
});

ssh('a command whose connection is cut has no exit', async ({ open, server }) => {
  const session = open();
  const command = await hang(session);
  server.cut();
  await fails('unreachable', command.exit);
  await outcomeOf(await session.exec('exit 0', never));
  assert.is(server.connections(), 2);
});

ssh('a router that has gone is noticed by the questions that it does not answer', async ({ open, server }) => {
  const session = open({ limits: { keepAliveMilliseconds: 20 } });
  const command = await hang(session);
  server.fallSilent();
  await fails('unreachable', command.exit);
});

ssh(
  'a connection that opens no channel is given up when its answer does not come; others go on with a new one',
  async ({ open, server }) => {
    const clock = createManualClock();
    const session = open({ clock });
    await outcomeOf(await session.exec('exit 0', never));
    await waitUntil('the session is idle', () => clock.untilNext() === 30_000);
    server.fallSilent();
    const stop = new AbortController();
    const command = session.exec('exit 0', stop.signal);
    await waitUntil('the connection is in use', () => clock.waiting() === 0);
    await new Promise((resolve) => void setImmediate(resolve));
    stop.abort(new Error('enough'));
    const failure = await fails('timed-out', command);
    assert.match(failure.message, /no channel to 127\.0\.0\.1, port \d+, was open when the wait was stopped/);
    await waitUntil('the channel is expected to be closed', () => clock.untilNext() === 3000);
    await clock.advance({ seconds: 3 });
    await outcomeOf(await session.exec('exit 0', never));
    assert.is(server.connections(), 2);
  },
);

ssh(
  'a connection that does not confirm the end of a command stays until the other command on it is over',
  async ({ open, server }) => {
    const clock = createManualClock();
    const session = open({ clock });
    const [first, second] = [await hang(session), await hang(session)];
    server.fallSilent();
    first.abandon();
    await waitUntil('its end is expected', () => clock.untilNext() === 3000);
    await clock.advance({ seconds: 3 });
    const isOver = await Promise.race([second.exit.then(noted, noted), outcomeOf(await session.exec('exit 0', never))]);
    assert.equal(
      isOver,
      { out: 'out 0', err: 'err 0', code: 0, signal: undefined },
      'the other one has not been cut off',
    );
    assert.is(server.connections(), 2);
    second.abandon();
    await fails('unreachable', second.exit);
  },
);

function noted(): string {
  return 'over';
}

ssh('closing ends the connection and what runs over it', async ({ open, server }) => {
  const session = open();
  const command = await hang(session);
  await session.close();
  await fails('unreachable', command.exit);
  await fails('unreachable', session.exec('exit 0', never));
  await waitUntil('the channel is closed', () => server.channels().now === 0);
});

ssh('closing does not wait for a router that takes the connection and says nothing', async ({ open }) => {
  const silent = await startSilentServer();
  const stop = new AbortController();
  try {
    const session = open({ port: silent.port, clock: createManualClock() });
    const command = session.exec('exit 0', stop.signal);
    await silent.connected;
    stop.abort();
    await fails('timed-out', command);
    await session.close();
  } finally {
    await silent.stop();
  }
});

ssh('letting go of a command ends its input and gives its place back', async ({ open, server }) => {
  const session = open({ limits: { channels: 1 } });
  const command = await hang(session);
  command.abandon();
  await outcomeOf(await session.exec('exit 0', never));
  await waitUntil('the channel is closed', () => server.channels().now === 0);
});

ssh('what is no host key is no pin', async () => {
  for (const pin of ['', 'SHA256:short', 'ssh-ed25519', 'AAAA', 'ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA==', 'MD5:00:11']) {
    assert.is(parseHostKeyPin(pin), undefined, pin);
  }
});

ssh.run();
