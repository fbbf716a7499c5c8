import { Temporal } from '@js-temporal/polyfill';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { customerDecider, type CustomerCommand } from '../../../src/commands/ip-control/customer.ts';
import { commitKey, type CustomerState } from '../../../src/commands/ip-control/customer-state.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { ListKind } from '../../../src/events/ip-control/vocabulary.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { quietPeriod } from '../../../src/processes/ip-control/quiet-period.ts';
import { dutiesAfter, foldViews, recorded, sinceAt, specifyProcess } from '../../specification.ts';
import {
  assigned,
  block,
  commitCompleted,
  commitFailed,
  commitHeldUp,
  commitRequested,
  commitSliceDeployed,
  disable,
  disabled,
  enable,
  enabled,
  one,
  registered,
  released,
} from '../../commands/ip-control/customer-examples.ts';
import { approve, reject, remove, submit } from '../../commands/ip-control/source-whitelist-examples.ts';

const MINUTE = 60_000;
const settings = {
  quietMilliseconds: 2 * MINUTE,
  retryMilliseconds: [1 * MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE],
};
const process = quietPeriod(settings);
const handles = new Set<string>(process.handles);
type Watched = Parameters<typeof process.keysOf>[0];

/** A time of this day. */
const at = (time: string): string => `2026-11-27T${time}Z`;

/** What happened to customer 7, or another, at these times. */
function given(...history: readonly (readonly [time: string, event: CustomerEvent, customerId?: number])[]) {
  return specifyProcess(process).given(...watched(history));
}

function watched(
  history: readonly (readonly [time: string, event: CustomerEvent, customerId?: number])[],
): readonly Watched[] {
  return history
    .map(([time, event, customerId = 7], index): RecordedEvent =>
      recorded(event, at(time), { stream: `customer-${customerId}`, revision: BigInt(index) }),
    )
    .filter((event): event is Watched => isHandled(handles, event));
}

const commit = (regionId = 1, reason: 'quiet' | 'retry' = 'quiet', customerId = 7) =>
  ({ type: 'RequestCommit', data: { customerId, regionId, list: 'BLACKHOLE', reason } }) as const;

// The quiet period

test('a commit is due when the last change is two minutes old, and not a moment before', () => {
  const changed = given(['12:00:00', disabled(['192.0.2.1'])]);
  changed.at(at('12:00:00')).owesNothing();
  changed.at(at('12:01:59.999')).owesNothing();
  changed.at(at('12:02:00')).owes(commit());
  changed.at(at('23:00:00')).owes(commit());
  changed.wakesAt(at('12:02:00'));
});

test('every change begins the quiet period anew', () => {
  const busy = given(['12:00:00', disabled(['192.0.2.1'])], ['12:01:30', enabled(['192.0.2.1'])]);
  busy.at(at('12:03:29')).owesNothing();
  busy.at(at('12:03:30')).owes(commit());
});

test('what is not about addresses begins nothing', () => {
  given(['12:00:00', registered()], ['12:00:01', assigned(1, '192.0.2.0/24')]).isOver();
});

test('a subnet that is released with disabled addresses is a change, one without is none', () => {
  given(['12:00:00', released(1, '192.0.2.0/24', ['192.0.2.1'])])
    .at(at('12:02:00'))
    .owes(commit());
  given(['12:00:00', released(1, '192.0.2.0/24')]).isOver();
  given(['12:00:00', disabled(['192.0.2.1'])], ['12:01:00', released(1, '198.51.100.0/24')]).wakesAt(at('12:02:00'));
});

test('regions are quiet each on its own', () => {
  const two = given(['12:00:00', disabled(['192.0.2.1'])], ['12:01:00', disabled(['198.51.100.1'], 2)]);
  two.at(at('12:02:00')).owes(commit());
  two.at(at('12:03:00')).owes(commit(), commit(2));
  two.wakesAt(at('12:02:00'));
});

test('customers are independent: what one does delays no other', () => {
  const two = given(['12:00:00', disabled(['192.0.2.1'])], ['12:01:59', disabled(['198.51.100.1']), 8]);
  two.at(at('12:02:00')).owes(commit());
  two.at(at('12:03:59')).owes(commit(), commit(1, 'quiet', 8));
});

// Never quiet

test('a customer that changes something every minute is never quiet, and waits for ever', () => {
  const busy = given(...everyMinute(60));
  busy.at(at('13:00:00')).owesNothing();
});

test('with a maximum, the oldest waiting change waits no longer than that', () => {
  const bounded = quietPeriod({ ...settings, quietMillisecondsMax: 10 * MINUTE });
  const busy = specifyProcess(bounded).given(...watched(everyMinute(9)));
  busy.at(at('12:09:59.999')).owesNothing();
  busy.at(at('12:10:00')).owes(commit());
  busy.wakesAt(at('12:10:00'));
  // The next one counts from the first change that the commit did not capture.
  const next = specifyProcess(bounded).given(
    ...watched([
      ...everyMinute(10),
      ['12:10:10', commitRequested()],
      ['12:10:50', disabled(['192.0.2.1'])],
      ['12:11:00', commitCompleted()],
      ...everyMinute(20, 11),
    ]),
  );
  next.at(at('12:20:49')).owesNothing();
  next.at(at('12:20:50')).owes(commit());
});

