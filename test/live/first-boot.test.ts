import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type Ec2StandIn, MOTO_IMAGE, startEc2 } from '../support/clouds/ec2-stand-in.ts';
import { type HetznerFake, startHetznerFake } from '../support/clouds/hetzner-fake.ts';
import { MOTO_PYTHON } from '../support/clouds/moto.ts';
import { freePort } from '../support/free-port.ts';
import { type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  bootMachine,
  buildFirstBootImage,
  type Machine,
  missingForFirstBoot,
} from '../support/worker-pools/first-boot-machine.ts';

const missing = missingForFirstBoot() ?? (MOTO_PYTHON === undefined ? 'moto' : undefined);
/** A loaded machine may take its time for the packages. */
const BOOT_SECONDS = 240;
/** Writes what it is given where the test sees it, and fails where the payload says so. */
const EXEC =
  'cat > /run/given.json; echo "given $EDGEWARD_SCOPE: $(cat /run/given.json)"; ! grep -q fail /run/given.json';

const BECOMES = 'a machine that boots with the user data that its provider was given becomes a worker';
if (missing === undefined) test(BECOMES, bootBoth);
else test.skip(`${BECOMES} (missing: ${missing})`, bootBoth);

async function bootBoth(): Promise<void> {
  await buildFirstBootImage();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const edgeward = await openEdgeward({ PORT: String(port), PUBLIC_URL: url, WORKER_ALLOW_LOOPBACK: 'true' });
  const hetzner = await startHetznerFake();
  const moto = await startEc2();
  const ec2 = await moto.stand();
  const machines: Machine[] = [];
  try {
    await edgeward.serve();
    await edgeward.json('scope', 'create', 'debian');
    machines.push(
      bootMachine(join(edgeward.folder, 'hetzner'), await launchedOnHetzner(edgeward, hetzner)),
      bootMachine(join(edgeward.folder, 'aws'), await launchedOnAws(edgeward, ec2)),
    );
    const [onHetzner, onAws] = machines as [Machine, Machine];
    await isReady(edgeward, 'spot-001', onHetzner);
    assert.match(onHetzner.said(), 'host name: spot-001\n');
    assert.match(onHetzner.said(), 'enabled\nworker: /usr/bin/node /usr/local/lib/edgeward/worker.mjs\n');
    const given = await submitted(edgeward, '--pool', 'spot', { suite: 'trixie', text: 'é & <x>' });
    assert.equal(await ended(edgeward, given), { state: 'succeeded', worker: 'spot-001', because: null });
    assert.match(onHetzner.said(), 'given debian: {"suite":"trixie","text":"é & <x>"}');
    const failing = await submitted(edgeward, '--pool', 'spot', { will: 'fail' });
    assert.equal(await ended(edgeward, failing), { state: 'failed', worker: 'spot-001', because: 'exit status 1' });

    await isReady(edgeward, 'on-aws-001', onAws);
    assert.match(onAws.said(), 'host name: on-aws-001\n');
    assert.match(onAws.said(), 'no empty disk of 8 GiB for swap');
    const other = await submitted(edgeward, '--pool', 'on-aws', { of: 'aws' });
    assert.equal(await ended(edgeward, other), { state: 'succeeded', worker: 'on-aws-001', because: null });
    assert.match(onAws.said(), 'given debian: {"of":"aws"}');

    // What the service does not want any more ends by itself, and is not started again.
    await edgeward.json('worker_pool', 'terminate', 'spot-001');
    await waitUntil('the worker has ended', () => onHetzner.said().includes('worker: ended'), 90);
    assert.match(onHetzner.said(), 'the service knows this worker no more');
  } finally {
    await Promise.all(machines.map((machine) => machine.off()));
    await edgeward.remove();
    await hetzner.stop();
    await ec2.close();
    await moto.stop();
  }
}

/** A pool with one instance at Hetzner Cloud. Gives the user data that it has of it. */
async function launchedOnHetzner(edgeward: Edgeward, hetzner: HetznerFake): Promise<string> {
  const account = { configuration: { endpoint: hetzner.url }, credentials: { api_token: hetzner.token } };
  const kind = { server_type: 'cx32', image_name: 'debian-13', distro_release: 'trixie' };
  await launched(edgeward, 'spot', 'hetzner', account, kind);
  return waitUntil('the provider has the instance', () => hetzner.servers()[0]?.userData, BOOT_SECONDS);
}

/** A pool with one instance at EC2, asked for by a launch template and a fleet. Gives the user data that EC2 has of the instance. */
async function launchedOnAws(edgeward: Edgeward, ec2: Ec2StandIn): Promise<string> {
  const template = { ImageId: MOTO_IMAGE, InstanceType: 'm5.large', swap_size: 8 };
  await launched(edgeward, 'on-aws', 'aws', ec2.account, { launch_templates: [template], distro_release: 'trixie' });
  return waitUntil('EC2 has the instance', ec2.userData, BOOT_SECONDS);
}

async function launched(
  edgeward: Edgeward,
  pool: string,
  providerType: string,
  account: Readonly<{ configuration: object; credentials: object }>,
  kind: object,
): Promise<void> {
  const document = (name: string, value: unknown): string => {
    const file = join(edgeward.folder, `${pool}-${name}.json`);
    writeFileSync(file, JSON.stringify(value));
    return file;
  };
  const asset = document('account', { name: `${pool}-account`, provider_type: providerType, ...account });
  await edgeward.json('asset', 'create', 'cloud-provider-account', '--data', asset);
  const specifications = document('specifications', { provider_type: providerType, ...kind });
  const metadata = document('metadata', { exec: EXEC });
  const given = ['--provider-account', `${pool}-account`, '--architectures', 'amd64'];
  const documents = ['--specifications', specifications, '--static-metadata', metadata];
  await edgeward.json('worker_pool', 'create', pool, ...given, ...documents);
  await edgeward.json('scope', 'add_worker_pool', 'debian', pool);
  await edgeward.json('worker_pool', 'launch', pool, '1');
}

async function isReady(edgeward: Edgeward, name: string, machine: Machine): Promise<void> {
  const state = z.object({ state: z.string() });
  const isIdle = async () => {
    const now = state.parse(await edgeward.json('worker', 'show', name)).state;
    return now === 'idle' || machine.said().includes('ready for work');
  };
  await waitUntil(`${name} is ready`, isIdle, BOOT_SECONDS).catch((error: Error) => {
    throw new Error(`${error.message}; the machine has said:\n${machine.said()}`);
  });
}

async function submitted(edgeward: Edgeward, ...given: readonly unknown[]): Promise<string> {
  const file = join(edgeward.folder, 'payload.json');
  writeFileSync(file, JSON.stringify(given.at(-1)));
  const asked = ['--scope', 'debian', '--architecture', 'amd64', ...given.slice(0, -1).map(String), '--payload', file];
  return z.object({ id: z.string() }).parse(await edgeward.json('work', 'submit', ...asked)).id;
}

const end = z.object({ state: z.string(), worker: z.string().nullable(), because: z.string().nullable() });

async function ended(edgeward: Edgeward, id: string): Promise<z.infer<typeof end>> {
  return waitUntil(`work request ${id} is over`, async () => {
    const now = end.parse(await edgeward.json('work', 'show', id));
    return now.state === 'waiting' || now.state === 'running' ? undefined : now;
  });
}

test.run();
