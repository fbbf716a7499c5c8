import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Cloud, CloudInstance, InstanceRequest } from '../../src/ports/clouds.ts';

/** What every driver of a provider is held to. Call it once in a test file, before its run. */
export function cloudDriverContract(
  name: string,
  open: () => Promise<
    Readonly<{ cloud: Cloud; request: (run: string) => InstanceRequest; close: () => Promise<void> }>
  >,
): void {
  const signal = new AbortController().signal;

  const withCloud = (title: string, work: (cloud: Cloud, request: (run: string) => InstanceRequest) => Promise<void>) =>
    test(`${name}: ${title}`, async () => {
      const { cloud, request, close } = await open();
      try {
        await work(cloud, request);
      } finally {
        await cloud.close();
        await close();
      }
    });

  withCloud('asked again under the same run it gives the same instance', async (cloud, request) => {
    const first = await cloud.create(request('run-1'), signal);
    const again = await cloud.create(request('run-1'), signal);
    assert.equal(again, first);
    assert.equal(runsOf(await cloud.list(request('run-1').pool, signal)), ['run-1']);
  });

  withCloud('runs have instances of their own, and are listed by pool', async (cloud, request) => {
    await cloud.create(request('run-1'), signal);
    await cloud.create(request('run-2'), signal);
    assert.equal(runsOf(await cloud.list(request('run-1').pool, signal)), ['run-1', 'run-2']);
    assert.equal(await cloud.list('another-pool', signal), []);
  });

  withCloud('an instance ends once; ending one that is gone is a success', async (cloud, request) => {
    const { data } = await cloud.create(request('run-1'), signal);
    await cloud.terminate(data, signal);
    await cloud.terminate(data, signal);
    assert.equal(await cloud.list(request('run-1').pool, signal), []);
  });

  withCloud('what it keeps of an instance is plain JSON', async (cloud, request) => {
    const { data } = await cloud.create(request('run-1'), signal);
    assert.equal(JSON.parse(JSON.stringify(data)), data);
  });

  withCloud('it stops when it is told to', async (cloud, request) => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    await cloud.create(request('run-1'), stopped).then(
      () => assert.unreachable('an aborted call resolved'),
      () => undefined,
    );
    assert.equal(await cloud.list(request('run-1').pool, signal), []);
  });
}

function runsOf(instances: readonly CloudInstance[]): readonly string[] {
  return instances.map(({ run }) => run).toSorted();
}
