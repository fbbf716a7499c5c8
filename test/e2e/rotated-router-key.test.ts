// The key that edgeward logs in to a router with is changed in the order of docs/operators.md, on a real FRR behind a real sshd, while
// a server deploys: at no moment is there a change that the router can't be given.
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { never } from '../contracts/router-driver.ts';
import { type ApiClient, openApiClient } from '../support/http/api-client.ts';
import { FRR_OF_THIS_MACHINE, type LabRouter, missingForFrr, startFrr } from '../support/routers/frr.ts';
import { openFrr } from '../support/routers/frr-contract.ts';
import { newSshKeyPair, type SshKeyPair } from '../support/routers/ssh-keys.ts';
import { type LabSshd, missingForSshd, startSshd } from '../support/routers/sshd.ts';
import { addCustomer, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

type Context = { edgeward: Edgeward; router: LabRouter; sshd: LabSshd; api: ApiClient; token: string; old: SshKeyPair };

const LIST = 'Svc-ACME-BLACKHOLE';
/** On a busy machine a shell may take long: a push that hangs is tried again. */
const SETTINGS = {
  QUIET_PERIOD: 'PT0.2S',
  SCHEDULER_INTERVAL: 'PT0.1S',
  COMMIT_RETRY_DELAYS: 'PT0.5S',
  DEPLOY_TIMEOUT: 'PT10S',
};
const DEPLOYED_SECONDS = 120;

const missing = missingForFrr() ?? missingForSshd();
const test = suite<Context>('the key of a router is changed while a server deploys');
const TITLE = 'two keys at once, then the new one alone: every change reaches the router, and the old key is gone';

if (missing === undefined) {
  test.before.each(async (context) => {
    const [edgeward, router, sshd, old] = [
      await openEdgeward(SETTINGS),
      await startFrr(FRR_OF_THIS_MACHINE),
      await startSshd(),
      newSshKeyPair(),
    ];
    await sshd.letIn([old.public]);
    await put(edgeward, 'edge1-key', old);
    await edgeward.json('region', 'create', 'ams');
    const options = Object.entries({ ...router.options, ...sshd.options, key: 'secret:edge1-key' });
    const given = options.flatMap(([name, value]) => ['--option', `${name}=${value}`]);
    await edgeward.json('router', 'add', 'ams', 'edge1', '--driver', 'frr', ...given);
    const { token } = await addCustomer(edgeward, 'acme', [['203.0.113.0/24', 'ams']]);
    const api = openApiClient(await edgeward.serve(), token);
    Object.assign(context, { edgeward, router, sshd, old, api, token });
  });
  test.after.each(async ({ edgeward, router, sshd, api }) => {
    await api.close();
    await edgeward.remove();
    await sshd.stop();
    await router.stop();
  });

  test(TITLE, async ({ edgeward, router, sshd, old, api, token }) => {
    await deploys('203.0.113.10', { router, api });
    const renewed = newSshKeyPair();
    const useNew = () => edgeward.command('router', 'update', 'edge1', '--option', 'key=secret:edge1-key-2');

    // In the wrong order the new key is refused, and the old one goes on to be used.
    await put(edgeward, 'edge1-key-2', renewed);
    const tooEarly = await useNew();
    assert.is(tooEarly.exitCode, 1);
    assert.match(tooEarly.err, 'nothing was changed');
    await deploys('203.0.113.20', { router, api });

    // The router knows both, and both open it.
    await sshd.letIn([old.public, renewed.public]);
    for (const { private: key } of [old, renewed]) await opens(router, sshd, key);
    assert.is((await useNew()).exitCode, 0);
    const tried = (await sshd.letInWith()).length;
    await deploys('203.0.113.30', { router, api });
    const used = (await sshd.letInWith()).slice(tried);
    assert.equal([...new Set(used)], [fingerprintOf(renewed)], 'the server logs in with the new key');

    // The old one leaves the router, then the secret store, which keeps what is used.
    await sshd.letIn([renewed.public]);
    const inUse = await edgeward.command('secret', 'remove', 'edge1-key-2');
    assert.is(inUse.exitCode, 4);
    assert.match(inUse.err, 'router edge1 in ams (key)');
    await edgeward.json('secret', 'remove', 'edge1-key');
    assert.not(existsSync(join(edgeward.dataDir, 'secrets', 'edge1-key')));
    assert.not.match(JSON.stringify(await edgeward.json('secret', 'list')), '"edge1-key"');

    await deploys('203.0.113.40', { router, api });
    const before = (await sshd.letInWith()).length;
    await edgeward.stop();
    const again = openApiClient(await edgeward.serve(), token);
    await deploys('203.0.113.50', { router, api: again });
    await again.close();
    await edgeward.json('router', 'test', 'edge1');
    const since = (await sshd.letInWith()).slice(before);
    assert.equal([...new Set(since)], [fingerprintOf(renewed)]);
    const commits = JSON.stringify(await edgeward.json('commit', 'list'));
    assert.not.match(commits, '"failed"', 'no commit has failed on the way');
  });
} else {
  console.log(`skipped: the key of a router is changed, as this machine has no ${missing}`);
  test.skip(TITLE);
}

async function put(edgeward: Edgeward, id: string, { private: key }: SshKeyPair): Promise<void> {
  const file = join(edgeward.folder, id);
  writeFileSync(file, key, { mode: 0o600 });
  await edgeward.json('secret', 'put', id, '--from', file);
}

/** A customer's change comes to the router by the running server alone. No two of these addresses make one block. */
async function deploys(ip: string, { router, api }: Pick<Context, 'router' | 'api'>): Promise<void> {
  assert.is((await api.post('/ips/disable', { ip })).status, 200);
  const isThere = async () => (await router.vtysh('-c', `show ip prefix-list ${LIST}`)).includes(`permit ${ip}/32`);
  await waitUntil(`${ip} is on the router`, isThere, DEPLOYED_SECONDS);
}

async function opens(router: LabRouter, sshd: LabSshd, key: string): Promise<void> {
  const driver = openFrr(router, { ...sshd.options, key: 'secret:key' }, { key });
  await driver.check(never);
  await driver.close();
}

function fingerprintOf({ public: line }: SshKeyPair): string {
  const blob = Buffer.from(line.split(' ')[1] ?? '', 'base64');
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

test.run();
