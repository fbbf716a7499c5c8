import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createFileDriver } from '../../../../src/adapters/routers/file/file-driver.ts';
import type { ListDirectory } from '../../../../src/adapters/routers/file/list-directory.ts';
import { fails, never } from '../../../contracts/router-driver.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** A folder whose disk hangs from the writing of a list on, until it is told to go on. */
function hangingFolder() {
  const held = new Map<string, readonly string[]>();
  let goOn: (() => void) | undefined;
  const read: ListDirectory['read'] = async (list) => held.get(list) ?? 'absent';
  const directory: ListDirectory = {
    read,
    readText: () => Promise.reject(new Error('these lists are short')),
    write: async (list, text) => {
      await new Promise<void>((resolve) => (goOn = resolve));
      held.set(list, Buffer.concat(text).toString().trim().split('\n'));
    },
    remove: async (list) => void held.delete(list),
    names: async () => [...held.keys()],
    removeLeftOvers: async () => undefined,
    check: async () => undefined,
  };
  return { directory, goOn: () => goOn?.() };
}

test('a folder that hangs is waited for no longer than a moment, and asked again when it has answered', async () => {
  const clock = createManualClock();
  const { directory, goOn } = hangingFolder();
  const driver = createFileDriver('/lists', directory, clock);
  const stop = new AbortController();
  const replaced = fails('outcome-unknown', driver.replace('Svc-A', ['192.0.2.0/24'], stop.signal));
  assert.is(await driver.read('Svc-A', never), 'absent', 'it is not known to hang yet');
  stop.abort();
  await clock.advance({ seconds: 1 });
  await replaced;
  await fails('unreachable', driver.read('Svc-A', never));
  await fails('unreachable', driver.replace('Svc-A', [], never));
  await fails('unreachable', driver.lists(never));
  goOn();
  await new Promise((resolve) => void setImmediate(resolve));
  assert.equal(await driver.read('Svc-A', never), ['192.0.2.0/24'], 'what it was asked for came late');
  await driver.close();
  assert.is(clock.waiting(), 0);
});

test('one that stops in time says how it stopped', async () => {
  const clock = createManualClock();
  const { directory } = hangingFolder();
  const stopping: ListDirectory = { ...directory, read: () => Promise.reject(new Error('stopped')) };
  const driver = createFileDriver('/lists', stopping, clock);
  const stop = new AbortController();
  const failure = driver.read('Svc-A', stop.signal).catch((error: unknown) => error);
  stop.abort();
  assert.match(String(await failure), /stopped/);
  assert.is(clock.waiting(), 0, 'no timer is left');
});

test.run();
