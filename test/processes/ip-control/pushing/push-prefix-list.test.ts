import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CoverText } from '../../../../src/addresses/cover-text.ts';
import type { Keeping } from '../../../../src/commands/ip-control/kept-lists.ts';
import { RangeSet } from '../../../../src/addresses/range-set.ts';
import { parseRangeTexts } from '../../../../src/addresses/range-text.ts';
import { type RouterDriver, RouterFailure } from '../../../../src/ports/routers.ts';
import { pushPrefixList } from '../../../../src/processes/ip-control/pushing/push-prefix-list.ts';
import { WantedList } from '../../../../src/processes/ip-control/pushing/wanted-list.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

type Held = readonly string[] | 'absent';
/** What a router does when it is asked: an answer, a failure, or silence until it is told to stop. */
type Answer<T> = T | RouterFailure | 'silence';

const WANTED = ['192.0.2.1/32', '198.51.100.0/24'];
const LIST = 'Svc-ACME-CORP-BLACKHOLE';

/** A router that answers as it is told, call by call; the last answer holds for all later calls. */
function scripted(script: Readonly<{ reads: readonly Answer<Held>[]; replaces?: readonly Answer<void>[] }>) {
  const calls: string[] = [];
  const told: (number | undefined)[] = [];
  const reads = [...script.reads];
  const replaces = [...(script.replaces ?? [undefined])];
  const driver: RouterDriver = {
    read: (list, signal) => {
      calls.push(`read ${list}`);
      return answer((reads.length > 1 ? reads.shift() : reads[0]) ?? 'absent', signal, 'timed-out');
    },
    replace: (list, prefixes, signal, options) => {
      calls.push(`replace ${list} ${prefixes.join(' ')}`.trim());
      told.push(options?.timeoutMilliseconds);
      return answer(replaces.length > 1 ? replaces.shift() : replaces[0], signal, 'outcome-unknown');
    },
    remove: () => Promise.reject(new Error('a push does not remove a list')),
    lists: () => Promise.reject(new Error('a push knows its list')),
    check: () => Promise.reject(new Error('a push checks by reading')),
    close: () => Promise.reject(new Error('a push does not close a driver')),
  };
  return { driver, calls, told };
}

