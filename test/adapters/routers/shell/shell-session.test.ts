import { PassThrough } from 'node:stream';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../../src/adapters/clock.ts';
import { createLocalTransport } from '../../../../src/adapters/routers/shell/local-transport.ts';
import type { CommandTransport } from '../../../../src/adapters/routers/shell/remote-command.ts';
import { openShellSession } from '../../../../src/adapters/routers/shell/shell-session.ts';
import { quoteForShell } from '../../../../src/adapters/routers/ssh/ssh-session.ts';
import { fails, never } from '../../../contracts/router-driver.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { runProgram } from '../../../support/servers/run-program.ts';

const LIMITS = { mark: '@mark', outputBytes: 1_000_000, clock: systemClock, signal: never };

const talk = suite<{ transport: CommandTransport; shell: (script: string) => ReturnType<CommandTransport['start']> }>(
  'conversation with a shell',
);

talk.before((context) => {
  const transport = createLocalTransport();
  context.transport = transport;
  context.shell = (script) => transport.start(['sh', '-c', script], never);
});
talk.after(({ transport }) => transport.close());

talk('sections come with their text, the word of their mark and the rest of its line', async ({ shell }) => {
  const script = String.raw`printf 'one\ntwo'; printf '\n@mark first 0\n'; printf '\n@mark second\n{}\n\n@mark third a b\n'`;
  const shellSession = openShellSession(await shell(script), LIMITS);
  assert.equal(await shellSession.next(), { word: 'first', rest: '0', text: 'one\ntwo' });
  assert.equal(await shellSession.next(), { word: 'second', rest: '', text: '' });
  assert.equal(await shellSession.next(), { word: 'third', rest: 'a b', text: '{}\n' });
  await shellSession.finish();
});

talk('a shell that does not end with its input is waited for, but not for ever', async ({ shell }) => {
  const clock = createManualClock();
  const shellSession = openShellSession(await shell('echo; echo @mark here; exec sleep 60'), { ...LIMITS, clock });
  await shellSession.next();
  const finished = fails('timed-out', shellSession.finish());
  await clock.advance({ seconds: 30 });
  assert.match((await finished).message, 'has not ended');
  shellSession.abandon();
});

talk('both sides speak in turn', async ({ shell }) => {
  const shellSession = openShellSession(
    await shell(`while read -r line; do printf '\\n@mark heard %s\\n' "$line"; done`),
    LIMITS,
  );
  for (const line of ['one', 'two', 'three']) {
    shellSession.say(`${line}\n`);
    assert.is((await shellSession.next()).rest, line);
  }
  await shellSession.finish();
});

talk('a command that ends before its time: the failure has its code and what it said', async ({ shell }) => {
  const shellSession = openShellSession(await shell('echo out; echo err >&2; exit 3'), LIMITS);
  const failure = await fails('rejected', shellSession.next());
  assert.match(failure.message, /ended early \(code 3\): out err/);
});

talk('a command that is killed', async ({ shell }) => {
  const failure = await fails('rejected', openShellSession(await shell('kill -9 $$'), LIMITS).next());
  assert.match(failure.message, /SIGKILL/);
});

talk('a program that is not there', async ({ transport }) => {
  await fails('bad-option', transport.start(['/nowhere/program'], never));
});

talk('more output than there may be', async ({ shell }) => {
  const shellSession = openShellSession(await shell('yes'), { ...LIMITS, outputBytes: 100_000 });
  await fails('unreadable-answer', shellSession.next());
  shellSession.abandon();
});

talk('a signal ends the wait', async ({ shell }) => {
  const stop = new AbortController();
  const shellSession = openShellSession(await shell('read -r line'), { ...LIMITS, signal: stop.signal });
  const section = shellSession.next();
  const reason = new Error('enough');
  stop.abort(reason);
  assert.is((await fails('timed-out', section)).cause, reason);
  shellSession.abandon();
});

talk('marks are found wherever the output is cut into pieces', async () => {
  const texts = fc.array(fc.string({ unit: fc.constantFrom('a', '\n', '@', '@mark', ' ', '€') }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(texts, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), async (given, sizes) => {
      // A text that has a mark in it is another text.
      const sections = given.map((text) => text.replaceAll('@mark', '@ma'));
      const output = Buffer.from(sections.map((text, at) => `${text}\n@mark end ${at}\n`).join(''));
      const stdout = new PassThrough();
      const exit = Promise.resolve({ code: 0, signal: undefined });
      const command = { stdin: new PassThrough(), stdout, stderr: new PassThrough(), exit, abandon: () => undefined };
      const shellSession = openShellSession(command, LIMITS);
      for (let at = 0, piece = 0; at < output.length; piece++) {
        const size = sizes[piece % sizes.length] ?? 1;
        stdout.write(output.subarray(at, at + size));
        at += size;
      }
      stdout.end();
      for (const [at, text] of sections.entries()) {
        assert.equal(await shellSession.next(), { word: 'end', rest: String(at), text });
      }
    }),
  );
});

talk('a word is one word for a shell, whatever is in it', async () => {
  const words = ["it's", '$HOME `id` $(id)', 'a\nb', '\\', '"', '*', '', '-n', '; reboot', "''"];
  const printed = await runProgram(['sh', '-c', `printf '<%s>' ${words.map(quoteForShell).join(' ')}`]);
  assert.is(printed, words.map((word) => `<${word}>`).join(''));
});

talk.run();
