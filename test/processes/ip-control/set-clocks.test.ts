// Everything that waits, under a wall clock that is set back an hour: while a server runs, and while it is stopped.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { assigned, disable, one, registered, requestCommit } from '../../commands/ip-control/customer-examples.ts';
import { approve, submit } from '../../commands/ip-control/source-whitelist-examples.ts';
import { type DeploymentApplication, openDeploymentApplication } from './deployment-application.ts';

const [LIST, WHITELIST] = ['Svc-ACME-CORP-BLACKHOLE', 'Svc-ACME-CORP-SRC_WHITELIST'];
const [SECRET, OTHER_SECRET] = [8, 9].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
const DAY_SECONDS = 86_400;

type Wait = Readonly<{
  what: string;
  /** What is waited for, in seconds: a round of looking included. */
  seconds: number;
  begin: (application: DeploymentApplication) => Promise<unknown>;
  isOver: (application: DeploymentApplication) => boolean | Promise<boolean>;
  /** Where it is waited for so long that not every second is looked at. */
  skips?: number;
}>;

const holds = (application: DeploymentApplication, list: string, block: string): boolean =>
  application.held('core1')[list]?.includes(block) === true;

const WAITS: readonly Wait[] = [
  {
    what: 'a change waits for its customer to be quiet',
    seconds: 180,
    begin: (application) => application.ask(disable(one('192.0.2.1'))),
    isOver: (application) => holds(application, LIST, '192.0.2.1/32'),
  },
  {
    what: 'an approved request for the whitelist waits to be deployed',
    seconds: 180,
    begin: async (application) => {
      await application.ask(submit('192.31.196.0/30'));
      await application.ask(approve());
    },
    isOver: (application) => holds(application, WHITELIST, '192.31.196.0/30'),
  },
  {
    what: 'a commit that has failed waits for its next try',
    seconds: 120,
    begin: async (application) => {
      application.behave('core1', 'refusing');
      await application.ask(disable(one('192.0.2.1')));
      await application.ask(requestCommit('c1'));
    },
    isOver: (application) => holds(application, LIST, '192.0.2.1/32'),
  },
  {
    what: 'a notification that could not be delivered waits for its next try',
    seconds: 30,
    begin: async (application) => {
      application.answers.push({ delivered: false, because: 'status 503' });
      await application.ask(disable(one('192.0.2.1')));
      await application.ask(requestCommit('c1'));
    },
    isOver: (application) => application.sent.length === 2,
  },
  {
    what: 'a router that others have changed waits for the next look at it',
    seconds: 19 * 60,
    begin: async (application) => {
      await application.ask(disable(one('192.0.2.1')));
      await application.ask(requestCommit('c1'));
    },
    isOver: (application) => !holds(application, LIST, '198.51.100.0/24'),
  },
  {
    what: 'an earlier secret of webhooks waits for the end of its day',
    seconds: DAY_SECONDS + 1,
    skips: DAY_SECONDS - 60,
    begin: (application) =>
      application.ask({ type: 'RotateWebhookSecret', data: { secretId: 'webhook-8', keepsPrevious: true } }),
    isOver: async (application) => (await application.secrets.get('webhook-7')) === undefined,
  },
];

async function opened(): Promise<DeploymentApplication> {
  const application = await openDeploymentApplication();
  await application.log.append('directory-main', {
    type: 'RegionNameReserved',
    data: { regionId: 1, name: 'ams' },
  });
  await application.log.append('region-1', { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
  const customer = registered({ webhookUrl: 'https://hooks.example/', allowSourceWhitelist: true });
  const rotated = { type: 'WebhookSecretRotated', data: { secretId: 'webhook-7' } } as const;
  await application.log.append('directory-main', { type: 'CustomerNameReserved', data: customer.data });
  await application.log.append('customer-7', customer, assigned(1, '192.0.2.0/24'), rotated);
  await application.secrets.put('webhook-7', SECRET ?? '');
  await application.secrets.put('webhook-8', OTHER_SECRET ?? '');
  await application.addRouter('core1');
  return application;
}

const setBack = ({ log: { clock } }: DeploymentApplication): void =>
  clock.setWallClock(clock.now().subtract({ hours: 1 }));

/** From here on nothing is in the way but time; what others change, they change now. */
function clear(application: DeploymentApplication, what: string): void {
  application.behave('core1', 'fine');
  if (what.startsWith('a router'))
    writeFileSync(join(application.log.folder, 'core1', LIST), '192.0.2.1/32\n198.51.100.0/24\n');
}

for (const { what, seconds, begin, isOver, skips = 0 } of WAITS) {
  for (const isStopped of [false, true]) {
    test(`${what}: no longer than ever with the clock set back ${isStopped ? 'while no server runs' : 'meanwhile'}`, async () => {
      const application = await opened();
      try {
        let processes = await application.start();
        await begin(application);
        await processes.settle();
        clear(application, what);
        assert.not.ok(await isOver(application), 'it waits');
        if (isStopped) await processes.stop();
        setBack(application);
        if (isStopped) processes = await application.start();
        await processes.settle();
        await application.log.clock.advance({ seconds: skips });
        await processes.pass(seconds - skips);
        assert.ok(await isOver(application), 'it is over');
        await processes.stop();
      } finally {
        await application.close();
      }
    });
  }
}

test.run();
