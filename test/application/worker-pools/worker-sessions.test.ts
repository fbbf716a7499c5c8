import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { activateWorker, registerWorker } from '../../../src/application/worker-pools/worker-sessions.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { type EventStore, StoreUnavailable } from '../../../src/ports/event-store.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openTestApplication } from '../../support/test-application.ts';

/** A store that makes the first append, and none after it before it is mended: as if who appends had died in between. */
function dyingAfterOne() {
  let [appends, isMended] = [0, false];
  const between = (store: EventStore): EventStore => ({
    ...store,
    append: async (...append) => {
      appends += 1;
      if (appends > 1 && !isMended) throw new StoreUnavailable('the test has it so: nothing was recorded');
      return store.append(...append);
    },
  });
  return { between, mend: () => void (isMended = true) };
}

test('a worker that is registered has its token, whenever who registers it dies', async () => {
  const { between, mend } = dyingAfterOne();
  const application = await openTestApplication(createManualClock(), between);
  try {
    const { context } = application;
    const register = () => registerWorker('builder', ['amd64'], context, application);
    const answer = await register().catch((error: unknown) => error);
    mend();
    const { workers } = application.anotherProcess();
    const { state } = await workers.state('builder');
    assert.is(state.worker === undefined, state.activationSha256 === undefined);
    assert.not.instance(answer, StoreUnavailable);
  } finally {
    await application.close();
  }
});

test('of two that register one worker at the same moment one has the token, and it is good', async () => {
  const application = await openTestApplication();
  try {
    const { context } = application;
    const answers = await Promise.all(
      [application, application.anotherProcess()].map(({ workers }) =>
        registerWorker('builder', ['amd64'], context, { ...application, workers }),
      ),
    );
    const tokens = answers.flatMap((answer) => (isRefusal(answer) ? [] : [answer.token]));
    assert.equal(
      answers.filter(isRefusal).map(({ refused }) => refused),
      ['worker-exists'],
    );
    assert.is(tokens.length, 1);
    assert.is((await activateWorker(tokens[0] ?? '', context, application))?.worker, 'builder');
  } finally {
    await application.close();
  }
});

test.run();
