import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer } from '../../../src/application/ip-control/customers.ts';
import { findRegion } from '../../../src/application/ip-control/lookups.ts';
import {
  chooseDeployPolicy,
  createRegion,
  regionRevision,
  removeRegion,
} from '../../../src/application/ip-control/regions.ts';
import { addSubnet, removeSubnet } from '../../../src/application/ip-control/subnets.ts';
import { recordingInto } from '../../../src/application/operations/recording.ts';
import { isRefusal, type Refusal } from '../../../src/kernel/decider.ts';
import { performFinishReservation } from '../../../src/processes/ip-control/finish-reservations.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';

const context = { actor: 'admin:ada', requestId: 'request-1' };
const ROUTER = { router: 'core1', driver: 'file', options: { path: '/srv/lists' } };
const DUTY = {
  type: 'FinishReservation',
  id: 'region-removal/1',
  data: { kind: 'region-removal', regionId: 1, name: 'ams' },
} as const;

const SIGNAL = new AbortController().signal;

const removal = suite<{ application: TestApplication }>('a region is removed');

removal.before.each(async (opened) => {
  opened.application = await openTestApplication();
  const { application } = opened;
  accepted(await createRegion({ name: 'ams' }, context, application));
  accepted(await createCustomer({ name: 'Acme Corp.', settings: {} }, context, application));
});

removal.after.each(({ application }) => application.close());

function accepted<T extends object>(answer: T | Refusal): T {
  if (isRefusal(answer)) throw new Error(`refused: ${answer.because}`);
  return answer;
}

function refusedWith(answer: object): string {
  return isRefusal(answer) ? answer.refused : `accepted: ${JSON.stringify(answer)}`;
}

const subnet = (application: TestApplication) =>
  addSubnet({ customer: '1', region: 'ams', cidr: '192.0.2.0/24', asn: 64_500, metro: 'AMS' }, context, application);

async function recordedFrom(application: TestApplication, after: bigint): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const page of application.store.readAll(after)) types.push(...page.map(({ type }) => type));
  return types;
}

/** The same application, in which something else happens just before, or just after, a removal begins in the region's stream. */
function withMeanwhile(
  application: TestApplication,
  meanwhile: Readonly<{ before?: () => Promise<unknown>; after?: () => Promise<unknown> }>,
): TestApplication {
  const { regions } = application;
  return {
    ...application,
    regions: {
      ...regions,
      handle: async (id, command, cause, revision) => {
        const isBegin = command.type === 'BeginRegionRemoval';
        if (isBegin) await meanwhile.before?.();
        const answer = await regions.handle(id, command, cause, revision);
        if (isBegin) await meanwhile.after?.();
        return answer;
      },
    },
  };
}

const isThere = async (application: TestApplication): Promise<boolean> =>
  !isRefusal(await findRegion('ams', application));

removal('its stream says so first; then its name is free', async ({ application }) => {
  const end = await application.store.end();
  accepted(await removeRegion('ams', context, application));
  assert.equal(await recordedFrom(application, end), ['RegionRemovalBegan', 'RegionNameReleased']);
  assert.is(await isThere(application), false);
  assert.is(accepted(await createRegion({ name: 'ams' }, context, application)).regionId, 2);
});

removal('one that is in use is refused, and nothing is recorded', async ({ application }) => {
  accepted(await subnet(application));
  const end = await application.store.end();
  assert.is(refusedWith(await removeRegion('ams', context, application)), 'region-in-use');
  accepted(await removeSubnet('1', context, application));
  accepted(await application.regions.handle(1, { type: 'AddRouter', data: ROUTER }, context));
  assert.is(refusedWith(await removeRegion('ams', context, application)), 'region-in-use');
  assert.not.ok((await recordedFrom(application, end)).includes('RegionRemovalBegan'));
});

removal('a change just before it begins is not overlooked by who has said how it must be', async ({ application }) => {
  const { revision } = accepted(await regionRevision('ams', application));
  const other = application.anotherProcess();
  const changed = withMeanwhile(application, {
    before: () =>
      chooseDeployPolicy({ region: 'ams', deployPolicy: 'all-or-nothing' }, context, { ...application, ...other }),
  });
  const end = await application.store.end();
  const held = recordingInto(changed, [], { of: 'regions', id: 1, revision });
  assert.is(refusedWith(await removeRegion('ams', context, held)), 'revision-differs');
  assert.equal(await recordedFrom(application, end), ['DeployPolicyChosen']);
  assert.ok(await isThere(application));
  const now = accepted(await regionRevision('ams', application)).revision;
  accepted(await removeRegion('ams', context, recordingInto(application, [], { of: 'regions', id: 1, revision: now })));
});

