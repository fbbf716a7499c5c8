import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type WorkerCommand, workerDecider } from '../../../src/commands/worker-pools/worker.ts';
import type { WorkerEvent } from '../../../src/events/worker-pools/worker.ts';
import { specify } from '../../specification.ts';

const { given } = specify(workerDecider);

const at = (minute: number) => `2026-11-27T20:${String(minute).padStart(2, '0')}:00.000+00:00`;
const of = { worker: 'spot-001', pool: 'spot' } as const;
const data = { instance_id: 'i-1' };

const registered: WorkerEvent = {
  type: 'WorkerRegistered',
  data: { ...of, architectures: ['amd64'], registeredAt: at(0) },
};

function requested(run: string, minute = 1): WorkerEvent {
  const more = {
    providerAccount: 'hcloud',
    architectures: ['amd64' as const],
    activationSha256: 'abc',
    because: 'asked',
    requestedAt: at(minute),
  };
  return { type: 'InstanceLaunchRequested', data: { ...of, run, ...more } };
}

function created(run: string, minute = 2): WorkerEvent {
  return { type: 'InstanceCreated', data: { ...of, run, instanceCreatedAt: at(minute), workerPoolData: data } };
}

function connected(run: string, minute = 4): WorkerEvent {
  return { type: 'WorkerConnected', data: { ...of, run, dynamicMetadata: { cpus: 4 }, connectedAt: at(minute) } };
}

function started(run: string, task = 't1', minute = 5): WorkerEvent {
  return {
    type: 'TaskStarted',
    data: { ...of, run, task, scope: 'debian', expectedSeconds: 60, startedAt: at(minute) },
  };
}

function finished(run: string, outcome: 'finished' | 'lost', minute: number, task = 't1'): WorkerEvent {
  const end = { ...of, run, task, scope: 'debian', outcome, startedAt: at(5), finishedAt: at(minute) };
  return { type: 'TaskFinished', data: outcome === 'lost' ? { ...end, because: 'spot-001: idle' } : end };
}

function ending(run: string, forced: boolean): WorkerEvent {
  const why = { code: 'idle', because: 'idle', forced, requestedAt: at(20) };
  return { type: 'InstanceTerminationRequested', data: { ...of, run, ...why } };
}

function gone(run: string, minute = 30, from = 2): WorkerEvent {
  const span = { instanceCreatedAt: at(from), terminatedAt: at(minute), because: 'idle' };
  return { type: 'InstanceTerminated', data: { ...of, run, ...span } };
}

const running = [registered, requested('a'), created('a'), connected('a')];

const startTask: WorkerCommand = {
  type: 'StartTask',
  data: { task: 't1', scope: 'debian', expectedSeconds: 60, at: at(5) },
};
const terminate = (forced: boolean): WorkerCommand => ({
  type: 'RequestTermination',
  data: { code: 'idle', because: 'idle', forced, at: at(20) },
});
const isGone = (run: string, minute = 30): WorkerCommand => ({
  type: 'RecordInstanceTerminated',
  data: { run, because: 'idle', at: at(minute) },
});

const launch = (run: string): WorkerCommand => ({
  type: 'RequestLaunch',
  data: {
    run,
    providerAccount: 'hcloud',
    architectures: ['amd64'],
    activationSha256: 'abc',
    because: 'asked',
    at: at(1),
  },
});
const say = (cpus: number): WorkerCommand => ({
  type: 'RecordWorkerConnected',
  data: { run: 'a', dynamicMetadata: { cpus }, at: at(4) },
});

test('a worker is registered once and keeps that time through all of its instances', () => {
  const register: WorkerCommand = { type: 'RegisterWorker', data: { ...of, architectures: ['amd64'], at: at(0) } };
  given().when(register).yields(registered);
  given(registered)
    .when({ type: 'RegisterWorker', data: { ...of, architectures: ['amd64'], at: at(9) } })
    .yieldsNothing();
});

test('a launch is requested once per run, and not beside another instance', () => {
  given(registered).when(launch('a')).yields(requested('a'));
  given(registered, requested('a')).when(launch('a')).yieldsNothing();
  given(registered, requested('a')).when(launch('b')).isRefused('instance-exists');
  given(...running, gone('a'))
    .when(launch('a'))
    .yieldsNothing();
  given(...running, gone('a'))
    .when(launch('b'))
    .yields(requested('b'));
});

test('what the provider created is recorded once, with its own time and data', () => {
  const record: WorkerCommand = {
    type: 'RecordInstanceCreated',
    data: { run: 'a', instanceCreatedAt: at(2), workerPoolData: data },
  };
  given(registered, requested('a')).when(record).yields(created('a'));
  given(...running)
    .when(record)
    .yieldsNothing();
  given(...running, gone('a'))
    .when(record)
    .yieldsNothing();
  given(registered).when(record).isRefused('run-not-found');
});

test('a launch fails once, and only while there is no instance', () => {
  const fail: WorkerCommand = {
    type: 'RecordLaunchFailed',
    data: { run: 'a', code: 'no-capacity', because: 'none left', at: at(3) },
  };
  const failed: WorkerEvent = {
    type: 'InstanceLaunchFailed',
    data: { ...of, run: 'a', code: 'no-capacity', because: 'none left', failedAt: at(3) },
  };
  given(registered, requested('a')).when(fail).yields(failed);
  given(registered, requested('a'), failed).when(fail).yieldsNothing();
  given(...running)
    .when(fail)
    .isRefused('instance-exists');
});

