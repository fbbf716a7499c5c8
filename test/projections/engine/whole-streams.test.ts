import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import { openWholeStreams } from '../../../src/projections/engine/whole-streams.ts';
import { BEGINNING } from '../../../src/ports/event-store.ts';
import { assigned, disabled, registered } from '../../commands/ip-control/customer-examples.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { isAt, leavingOut, type LeavesOut } from '../../support/stores/leaving-out.ts';

const test = suite<{ log: EmbeddedLog; all: readonly RecordedEvent[] }>('streams of which no event may be missed');

test.before.each(async (state) => {
  const log = await openEmbeddedLog();
  await log.append('customer-1', registered(), assigned(1, '192.0.2.0/24'));
  await log.append('customer-2', registered(), assigned(1, '198.51.100.0/24'));
  await log.append('customer-1', disabled(['192.0.2.1']), disabled(['192.0.2.2']));
  await log.append('customer-3', registered());
  await log.append('customer-2', disabled(['198.51.100.1']), disabled(['198.51.100.2']));
  await log.append('customer-1', disabled(['192.0.2.3']));
  const all: RecordedEvent[] = [];
  for await (const page of log.store.readAll(BEGINNING)) all.push(...page);
  Object.assign(state, { log, all });
});
test.after.each((state) => state.log.close());

type Wanted = Readonly<{ isLeftOut: LeavesOut; from?: bigint; isWanted?: (stream: string) => boolean }>;

/** What a follower is given up to the last event of the log. */
async function followed(
  log: EmbeddedLog,
  { isLeftOut, from = BEGINNING, isWanted = () => true }: Wanted,
): Promise<readonly string[]> {
  const store = leavingOut(log.store, isLeftOut);
  const end = await log.store.end();
  const done = new AbortController();
  const given: string[] = [];
  const streams = openWholeStreams({ store, log: log.log, from, isWanted });
  for await (const page of streams.follow(from, done.signal)) {
    given.push(...page.map(named));
    if (page.some(({ position }) => position === end)) done.abort();
  }
  return given;
}

function named({ stream, revision }: RecordedEvent): string {
  return `${stream} ${revision}`;
}

function errorsOf(log: EmbeddedLog): readonly string[] {
  return log.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
}

test('what is left out comes from its stream before the next event of it, and is told once', async ({ log }) => {
  assert.equal(await followed(log, { isLeftOut: isAt('customer-1', 1, 2) }), [
    'customer-1 0',
    'customer-2 0',
    'customer-2 1',
    'customer-1 1',
    'customer-1 2',
    'customer-1 3',
    'customer-3 0',
    'customer-2 2',
    'customer-2 3',
    'customer-1 4',
  ]);
  assert.is(errorsOf(log).length, 1);
  assert.match(errorsOf(log)[0] ?? '', /following .* left out events of customer-1, which it holds/);
});

test('whatever is left out before the last event of a stream, and wherever the following begins, each stream comes whole and in order', async ({
  log,
  all,
}) => {
  const isLast = (event: RecordedEvent) => all.findLast(({ stream }) => stream === event.stream) === event;
  await fc.assert(
    fc.asyncProperty(
      fc.subarray(all.filter((event) => !isLast(event))),
      fc.constantFrom(BEGINNING, ...all.slice(0, -1).map(({ position }) => position)),
      async (missing, from) => {
        const isLeftOut: LeavesOut = ({ position }) => missing.some((event) => event.position === position);
        const given = await followed(log, { isLeftOut, from });
        const wanted = all.filter(({ position }) => position > from).map(named);
        for (const stream of ['customer-1', 'customer-2', 'customer-3']) {
          const ofIt = (names: readonly string[]) => names.filter((name) => name.startsWith(`${stream} `));
          assert.equal(ofIt(given), ofIt(wanted));
        }
        if (missing.length === 0) assert.equal(given, wanted);
      },
    ),
    { numRuns: 60 },
  );
});

test('a following that goes on after one that broke knows what was given', async ({ log, all }) => {
  const store = leavingOut(log.store, isAt('customer-1', 3));
  const streams = openWholeStreams({ store, log: log.log, from: BEGINNING, isWanted: () => true });
  const untilGiven = async (after: bigint, last: string): Promise<readonly string[]> => {
    const done = new AbortController();
    const given: string[] = [];
    for await (const page of streams.follow(after, done.signal)) {
      given.push(...page.map(named));
      if (given.includes(last)) done.abort();
    }
    return given;
  };
  await untilGiven(BEGINNING, 'customer-1 4');
  const again = all.find((event) => named(event) === 'customer-2 2')?.position ?? BEGINNING;
  await log.append('customer-1', disabled(['192.0.2.4']));
  assert.equal(await untilGiven(again, 'customer-1 5'), ['customer-1 5']);
});

test('of a stream that is not wanted comes what comes', async ({ log, all }) => {
  const isLeftOut = isAt('customer-1', 1);
  const given = await followed(log, { isLeftOut, isWanted: (stream) => stream === 'customer-2' });
  assert.equal(given, all.filter((event) => !isLeftOut(event)).map(named));
  assert.equal(errorsOf(log), []);
});

test.run();