removal('a router that another process adds just before it begins keeps the region', async ({ application }) => {
  const { regions } = application.anotherProcess();
  const added = withMeanwhile(application, {
    before: () => regions.handle(1, { type: 'AddRouter', data: ROUTER }, context),
  });
  assert.is(refusedWith(await removeRegion('ams', context, added)), 'region-in-use');
  assert.ok(await isThere(application));
});

removal('once it has begun the region takes no router and no policy', async ({ application }) => {
  const { regions } = application.anotherProcess();
  const answers: string[] = [];
  const begun = withMeanwhile(application, {
    after: async () => {
      for (const command of [
        { type: 'AddRouter', data: ROUTER },
        { type: 'ChooseDeployPolicy', data: { deployPolicy: 'all-or-nothing' } },
      ] as const)
        answers.push(refusedWith(await regions.handle(1, command, context)));
    },
  });
  accepted(await removeRegion('ams', context, begun));
  assert.equal(answers, ['region-not-found', 'region-not-found']);
});

removal('a subnet that is assigned after it has begun keeps the region as it was', async ({ application }) => {
  const other = { ...application, ...application.anotherProcess() };
  const assigned = withMeanwhile(application, { after: async () => accepted(await subnet(other)) });
  assert.is(refusedWith(await removeRegion('ams', context, assigned)), 'region-in-use');
  accepted(await application.regions.handle(1, { type: 'AddRouter', data: ROUTER }, context));
  assert.ok(await isThere(application));
});

for (const isCutAt of ['the release', 'nothing'] as const)
  removal(`what was begun is ended by the process, also twice; cut off before ${isCutAt}`, async ({ application }) => {
    if (isCutAt === 'nothing') accepted(await removeRegion('ams', context, application));
    else accepted(await application.regions.handle(1, { type: 'BeginRegionRemoval', data: {} }, context));
    const end = await application.store.end();
    for (let turn = 0; turn < 2; turn += 1) await performFinishReservation(application)(DUTY, SIGNAL);
    assert.equal(await recordedFrom(application, end), isCutAt === 'nothing' ? [] : ['RegionNameReleased']);
    assert.is(await isThere(application), false);
  });

removal('what was begun is called off by the process, also twice, where there is a subnet', async ({ application }) => {
  accepted(await application.regions.handle(1, { type: 'BeginRegionRemoval', data: {} }, context));
  accepted(await subnet(application));
  const end = await application.store.end();
  for (let turn = 0; turn < 2; turn += 1) await performFinishReservation(application)(DUTY, SIGNAL);
  assert.equal(await recordedFrom(application, end), ['RegionRemovalCalledOff']);
  assert.ok(await isThere(application));
});

removal('one who comes back after it was called off does not remove it', async ({ application }) => {
  const late = withMeanwhile(application, {
    after: async () => {
      accepted(await subnet(application));
      await performFinishReservation(application)(DUTY, SIGNAL);
      accepted(await removeSubnet('1', context, application));
    },
  });
  assert.is(refusedWith(await removeRegion('ams', context, late)), 'region-in-use');
  assert.ok(await isThere(application));
});

/** The same application, in which something else happens just before the directory is first asked to release a name. */
function heldUp(application: TestApplication, meanwhile: () => Promise<void>) {
  let releases = 0;
  const { directory } = application;
  const slow: TestApplication = {
    ...application,
    directory: {
      ...directory,
      handle: async (id, command, cause, revision) => {
        if (command.type === 'ReleaseRegionName' && (releases += 1) === 1) await meanwhile();
        return directory.handle(id, command, cause, revision);
      },
    },
  };
  return { slow, releases: () => releases };
}

removal('one who is held up before the last step looks at the region once more', async ({ application }) => {
  const other = { ...application, ...application.anotherProcess() };
  const { slow } = heldUp(application, async () => {
    accepted(await subnet(other));
    await performFinishReservation(other)(DUTY, SIGNAL);
    accepted(await removeSubnet('1', context, other));
    accepted(await other.regions.handle(1, { type: 'AddRouter', data: ROUTER }, context));
  });
  const { revision } = accepted(await regionRevision('ams', application));
  const held = recordingInto(slow, [], { of: 'regions', id: 1, revision });
  assert.is(refusedWith(await removeRegion('ams', context, held)), 'region-in-use');
  assert.ok(await isThere(application));
});

removal('what else is registered meanwhile does not keep the region', async ({ application }) => {
  const other = { ...application, ...application.anotherProcess() };
  const { slow, releases } = heldUp(application, async () => {
    accepted(await createCustomer({ name: 'Globex', settings: {} }, context, other));
  });
  accepted(await removeRegion('ams', context, slow));
  assert.is(releases(), 2);
  assert.is(await isThere(application), false);
});

removal.run();
