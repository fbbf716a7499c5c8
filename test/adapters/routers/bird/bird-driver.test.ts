import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemIds } from '../../../../src/adapters/ids.ts';
import { createBirdDriver } from '../../../../src/adapters/routers/bird/bird-driver.ts';
import type { BirdChange } from '../../../../src/adapters/routers/bird/bird-shell.ts';
import { RouterFailure } from '../../../../src/ports/routers.ts';
import { fails, never } from '../../../contracts/router-driver.ts';

const NOTHING = { file: undefined, edition: undefined };

/** BIRD behind a shell that answers nothing once a list is uploaded, until the session is abandoned. */
function openSilentBird() {
  let end: ((failure: RouterFailure) => void) | undefined;
  const over = new Promise<never>((_resolve, reject) => (end = reject));
  over.catch(() => undefined);
  const unseen = () =>
    over.catch((cause: unknown) => {
      throw new RouterFailure('outcome-unknown', 'the list was sent, but its outcome was not seen', { cause });
    });
  const change: BirdChange = {
    held: NOTHING,
    upload: async () => undefined,
    tryOut: async () => undefined,
    show: () => over,
    apply: unseen,
    confirm: unseen,
    finish: async () => undefined,
    abandon: () => end?.(new RouterFailure('unreachable', 'the session is over')),
  };
  const shell = { check: () => over, read: () => over, names: () => over, begin: async () => change };
  return createBirdDriver({ shell, directory: '/etc/bird/edgeward', ids: systemIds, close: async () => undefined });
}

for (const [step, code] of [
  ['read', 'timed-out'],
  ['commit', 'outcome-unknown'],
  ['confirm', 'outcome-unknown'],
] as const) {
  test(`a prepared change that is stopped in "${step}" fails as ${code}, for the reason of who stopped it`, async () => {
    const prepared = await openSilentBird().prepare?.('Svc-ACME-BLACKHOLE', ['192.0.2.0/24'], never);
    assert.ok(prepared);
    const stop = new AbortController();
    const failing = fails(code, prepared[step](stop.signal));
    const reason = new Error('the server stops');
    stop.abort(reason);
    assert.is((await failing).cause, reason);
    await prepared.undo();
  });
}

test.run();