test('a quiet customer does not wait for the maximum', () => {
  const bounded = quietPeriod({ ...settings, quietMillisecondsMax: 10 * MINUTE });
  specifyProcess(bounded)
    .given(...watched([['12:00:00', disabled(['192.0.2.1'])]]))
    .at(at('12:02:00'))
    .owes(commit());
});

function everyMinute(last: number, first = 0): readonly (readonly [time: string, event: CustomerEvent])[] {
  return Array.from({ length: last - first + 1 }, (_, nth) => {
    const minute = `12:${String(first + nth).padStart(2, '0')}:00`;
    return [minute === '12:60:00' ? '13:00:00' : minute, disabled([`192.0.2.${first + nth}`])] as const;
  });
}

// Under way

test('while a commit is under way nothing more is due', () => {
  const deploying = given(
    ['12:00:00', disabled(['192.0.2.1'])],
    ['12:02:00', commitRequested()],
    ['12:02:01', disabled(['192.0.2.2'])],
  );
  deploying.at(at('23:00:00')).owesNothing();
  deploying.wakesAt('never');
});

test('after a success nothing is left to watch', () => {
  given(
    ['12:00:00', disabled(['192.0.2.1'])],
    ['12:02:00', commitRequested()],
    ['12:02:05', commitCompleted()],
  ).isOver();
});

test('what changed during a deployment is due two minutes after it changed', () => {
  const next = given(
    ['12:00:00', disabled(['192.0.2.1'])],
    ['12:02:00', commitRequested()],
    ['12:02:01', disabled(['192.0.2.2'])],
    ['12:02:05', commitCompleted()],
  );
  next.at(at('12:04:00')).owesNothing();
  next.at(at('12:04:01')).owes(commit());
  next.wakesAt(at('12:04:01'));
});

test('a change that was waiting longer than that is due at once', () => {
  given(
    ['12:00:00', disabled(['192.0.2.1'])],
    ['12:02:00', commitRequested()],
    ['12:02:01', disabled(['192.0.2.2'])],
    ['12:30:00', commitCompleted()],
  )
    .at(at('12:30:00'))
    .owes(commit());
});

// Again

test('a failed commit is due again after 1, 2, 5, 10 and then every 15 minutes', () => {
  const minutes = [1, 2, 5, 10, 15, 15, 15, 15];
  const history: [string, CustomerEvent][] = [['00:00:00', disabled(['192.0.2.1'])]];
  let now = Temporal.PlainTime.from('00:02:00');
  for (const [index, wait] of minutes.entries()) {
    const attempt = index + 1;
    history.push([now.toString(), commitRequested({ attempt })]);
    now = now.add({ seconds: 30 });
    history.push([now.toString(), commitFailed({ attempt })]);
    const failed = given(...history);
    const due = now.add({ minutes: wait });
    failed.at(at(due.subtract({ milliseconds: 1 }).toString())).owesNothing();
    failed.at(at(due.toString())).owes(commit(1, 'retry'));
    failed.wakesAt(at(due.toString()));
    now = due;
  }
});

test('it is due at once when a new commit becomes due', () => {
  const failedThrice = [
    ['12:00:00', disabled(['192.0.2.1'])],
    ['12:02:00', commitRequested()],
    ['12:02:10', commitFailed()],
    ['12:03:10', commitRequested({ attempt: 2 })],
    ['12:03:20', commitFailed({ attempt: 2 })],
    ['12:05:20', commitRequested({ attempt: 3 })],
    ['12:05:30', commitFailed({ attempt: 3 })],
  ] as const;
  given(...failedThrice).wakesAt(at('12:10:30'));
  const changed = given(...failedThrice, ['12:06:00', disabled(['192.0.2.2'])]);
  changed.at(at('12:07:59')).owesNothing();
  changed.at(at('12:08:00')).owes(commit(1, 'retry'));
});

test('a new change does not put off a retry that is due earlier', () => {
  const changed = given(
    ['12:00:00', disabled(['192.0.2.1'])],
    ['12:02:00', commitRequested()],
    ['12:02:10', commitFailed()],
    ['12:03:00', disabled(['192.0.2.2'])],
  );
  changed.at(at('12:03:10')).owes(commit(1, 'retry'));
});

test('after the success of a retry nothing is left to watch', () => {
  given(
    ['12:00:00', disabled(['192.0.2.1'])],
    ['12:02:00', commitRequested()],
    ['12:02:10', commitFailed()],
    ['12:03:10', commitRequested({ attempt: 2 })],
    ['12:03:20', commitCompleted({ attempt: 2 })],
  ).isOver();
});