function answer<T>(given: Answer<T>, signal: AbortSignal, code: 'timed-out' | 'outcome-unknown'): Promise<T> {
  if (given instanceof RouterFailure) return Promise.reject(given);
  if (given !== 'silence') return Promise.resolve(given);
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(new RouterFailure(code, 'stopped', { cause: signal.reason }));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Pushes under a clock that stands still but for the given steps, in seconds. */
async function push(
  router: ReturnType<typeof scripted>,
  prefixes: readonly string[] = WANTED,
  steps: readonly number[] = [],
  keeping?: Keeping,
) {
  const clock = createManualClock();
  const stop = new AbortController();
  const pushing = pushPrefixList(
    {
      router: 'core1',
      driver: router.driver,
      list: LIST,
      wanted: WantedList.ofPrefixes(prefixes),
      keeping,
      timeoutMilliseconds: 30_000,
    },
    clock,
    stop.signal,
  );
  for (const seconds of steps) await clock.advance({ seconds });
  const { outcome } = await pushing;
  assert.is(clock.waiting(), 0, 'no timer is left');
  return outcome;
}

// Nothing to do

test('a router that holds the list already is not touched', async () => {
  const router = scripted({ reads: [WANTED] });
  assert.equal(await push(router), { router: 'core1', result: 'confirmed', untouched: true, milliseconds: 0 });
  assert.equal(router.calls, [`read ${LIST}`]);
});

test('an absent list is an empty one', async () => {
  assert.equal((await push(scripted({ reads: ['absent'] }), [])).untouched, true);
  assert.equal((await push(scripted({ reads: [[]] }), [])).untouched, true);
});

// What counts is what the router holds afterwards

test('a change counts when it reads back', async () => {
  const router = scripted({ reads: [['192.0.2.9/32'], WANTED] });
  assert.equal(await push(router), { router: 'core1', result: 'confirmed', untouched: false, milliseconds: 0 });
  assert.equal(router.calls, [`read ${LIST}`, `replace ${LIST} ${WANTED.join(' ')}`, `read ${LIST}`]);
});

test('removing everything counts when nothing reads back', async () => {
  const router = scripted({ reads: [WANTED, 'absent'] });
  assert.is((await push(router, [])).result, 'confirmed');
  assert.is(router.calls[1], `replace ${LIST}`);
});

for (const [what, held] of Object.entries<Held>({
  'one entry less': ['192.0.2.1/32'],
  'one entry more': [...WANTED, '203.0.113.0/24'],
  'another entry': ['192.0.2.1/32', '198.51.100.0/25'],
  'another order': ['198.51.100.0/24', '192.0.2.1/32'],
  'a wider permission': ['192.0.2.1/32', '198.51.100.0/24 le 32'],
  nothing: 'absent',
})) {
  test(`a list that reads back with ${what} is no success`, async () => {
    const router = scripted({ reads: [[], held] });
    const { result, because, untouched } = await push(router);
    assert.equal(
      { result, because, untouched },
      { result: 'failed', because: 'the list reads back differently from what was sent', untouched: false },
    );
  });
}

test('a change that was refused says why', async () => {
  const router = scripted({ reads: [[]], replaces: [new RouterFailure('locked', 'somebody else is configuring')] });
  const { result, because } = await push(router);
  assert.equal({ result, because }, { result: 'failed', because: 'locked: somebody else is configuring' });
});

test('a change that failed and is there all the same is a success', async () => {
  const router = scripted({ reads: [[], WANTED], replaces: [new RouterFailure('rejected', 'commit failed')] });
  assert.is((await push(router)).result, 'confirmed');
});

test('a change that is there and could not be saved is a success, and says so', async () => {
  const notSaved = new RouterFailure('not-saved', 'it is in force, and was not saved: Permission denied');
  const router = scripted({ reads: [[], WANTED], replaces: [notSaved] });
  const { result, because, saved } = await push(router);
  const told = 'not-saved: it is in force, and was not saved: Permission denied';
  assert.equal({ result, because, saved }, { result: 'confirmed', because: told, saved: false });
  const gone = await push(scripted({ reads: [[], 'absent'], replaces: [notSaved] }));
  assert.equal([gone.result, gone.saved], ['failed', undefined]);
});

// What a restored log does not explain

const KEEPING = { removals: parseRangeTexts(['192.0.2.9']), listed: RangeSet.empty };

test('under a restored log, what the router holds beside the list stays; it is told how much', async () => {
  const kept = ['192.0.2.1/32', '192.0.2.77/32', '198.51.100.0/24'];
  const router = scripted({ reads: [['192.0.2.9/32', '192.0.2.77/32'], kept] });
  assert.equal(await push(router, WANTED, [], KEEPING), {
    router: 'core1',
    result: 'confirmed',
    untouched: false,
    kept: 1,
    milliseconds: 0,
  });
  assert.is(router.calls[1], `replace ${LIST} ${kept.join(' ')}`);
});

test('under a restored log, a list with an entry that no push could keep is not changed', async () => {
  const router = scripted({ reads: [['198.51.100.0/24 le 32']] });
  const { result, untouched, because } = await push(router, WANTED, [], KEEPING);
  assert.equal({ result, untouched }, { result: 'failed', untouched: true });
  assert.match(because ?? '', '198.51.100.0/24 le 32');
  assert.equal(router.calls, [`read ${LIST}`]);
});

// A router that can't be reached

test('a router that can not be read is not written to', async () => {
  const router = scripted({ reads: [new RouterFailure('unreachable', 'no route to host')] });
  assert.equal(await push(router), {
    router: 'core1',
    result: 'failed',
    untouched: true,
    because: 'unreachable: no route to host',
    milliseconds: 0,
  });
  assert.equal(router.calls, [`read ${LIST}`]);
});

test('a router that does not answer is given up after its time', async () => {
  const router = scripted({ reads: ['silence'] });
  const { result, untouched, because, milliseconds } = await push(router, WANTED, [29, 1]);
  assert.equal({ result, untouched, milliseconds }, { result: 'failed', untouched: true, milliseconds: 30_000 });
  assert.match(because ?? '', 'timed-out');
});

test('a change that timed out is read back: it may be there', async () => {
  const router = scripted({ reads: [[], WANTED], replaces: ['silence'] });
  const { result, untouched, milliseconds } = await push(router, WANTED, [30]);
  assert.equal({ result, untouched, milliseconds }, { result: 'confirmed', untouched: false, milliseconds: 30_000 });
});

test('a change that timed out is read back: it may not be there', async () => {
  const router = scripted({ reads: [[], []], replaces: ['silence'] });
  const { result, because } = await push(router, WANTED, [30]);
  assert.is(result, 'failed');
  assert.match(because ?? '', 'outcome-unknown');
});

test('when reading back is not possible either, nobody knows', async () => {
  const unreachable = new RouterFailure('unreachable', 'connection reset');
  const router = scripted({ reads: [[], unreachable], replaces: ['silence'] });
  const { result, because } = await push(router, WANTED, [30]);
  assert.is(result, 'unknown');
  assert.match(because ?? '', 'outcome-unknown');
  assert.match(because ?? '', 'then, reading back: unreachable: connection reset');
});

test('after a change that was answered nobody knows either, when it can not be read back', async () => {
  const router = scripted({ reads: [[], new RouterFailure('unreachable', 'connection reset')] });
  const { result, untouched, because } = await push(router);
  assert.equal(
    { result, untouched, because },
    { result: 'unknown', untouched: false, because: 'unreachable: connection reset' },
  );
});

test('reading back has a time of its own', async () => {
  const router = scripted({ reads: [[], 'silence'], replaces: ['silence'] });
  const { result, milliseconds } = await push(router, WANTED, [30, 29, 1]);
  assert.equal({ result, milliseconds }, { result: 'unknown', milliseconds: 60_000 });
});

test('the driver is told how long the caller is going to wait', async () => {
  const router = scripted({ reads: [[], WANTED] });
  await push(router);
  assert.equal(router.told, [30_000]);
});

// As a text

const LONG = RangeSet.of({ version: 4, first: 1, last: 9 }, { version: 6, first: 5n, last: 5n });
const TEXT = '0.0.0.1/32\n0.0.0.2/31\n0.0.0.4/30\n0.0.0.8/31\n::5/128\n';

/** A router that holds texts, and answers as it is told; its entries are not to be asked for. */
function holdingTexts(reads: readonly Answer<string>[], replaces?: RouterFailure) {
  const calls: string[] = [];
  const left = [...reads];
  const driver: RouterDriver = {
    ...scripted({ reads: [new RouterFailure('rejected', 'not by entries')] }).driver,
    text: {
      read: async (list, signal) => {
        calls.push(`read ${list}`);
        const text = await answer((left.length > 1 ? left.shift() : left[0]) ?? '', signal, 'timed-out');
        return text === 'absent' ? text : Buffer.from(text);
      },
      replace: (list, wanted, signal) => {
        calls.push(`replace ${list} ${Buffer.concat(wanted.pieces).toString()}`);
        return answer(replaces, signal, 'outcome-unknown');
      },
    },
  };
  return { driver, calls };
}

async function pushText(driver: RouterDriver, set = LONG, keeping?: Keeping) {
  const wanted = WantedList.ofText(CoverText.of(set));
  const given = { router: 'core1', driver, list: LIST, wanted, keeping, timeoutMilliseconds: 30_000 };
  return (await pushPrefixList(given, createManualClock(), new AbortController().signal)).outcome;
}

test('a router that holds the text is not touched', async () => {
  const { driver, calls } = holdingTexts([TEXT]);
  const { result, untouched } = await pushText(driver);
  assert.equal([result, untouched, calls], ['confirmed', true, [`read ${LIST}`]]);
});

test('one that holds another text, or none, gets the right one and is read back', async () => {
  for (const before of ['absent', '', TEXT.slice(0, -1), `${TEXT}0.0.0.0/0\n`, TEXT.replace('::5', '::6')]) {
    const { driver, calls } = holdingTexts([before, TEXT]);
    const { result, untouched } = await pushText(driver);
    assert.equal([result, untouched], ['confirmed', false], before);
    assert.equal(calls, [`read ${LIST}`, `replace ${LIST} ${TEXT}`, `read ${LIST}`]);
  }
});

test('what reads back as another text has failed, whatever the change has answered', async () => {
  for (const after of ['absent', '', TEXT.replace('::5', '::6'), `${TEXT}::6/128\n`]) {
    const { driver } = holdingTexts(['', after]);
    const { result, untouched, because } = await pushText(driver);
    assert.equal(
      [result, untouched, because],
      ['failed', false, 'the list reads back differently from what was sent'],
      after,
    );
  }
});

test('a text that is there although the change has failed is a success, and one that can not be read back is unknown', async () => {
  const there = holdingTexts(['', TEXT], new RouterFailure('outcome-unknown', 'no answer'));
  assert.is((await pushText(there.driver)).result, 'confirmed');
  const gone = holdingTexts(['', new RouterFailure('unreachable', 'gone')]);
  const { result, because } = await pushText(gone.driver);
  assert.equal([result, because], ['unknown', 'unreachable: gone']);
});

test('what is no file of text is replaced; a router that can not be read is not touched', async () => {
  const odd = holdingTexts([new RouterFailure('unreadable-answer', 'a directory'), TEXT]);
  assert.is((await pushText(odd.driver)).result, 'confirmed');
  const away = holdingTexts([new RouterFailure('unreachable', 'down')]);
  const { result, untouched } = await pushText(away.driver);
  assert.equal([result, untouched, away.calls], ['failed', true, [`read ${LIST}`]]);
});

test('an absent text is an empty one', async () => {
  const { driver, calls } = holdingTexts(['absent']);
  const { result, untouched } = await pushText(driver, RangeSet.empty);
  assert.equal([result, untouched, calls], ['confirmed', true, [`read ${LIST}`]]);
});

test('while the log is a restored one, what a router keeps is looked for among its entries', async () => {
  const texts = holdingTexts([TEXT]);
  const entries = scripted({ reads: [['203.0.113.0/24'], [...TEXT.trimEnd().split('\n'), '203.0.113.0/24']] });
  const { read, replace } = entries.driver;
  const keeping = { removals: RangeSet.empty, listed: RangeSet.empty };
  const outcome = await pushText({ ...texts.driver, read, replace }, LONG, keeping);
  assert.is(outcome.kept, 1);
  assert.match(entries.calls.join(), /replace .* 203\.0\.113\.0\/24/);
  assert.equal(texts.calls, []);
});

// Being stopped

test('when the program stops, nothing is begun any more', async () => {
  const router = scripted({ reads: ['silence'] });
  const stop = new AbortController();
  const pushing = pushPrefixList(
    {
      router: 'core1',
      driver: router.driver,
      list: LIST,
      wanted: WantedList.ofPrefixes(WANTED),
      timeoutMilliseconds: 30_000,
    },
    createManualClock(),
    stop.signal,
  );
  stop.abort(new Error('stopping'));
  assert.is((await pushing).outcome.result, 'failed');
  assert.equal(router.calls, [`read ${LIST}`]);
});

test('a bug in a driver is a failure of that router, not of the program', async () => {
  const driver: RouterDriver = {
    ...scripted({ reads: [[]] }).driver,
    replace: () => {
      throw new TypeError('undefined is not a router');
    },
  };
  const { outcome } = await pushPrefixList(
    { router: 'core1', driver, list: LIST, wanted: WantedList.ofPrefixes(WANTED), timeoutMilliseconds: 30_000 },
    createManualClock(),
    new AbortController().signal,
  );
  assert.is(outcome.result, 'failed');
  assert.is(outcome.because, 'undefined is not a router');
});

test.run();
