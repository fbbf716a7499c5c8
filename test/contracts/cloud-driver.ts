import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Cloud, CloudFailure, type CloudFailureCode, type InstanceRequest } from '../../src/ports/clouds.ts';

/** What becomes of the call that creates an instance. `cut-after`, `refused-after`: the provider does it first. */
export type CreationFault =
  | 'cut-before'
  | 'cut-after'
  | 'not-its-answer'
  | 'broken'
  | 'throttled'
  | 'no-capacity'
  | 'quota'
  | 'login'
  | 'forbidden'
  | 'bad-input';

/** A provider that a test can look behind, with one account of it. */
export type CloudStandIn = Readonly<{
  /** Opens the account, as a server that has just started does. */
  open: () => Cloud;
  request: (run: string) => InstanceRequest;
  /** Runs whose instances cost now, one entry for each instance, as the provider itself knows. */
  living: () => Promise<readonly string[]>;
  /** Launch templates and the like. */
  leftovers: () => Promise<number>;
  /** The next creation fails; undefined: this provider can not be made to. */
  failCreation: (fault: CreationFault) => void;
  /** The client dies right after its call number `calls` is done: it gets no answer and does nothing more. */
  dieAfter: (calls: number) => void;
  /** A new client; whether the former one had died. */
  revive: () => boolean;
  /** The provider takes an instance of its own accord. */
  interrupt: (run: string) => Promise<void>;
  /** Texts that may be in no message. */
  secrets: readonly string[];
  close: () => Promise<void>;
}>;

const CODES: readonly (readonly [CreationFault, CloudFailureCode])[] = [
  ['broken', 'outcome-unknown'],
  ['throttled', 'throttled'],
  ['no-capacity', 'no-capacity'],
  ['quota', 'quota-exceeded'],
  ['login', 'login-refused'],
  ['forbidden', 'not-permitted'],
  ['bad-input', 'bad-specifications'],
];

/** More calls than any launch makes. */
const CALLS_MAX = 40;

