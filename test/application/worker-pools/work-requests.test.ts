// A work request may be called by as much of its id as no other begins with.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createScope } from '../../../src/application/worker-pools/scopes.ts';
import { showWork, submitWork } from '../../../src/application/worker-pools/work-requests.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import { accepted } from '../../support/worker-pools/records.ts';

const IDS = ['0a1b', '0a2c', 'f00d'].map((beginning) => `${beginning}5678-1234-4234-8234-123456789abc`);

async function withWork(work: (called: (named: string) => Promise<string>) => Promise<void>): Promise<void> {
  const application: TestApplication = await openTestApplication();
  try {
    const { context } = application;
    accepted(await createScope('debian', context, application));
    const left = [...IDS];
    const ids = { ...application.ids, uuid: () => left.shift() ?? application.ids.uuid() };
    const wanted = {
      scope: 'debian',
      architecture: 'amd64',
      pool: null,
      payload: null,
      expectedSeconds: null,
    } as const;
    while (left.length > 0) accepted(await submitWork(wanted, context, { ...application, ids }));
    await work(async (named) => {
      const shown = await showWork(named, application);
      return isRefusal(shown) ? `${shown.refused}: ${shown.because}` : shown.view.id;
    });
  } finally {
    await application.close();
  }
}

test('its beginning is enough where no other begins so, in capitals as well', () =>
  withWork(async (called) => {
    for (const id of IDS) {
      assert.is(await called(id), id);
      assert.is(await called(id.slice(0, 3)), id);
      assert.is(await called(id.slice(0, 20).toUpperCase()), id);
    }
  }));

test('where several begin so they are named, and none is taken', () =>
  withWork(async (called) => {
    assert.match(await called('0a'), /^ambiguous-work-request: 2 work requests begin with 0a: 0a1b.*, 0a2c/);
  }));

test('nothing, something else, and what means much to a store name none', () =>
  withWork(async (called) => {
    for (const named of ['', ' ', 'a1b', '%', '_', '~', '0a1b.*', `${IDS[0]}0`, '\u{10ffff}'])
      assert.match(await called(named), /^work-request-not-found/, JSON.stringify(named));
  }));

test.run();
