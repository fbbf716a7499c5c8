import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog } from '../../src/adapters/log.ts';
import { openSqliteLeases } from '../../src/adapters/sqlite/leases.ts';
import { compete, LEADERS_LEASE } from '../../src/main/leadership.ts';
import type { Term } from '../../src/main/term.ts';
import { StoreUnavailable } from '../../src/ports/event-store.ts';
import type { Lease } from '../../src/ports/leases.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitUntil } from '../support/wait-until.ts';

const test = suite('leading and following');

/** Candidates for one lease, whose terms do nothing but tell what becomes of them. */
async function place() {
  const { path: folder, remove } = await temporaryFolder();
  const clock = createManualClock();
  const log = createLog({ level: 'silent' });
  const told: string[] = [];
  const candidate = (name: string, begin: () => void = () => undefined, until?: 'it stops') => {
    const leases = openSqliteLeases({ directory: folder, label: name });
    let lease: Lease | undefined;
    let term: ReturnType<typeof idleTerm> | undefined;
    const tell = (what: string): void => void told.push(`${name} ${what}`);
    const leadership = compete({
      leases,
      first: undefined,
      start: async (held) => {
        begin();
        lease = held;
        term = idleTerm(tell, until);
        return term;
      },
      readMemory: () => tell('reads memory'),
      readStores: () => tell('reads the stores'),
      clock,
      log,
    });
    return {
      ...leadership,
      lease: () => lease,
      fail: (error: Error) => term?.fail(error),
      close: () => leases.close(),
    };
  };
  return { candidate, told, clock, loseLease: () => rmSync(join(folder, `${LEADERS_LEASE}.lease`)), remove };
}

/** `until`: it does not catch up before. */
function idleTerm(tell: (what: string) => void, until?: 'it stops'): Term & Readonly<{ fail: (error: Error) => void }> {
  const end = new AbortController();
  const ended = new Promise<void>((resolve, reject) => {
    end.signal.addEventListener('abort', () =>
      end.signal.reason instanceof Error ? reject(end.signal.reason) : resolve(),
    );
  });
  const stops = new AbortController();
  const stopping = new Promise<void>((_resolve, reject) => {
    stops.signal.addEventListener('abort', () => reject(stops.signal.reason));
  });
  stopping.catch(() => undefined);
  return {
    projector: {
      open: unused,
      catchUp: unused,
      run: unused,
      position: () => 0n,
      isReadable: () => true,
      isFollowing: () => true,
      reached: async () => true,
      longStreams: () => [],
      onTouched: () => undefined,
    },
    ahead: undefined,
    caughtUp: until === undefined ? Promise.resolve() : stopping,
    ended,
    stop: async (patience) => {
      tell(`stops within ${patience} ms`);
      stops.abort(new Error('it stops'));
      // Duties under way take a while.
      await new Promise((resolve) => void setImmediate(resolve));
      end.abort('stopped');
    },
    breakOff: async () => tell('breaks off'),
    fail: (error) => end.abort(error),
  };
}

async function unused(): Promise<never> {
  throw new Error('a term that does nothing');
}

test('one leads, and hands over when it stops: duties end first', async () => {
  const { candidate, told, remove } = await place();
  const ann = candidate('ann');
  await waitUntil('ann leads', () => ann.leads());
  const bob = candidate('bob');
  await ann.stop(500);
  assert.is(await ann.ended, undefined);
  assert.equal(told.slice(0, 4), [
    'ann reads memory',
    'ann stops within 500 ms',
    'ann reads the stores',
    'ann breaks off',
  ]);
  await waitUntil('bob leads', () => bob.leads());
  await bob.stop(0);
  await Promise.all([ann.close(), bob.close()]);
  await remove();
});

test('who stops while the views catch up does not read them from memory', async () => {
  const { candidate, told, remove } = await place();
  const ann = candidate('ann', undefined, 'it stops');
  await waitUntil('ann has a term', () => ann.term() !== undefined);
  await ann.stop(500);
  assert.equal(told, ['ann stops within 500 ms', 'ann reads the stores', 'ann breaks off']);
  await ann.close();
  await remove();
});

test('who loses the lease reads the stores and breaks off before anything else, and competes again', async () => {
  const { candidate, told, loseLease, remove } = await place();
  const ann = candidate('ann');
  await waitUntil('ann leads', () => ann.leads());
  const first = ann.lease();
  loseLease();
  await waitUntil('ann leads anew', () => ann.leads() && ann.lease() !== first);
  assert.equal(told, ['ann reads memory', 'ann reads the stores', 'ann breaks off', 'ann reads memory']);
  assert.not.ok(first?.isHeld());
  await ann.stop(0);
  await ann.close();
  await remove();
});

test('a store that is away ends a term, or prevents it, and is tried again; anything else ends the server', async () => {
  const { candidate, told, clock, remove } = await place();
  let tries = 0;
  const ann = candidate('ann', () => {
    tries += 1;
    if (tries === 1) throw new StoreUnavailable('away');
  });
  const rested = async (): Promise<boolean> => {
    await clock.advance('PT1S');
    return ann.leads();
  };
  await waitUntil('the first try is over', () => tries === 1);
  await waitUntil('ann leads', rested);
  ann.fail(new StoreUnavailable('away again'));
  await waitUntil('ann leads no more', () => !ann.leads());
  await waitUntil('ann leads again', rested);
  assert.is(tries, 3);
  ann.fail(new Error('an event can not be read'));
  assert.match(String(await ann.ended.catch((error: unknown) => error)), 'an event can not be read');
  assert.equal(told.slice(-2), ['ann reads the stores', 'ann breaks off']);
  await ann.close();
  await remove();
});

test.run();