/** What every driver of a provider is held to. Call it once in a test file, before its run. */
export function cloudDriverContract(name: string, openStandIn: () => Promise<CloudStandIn>): void {
  const signal = new AbortController().signal;

  const withProvider = (title: string, work: (provider: CloudStandIn, cloud: Cloud) => Promise<void>): void =>
    test(`${name}: ${title}`, async () => {
      const provider = await openStandIn();
      const cloud = provider.open();
      try {
        await work(provider, cloud);
      } finally {
        await cloud.close();
        await provider.close();
      }
    });

  withProvider('asked again under the same run it gives the same instance', async (provider, cloud) => {
    const request = provider.request('run-1');
    const first = await cloud.create(request, signal);
    const { installation, pool, worker, run } = request;
    assert.equal(
      { installation: first.installation, pool: first.pool, worker: first.worker, run: first.run },
      { installation, pool, worker, run },
    );
    assert.is.not(first.state, 'ended');
    const again = await cloud.create(request, signal);
    assert.equal([again.data, again.createdAt], [first.data, first.createdAt]);
    assert.equal(await provider.living(), ['run-1']);
    assert.is(await provider.leftovers(), 0);
  });

  withProvider('two servers that ask at the same moment get one instance', async (provider, cloud) => {
    const other = provider.open();
    const both = await Promise.allSettled([cloud, other].map((one) => one.create(provider.request('run-1'), signal)));
    // One of them may have lost its way between the other's steps: asked again, it finds what there is.
    for (const outcome of both) if (outcome.status === 'rejected') assert.instance(outcome.reason, CloudFailure);
    const found = await other.create(provider.request('run-1'), signal);
    await other.close();
    assert.equal(await provider.living(), ['run-1']);
    assert.is(await provider.leftovers(), 0);
    for (const outcome of both) if (outcome.status === 'fulfilled') assert.equal(outcome.value.data, found.data);
  });

  withProvider('two runs have two instances, whenever they are asked for', async (provider, cloud) => {
    await Promise.all(['run-1', 'run-2'].map((run) => cloud.create(provider.request(run), signal)));
    assert.equal((await provider.living()).toSorted(), ['run-1', 'run-2']);
  });

  withProvider('the listing has every page of this installation, and nothing of another', async (provider, cloud) => {
    for (const run of ['run-1', 'run-2', 'run-3']) await cloud.create(provider.request(run), signal);
    const { installation } = provider.request('run-1');
    const others = { ...provider.request('run-4'), installation: 'another' };
    await cloud.create(others, signal);
    const listed = await cloud.list(installation, signal);
    assert.equal(listed.map(({ run }) => run).toSorted(), ['run-1', 'run-2', 'run-3']);
    for (const { createdAt } of listed) assert.ok(Number.isFinite(Date.parse(createdAt)), createdAt);
    assert.equal(await cloud.list('nobody', signal), []);
  });

  withProvider('an instance ends once; ending one that is gone is a success', async (provider, cloud) => {
    const { data } = await cloud.create(provider.request('run-1'), signal);
    assert.is((await cloud.terminate(data, signal)).outcome, 'ending');
    assert.equal(await provider.living(), []);
    await cloud.terminate(data, signal);
    const { installation } = provider.request('run-1');
    assert.equal(
      (await cloud.list(installation, signal)).filter(({ state }) => state !== 'ended'),
      [],
    );
    assert.is((await cloud.inspect(data, signal))?.state ?? 'ended', 'ended');
  });

  withProvider(
    'an instance that the provider has taken costs no more, and its run gets no second one',
    async (provider, cloud) => {
      const request = provider.request('run-1');
      const { data } = await cloud.create(request, signal);
      assert.is((await cloud.inspect(data, signal))?.because, null);
      await provider.interrupt('run-1');
      const seen = await cloud.inspect(data, signal);
      if (seen !== undefined) {
        assert.is(seen.state, 'ended');
        assert.type(seen.because, 'string');
        // A provider that still shows it says so to whoever asks for the run again.
        assert.is((await cloud.create(request, signal)).state, 'ended');
        assert.equal(await provider.living(), []);
      }
    },
  );

  for (const [fault, code] of CODES)
    withProvider(
      `a creation that fails (${fault}) is told as ${code}, and asked again it succeeds`,
      async (provider, cloud) => {
        provider.failCreation(fault);
        const failure = await failureOf(cloud.create(provider.request('run-1'), signal));
        assert.is(failure.code, code, failure.message);
        for (const secret of provider.secrets)
          assert.not.ok(failure.message.includes(secret), 'a message holds a secret');
        assert.equal(await provider.living(), []);
        if (failure.kind === 'refused') assert.is(await provider.leftovers(), 0);
        await cloud.create(provider.request('run-1'), signal);
        assert.equal(await provider.living(), ['run-1']);
        assert.is(await provider.leftovers(), 0);
      },
    );

  for (const fault of ['cut-before', 'cut-after', 'not-its-answer'] as const)
    withProvider(
      `an answer that is lost (${fault}) is uncertain; asked again there is one instance`,
      async (provider, cloud) => {
        provider.failCreation(fault);
        const failure = await failureOf(cloud.create(provider.request('run-1'), signal));
        assert.is(failure.kind, 'uncertain', failure.code);
        for (const secret of provider.secrets)
          assert.not.ok(failure.message.includes(secret), 'a message holds a secret');
        const again = await cloud.create(provider.request('run-1'), signal);
        assert.equal(await provider.living(), ['run-1']);
        assert.is(again.run, 'run-1');
        assert.is(await provider.leftovers(), 0);
      },
    );

  withProvider(
    'a server that dies after any of its calls leaves one instance behind for the next, and nothing beside',
    async (provider, cloud) => {
      let deaths = 0;
      for (let calls = 1; calls <= CALLS_MAX; calls += 1) {
        const request = provider.request(`run-${calls}`);
        const dying = provider.open();
        provider.dieAfter(calls);
        await dying.create(request, signal).catch(() => undefined);
        const died = provider.revive();
        await dying.close();
        await cloud.create(request, signal);
        assert.equal(
          (await provider.living()).filter((run) => run === request.run),
          [request.run],
          `died after call ${calls}`,
        );
        assert.is(await provider.leftovers(), 0, `died after call ${calls}`);
        if (!died) break;
        deaths += 1;
      }
      assert.ok(deaths > 0 && deaths < CALLS_MAX, `died ${deaths} times`);
    },
  );

  withProvider('what a launch left behind goes when its run is over, and not before', async (provider, cloud) => {
    const { installation } = provider.request('run-1');
    provider.failCreation('cut-after');
    await failureOf(cloud.create(provider.request('run-1'), signal));
    const before = await provider.leftovers();
    assert.is(await cloud.removeLeftovers(installation, () => false, signal), 0);
    assert.is(await provider.leftovers(), before);
    const removed = await cloud.removeLeftovers(installation, ({ run }) => run === 'run-1', signal);
    assert.is(removed, before);
    assert.is(await provider.leftovers(), 0);
  });

  withProvider('what it keeps of an instance is plain JSON, and no secret', async (provider, cloud) => {
    const instance = await cloud.create(provider.request('run-1'), signal);
    assert.equal(JSON.parse(JSON.stringify(instance)), instance);
    for (const secret of provider.secrets) assert.not.ok(JSON.stringify(instance).includes(secret));
  });

  withProvider('an account that works is found to work, and nothing is created', async (provider, cloud) => {
    await cloud.check(signal);
    assert.equal(await provider.living(), []);
    assert.is(await provider.leftovers(), 0);
  });

  withProvider('it stops when it is told to', async (provider, cloud) => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    await cloud.create(provider.request('run-1'), stopped).then(
      () => assert.unreachable('an aborted call resolved'),
      () => undefined,
    );
    assert.equal(await provider.living(), []);
  });
}

async function failureOf(work: Promise<unknown>): Promise<CloudFailure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.instance(failure, CloudFailure, `not a CloudFailure: ${String(failure)}`);
  return failure as CloudFailure;
}
