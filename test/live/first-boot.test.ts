import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { AWS_DRIVER } from '../../src/adapters/clouds/aws/aws.ts';
import { CLOUD_DRIVERS } from '../../src/adapters/clouds/open-cloud.ts';
import { firstBootUserData } from '../../src/domain/worker-pools/first-boot.ts';
import { checkPoolChanges } from '../../src/domain/worker-pools/documents.ts';
import { type HetznerFake, startHetznerFake } from '../support/clouds/hetzner-fake.ts';
import { freePort } from '../support/free-port.ts';
import { type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  bootMachine,
  buildFirstBootImage,
  type Machine,
  missingForFirstBoot,
} from '../support/worker-pools/first-boot-machine.ts';

const missing = missingForFirstBoot();
/** A loaded machine may take its time for the packages. */
const BOOT_SECONDS = 240;
/** Writes what it is given where the test sees it, and fails where the payload says so. */
const EXEC =
  'cat > /run/given.json; echo "given $EDGEWARD_SCOPE: $(cat /run/given.json)"; ! grep -q fail /run/given.json';

if (missing === undefined) test('a machine that boots with the user data becomes a worker', bootBoth);
else test.skip(`a machine that boots with the user data becomes a worker (missing: ${missing})`, bootBoth);

async function bootBoth(): Promise<void> {
  await buildFirstBootImage();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const edgeward = await openEdgeward({ PORT: String(port), PUBLIC_URL: url, WORKER_ALLOW_LOOPBACK: 'true' });
  const hetzner = await startHetznerFake();
  const machines: Machine[] = [];
  try {
    await edgeward.serve();
    const userData = await launched(edgeward, hetzner);
    machines.push(
      bootMachine(join(edgeward.folder, 'hetzner'), userData),
      bootMachine(join(edgeward.folder, 'aws'), await userDataOnAws(edgeward, url)),
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

    await isReady(edgeward, 'on-aws', onAws);
    assert.match(onAws.said(), 'no empty disk of 8 GiB for swap');
    const other = await submitted(edgeward, { any: 'worker' });
    assert.is((await ended(edgeward, other)).state, 'succeeded', 'by whichever is free');

    // What the service does not want any more ends by itself, and is not started again.
    await edgeward.json('worker_pool', 'terminate', 'spot-001');
    await waitUntil('the worker has ended', () => onHetzner.said().includes('worker: ended'), 90);
    assert.match(onHetzner.said(), 'the service knows this worker no more');
  } finally {
    await Promise.all(machines.map((machine) => machine.off()));
    await edgeward.remove();
    await hetzner.stop();
  }
}

/** A pool with one instance at the provider. Gives the user data that the provider has of it. */
async function launched(edgeward: Edgeward, hetzner: HetznerFake): Promise<string> {
  const document = (name: string, value: unknown): string => {
    const file = join(edgeward.folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(value));
    return file;
  };
  const configuration = { endpoint: hetzner.url };
  const credentials = { api_token: hetzner.token };
  const account = document('account', { name: 'hcloud', provider_type: 'hetzner', configuration, credentials });
  await edgeward.json('asset', 'create', 'cloud-provider-account', '--data', account);
  const specifications = document('specifications', {
    provider_type: 'hetzner',
    server_type: 'cx32',
    image_name: 'debian-13',
    distro_release: 'trixie',
  });
  const metadata = document('metadata', { exec: EXEC });
  const pool = ['--provider-account', 'hcloud', '--architectures', 'amd64', '--specifications', specifications];
  await edgeward.json('worker_pool', 'create', 'spot', ...pool, '--static-metadata', metadata);
  await edgeward.json('scope', 'create', 'debian');
  await edgeward.json('scope', 'add_worker_pool', 'debian', 'spot');
  await edgeward.json('worker_pool', 'launch', 'spot', '1');
  return waitUntil('the provider has the instance', () => hetzner.servers()[0]?.userData);
}

/** The user data of an EC2 instance, for a worker that the service knows. */
async function userDataOnAws(edgeward: Edgeward, serverUrl: string): Promise<string> {
  const registered = await edgeward.json('worker', 'register', 'on-aws', '--architectures', 'amd64');
  const { activation_token: activationToken } = z.object({ activation_token: z.string() }).parse(registered);
  const given = {
    provider_type: 'aws',
    launch_templates: [{ ImageId: 'ami-1', InstanceType: 'm7i.large', swap_size: 8 }],
    distro_release: 'trixie',
  };
  const checked = checkPoolChanges({ specifications: given }, CLOUD_DRIVERS);
  assert.ok(checked.ok);
  const { specifications } = checked.value;
  assert.ok(specifications);
  const data = firstBootUserData({
    worker: 'on-aws',
    serverUrl,
    activationToken,
    ephemeral: false,
    exec: EXEC,
    specifications,
    apt: null,
    variants: AWS_DRIVER.firstBoots(specifications),
    bytesMax: AWS_DRIVER.userDataBytesMax,
  });
  assert.ok(data.ok);
  return data.texts[0] ?? '';
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