test('each debt has its own name, so that none is taken for another that was paid', () => {
  const first = [['12:00:00', disabled(['192.0.2.1'])]] as const;
  const failed = [...first, ['12:02:00', commitRequested()], ['12:02:10', commitFailed()]] as const;
  const failedTwice = [
    ...failed,
    ['12:03:10', commitRequested({ attempt: 2 })],
    ['12:03:20', commitFailed({ attempt: 2 })],
  ] as const;
  const ids = [first, failed, failedTwice].map(
    (history) => dutiesAfter(process, watched(history), at('23:00:00'))[0]?.id,
  );
  assert.is(new Set(ids).size, 3);
});

// Exactly when there is something to deploy

type Step = Readonly<{ ask: (state: CustomerState, nth: number) => CustomerCommand | undefined }>;

const host = fc.nat(15).map((n) => `192.0.2.${n}`);
const request = fc.constantFrom('r1', 'r2', 'r3');
const list = fc.constantFrom<ListKind>('BLACKHOLE', 'SRC_WHITELIST');

function settling(kind: ListKind, isSuccess: boolean): Step {
  return {
    ask: (state) => {
      if (state.phase === 'unregistered') return undefined;
      const open = state.commits.get(commitKey(1, kind));
      if (open === undefined) return undefined;
      const { commitSetId, attempt } = open;
      const result = { outcomes: [], content: { prefixes: 0, sha256: '' }, completedAt: at('12:00:00') };
      return {
        type: isSuccess ? 'RecordCommitCompleted' : 'RecordCommitFailed',
        data: { regionId: 1, list: kind, commitSetId, attempt, ...result },
      };
    },
  };
}

const step: fc.Arbitrary<Step> = fc.oneof(
  host.map((text) => ({ ask: () => disable(one(text)) })),
  host.map((text) => ({ ask: () => enable(one(text)) })),
  fc.constant({ ask: () => enable(block('192.0.2.0/24')) }),
  fc.tuple(fc.nat(3), request).map(([n, requestId]) => ({ ask: () => submit(`8.8.${n}.1`, { requestId }) })),
  request.map((requestId) => ({ ask: () => approve(requestId) })),
  request.map((requestId) => ({ ask: () => reject(requestId) })),
  request.map((requestId) => ({ ask: () => remove(requestId) })),
  list.map((kind) => ({
    ask: (_state: CustomerState, nth: number): CustomerCommand => ({
      type: 'RequestCommit',
      data: { regionId: 1, list: kind, commitSetId: `c${nth}`, reason: 'quiet' },
    }),
  })),
  fc.tuple(list, fc.boolean()).map(([kind, isSuccess]) => settling(kind, isSuccess)),
  fc.boolean().map((isTrusted) => ({
    ask: (): CustomerCommand => ({ type: 'ChangeCustomerSettings', data: { changes: { trusted: isTrusted } } }),
  })),
  fc.constant({ ask: (): CustomerCommand => ({ type: 'ReleaseSubnet', data: { subnetId: 1 } }) }),
);

test('a commit is due, sooner or later, exactly when the customer has something to deploy', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const events: CustomerEvent[] = [registered({ allowSourceWhitelist: true }), assigned(1, '192.0.2.0/24')];
      let state: CustomerState = customerDecider.initial;
      for (const [revision, event] of events.entries())
        state = customerDecider.evolve(state, { ...event, revision: BigInt(revision) });
      for (const [nth, { ask }] of steps.entries()) {
        const command = ask(state, nth);
        const answer = command === undefined ? [] : customerDecider.decide(command, state);
        if (isRefusal(answer)) continue;
        for (const event of answer) {
          state = customerDecider.evolve(state, { ...event, revision: BigInt(events.length) });
          events.push(event);
        }
      }
      const seen = foldViews(process, watched(events.map((event) => ['12:00:00', event] as const)));
      const later = sinceAt(at('23:00:00'));
      for (const kind of ['BLACKHOLE', 'SRC_WHITELIST'] as const) {
        const decision = customerDecider.decide(
          { type: 'RequestCommit', data: { regionId: 1, list: kind, commitSetId: 'next', reason: 'quiet' } },
          state,
        );
        const process1 = seen.get(`7/1/${kind}`);
        const isDue = process1 !== undefined && process.owed(process1, later).length > 0;
        assert.is(isDue, !isRefusal(decision) && decision.length > 0, kind);
      }
    }),
    { numRuns: 500 },
  );
});

// Deployments that go on slowly

test('what comes while a deployment goes on slowly is due after its own quiet period', () => {
  for (const slow of [commitSliceDeployed(1, 3), commitHeldUp(['core2'])]) {
    const history = [
      ['12:00:00', disabled(['192.0.2.1'])],
      ['12:02:00', commitRequested()],
      ['12:02:30', disabled(['192.0.2.2'])],
      ['12:02:40', slow],
    ] as const;
    given(...history)
      .at(at('12:04:29'))
      .owes();
    given(...history)
      .at(at('12:04:30'))
      .owes(commit());
    given(...history, ['12:04:30', commitRequested({ attempt: 2 })])
      .at(at('12:10:00'))
      .owes();
    // Nothing new: the deployment goes on.
    given(...history.filter((_, index) => index !== 2))
      .at(at('13:00:00'))
      .owes();
    given(...history, ['12:03:00', commitCompleted()])
      .at(at('12:04:30'))
      .owes(commit());
  }
});

test.run();