test('a worker takes one task at a time, once it is ready and while nobody wants it ended', () => {
  given(...running)
    .when(startTask)
    .yields(started('a'));
  given(...running, started('a'))
    .when(startTask)
    .yieldsNothing();
  given(...running, started('a'))
    .when({ type: 'StartTask', data: { task: 't2', scope: 'kali', expectedSeconds: 1, at: at(6) } })
    .isRefused('worker-busy');
  given(registered, requested('a'), created('a')).when(startTask).isRefused('worker-not-ready');
  given(...running, ending('a', false))
    .when(startTask)
    .isRefused('worker-ending');
});

test('a running task is not killed by a termination that is not forced', () => {
  given(...running, started('a'))
    .when(terminate(false))
    .yields(ending('a', false));
  given(...running, started('a'), ending('a', false))
    .when(terminate(false))
    .yieldsNothing();
  given(...running, started('a'), ending('a', false))
    .when(terminate(true))
    .yields(ending('a', true));
  given(...running, ending('a', true))
    .when(terminate(false))
    .yieldsNothing();
  given(...running, gone('a'))
    .when(terminate(false))
    .isRefused('instance-not-found');
});

test('a termination is accounted once, however often it is tried', () => {
  given(...running, ending('a', false))
    .when(isGone('a'))
    .yields(gone('a'));
  given(...running, ending('a', false), gone('a'))
    .when(isGone('a', 45))
    .yieldsNothing();
  given(...running, gone('a'), requested('b'))
    .when(isGone('a', 45))
    .isRefused('run-not-found');
});

test('an instance that the provider took away ends its task as lost', () => {
  given(...running, started('a'))
    .when(isGone('a'))
    .yields(finished('a', 'lost', 30), gone('a'));
});

const activation = { activationSha256: 'x', tokenSha256: 'y', at: at(3) };

test('an activation token is exchanged once, by the instance that has it', () => {
  const activated: WorkerEvent = {
    type: 'WorkerActivated',
    data: { ...of, run: 'a', tokenSha256: 'y', activatedAt: at(3) },
  };
  const sha = requested('a').type === 'InstanceLaunchRequested' ? requested('a').data : undefined;
  const activationSha256 = sha !== undefined && 'activationSha256' in sha ? sha.activationSha256 : '';
  const activate = { type: 'ActivateWorker', data: { ...activation, activationSha256 } } as const;
  given(registered, requested('a')).when(activate).yields(activated);
  given(registered, requested('a'), activated).when(activate).isRefused('activation-token-ended');
  given(registered, requested('a'))
    .when({ type: 'ActivateWorker', data: { ...activation, activationSha256: 'another' } })
    .isRefused('activation-token-ended');
});

test('an ephemeral worker takes one task', () => {
  const launched = requested('a');
  assert.ok(launched.type === 'InstanceLaunchRequested');
  const once = { ...launched, data: { ...launched.data, ephemeral: true } };
  given(registered, once, created('a'), connected('a'), started('a'), finished('a', 'finished', 6))
    .when({ type: 'StartTask', data: { task: 't2', scope: 'debian', expectedSeconds: 60, at: at(7) } })
    .isRefused('worker-ending');
});

test('silence is said once, and so is that it is over', () => {
  const silent: WorkerEvent = { type: 'WorkerFellSilent', data: { ...of, run: 'a', at: at(9) } };
  given(...running)
    .when({ type: 'RecordSilence', data: { at: at(9) } })
    .yields(silent);
  given(...running, silent)
    .when({ type: 'RecordSilence', data: { at: at(10) } })
    .yieldsNothing();
  given(...running, silent)
    .when({ type: 'RecordHeard', data: { at: at(11) } })
    .yields({ type: 'WorkerHeardAgain', data: { ...of, run: 'a', at: at(11) } });
  given(...running)
    .when({ type: 'RecordHeard', data: { at: at(11) } })
    .yieldsNothing();
});

test('a clock that was set back gives no negative run', () => {
  given(...running)
    .when(isGone('a', 1))
    .yields(gone('a', 2));
  given(...running, started('a'))
    .when({ type: 'FinishTask', data: { task: 't1', at: at(3) } })
    .yields(finished('a', 'finished', 5));
});

test('a task ends once', () => {
  given(...running, started('a'))
    .when({ type: 'FinishTask', data: { task: 't1', at: at(9) } })
    .yields(finished('a', 'finished', 9));
  given(...running, started('a'), finished('a', 'finished', 9))
    .when({ type: 'FinishTask', data: { task: 't1', at: at(10) } })
    .yieldsNothing();
});

test('what a worker says about itself is recorded when it changes', () => {
  given(registered, requested('a'), created('a')).when(say(4)).yields(connected('a'));
  given(...running)
    .when(say(4))
    .yieldsNothing();
  given(registered, requested('a')).when(say(4)).isRefused('run-not-found');
});

test('a worker without a pool runs tasks and is not ours to end', () => {
  const own: WorkerEvent = {
    type: 'WorkerRegistered',
    data: { worker: 'old', pool: null, architectures: ['arm64'], registeredAt: at(0) },
  };
  given(own)
    .when(startTask)
    .yields({
      type: 'TaskStarted',
      data: {
        worker: 'old',
        pool: null,
        run: null,
        task: 't1',
        scope: 'debian',
        expectedSeconds: 60,
        startedAt: at(5),
      },
    });
  given(own).when(terminate(true)).isRefused('worker-without-pool');
  given().when(startTask).isRefused('worker-not-found');
});

test.run();
