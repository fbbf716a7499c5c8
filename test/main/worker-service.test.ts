import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../src/adapters/clock.ts';
import { submitWork } from '../../src/application/worker-pools/work-requests.ts';
import { openWorkerService } from '../../src/main/worker-service.ts';
import { openTestApplication } from '../support/test-application.ts';
import { accepted, foundPool } from '../support/worker-pools/records.ts';

/** Some view is never shown. */
async function reached(): Promise<boolean> {
  return false;
}

test('beside a leader of an older version, which does not save every view, a server gives work to its workers', async () => {
  const application = await openTestApplication();
  const ended = new AbortController();
  try {
    const { workers, views, ids, log, context, clock } = application;
    await foundPool(application);
    const at = clock.nowText();
    const registration = { worker: 'builder', pool: null, architectures: ['amd64'], at } as const;
    accepted(await workers.handle('builder', { type: 'RegisterWorker', data: registration }, context));
    const connection = { run: null, dynamicMetadata: {}, at };
    accepted(await workers.handle('builder', { type: 'RecordWorkerConnected', data: connection }, context));
    const wanted = {
      scope: 'debian',
      architecture: 'amd64',
      pool: null,
      payload: null,
      expectedSeconds: null,
    } as const;
    const { id } = accepted(await submitWork(wanted, context, application)).view;
    await application.catchUp();
    const stores = { ...application, areShared: true };
    const service = openWorkerService(application, views, stores, { clock: systemClock, ids, log, reached });
    const running = service.run(ended.signal);
    running.catch(() => ended.abort());
    const taken = await service.workerApi.dispatcher.take({ worker: 'builder', run: null }, ended.signal);
    ended.abort();
    await running;
    assert.is(taken?.id, id);
  } finally {
    ended.abort();
    await application.close();
  }
});

test.run();
