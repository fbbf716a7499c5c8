import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CloudFailure } from '../../../../src/ports/clouds.ts';
import { cloudDriverContract } from '../../../contracts/cloud-driver.ts';
import { type HetznerStandIn, standHetzner } from '../../../support/clouds/hetzner-stand-in.ts';
import { MOTO_PYTHON } from '../../../support/clouds/moto.ts';
import { repositoryFile } from '../../../support/repository.ts';

const signal = new AbortController().signal;
const run = promisify(execFile);

cloudDriverContract('Hetzner Cloud', standHetzner);

async function withProject(
  work: (project: HetznerStandIn) => Promise<void>,
  specifications: Record<string, unknown> = {},
): Promise<void> {
  const project = await standHetzner(specifications);
  try {
    await work(project);
  } finally {
    await project.close();
  }
}

async function failureOf(work: Promise<unknown>): Promise<CloudFailure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof CloudFailure) return failure;
  throw new Error(`not a CloudFailure: ${String(failure)}`);
}

const judged = (title: string, work: () => Promise<void>): void =>
  MOTO_PYTHON === undefined ? test.skip(title, work) : test(title, work);

judged('the fake is what the official Python client takes for Hetzner Cloud', () =>
  withProject(async ({ fake }) => {
    const script = repositoryFile('test/support/clouds/judge-hetzner-fake.py');
    const { stdout } = await run(MOTO_PYTHON ?? 'python3', [script, fake.url, fake.token], { timeout: 120_000 });
    assert.match(stdout, 'the fake is Hetzner Cloud to hcloud');
  }),
);

test('a server is asked for by names, networks by their ids, and carries the marks of its run', () =>
  withProject(
    async ({ fake, open, request }) => {
      const cloud = open();
      await cloud.create(request('0f0c2a9e-aaaa'), signal);
      await cloud.close();
      const [asked] = fake.requests().filter(({ call }) => call === 'POST /servers');
      assert.equal(asked?.body, {
        name: 'spot-001-0f0c2a9e',
        server_type: 'cax11',
        image: 302,
        labels: {
          team: 'build',
          'edgeward/installation': 'here',
          'edgeward/pool': 'spot',
          'edgeward/worker': 'spot-001',
          'edgeward/run': '0f0c2a9e-aaaa',
        },
        public_net: { enable_ipv4: false, enable_ipv6: true },
        start_after_create: true,
        location: 'fsn1',
        ssh_keys: ['admin'],
        networks: [4711],
        user_data: '#cloud-config\n{"é & <x>": "hunter3"}\n',
      });
    },
    {
      server_type: 'cax11',
      labels: { team: 'build' },
      location: 'fsn1',
      ssh_keys: ['admin'],
      networks: ['build'],
      enable_ipv4: false,
    },
  ));

test('what the project does not have is told by its name', async () => {
  for (const [field, value, message] of [
    ['image_name', 'debian-1', 'Hetzner Cloud has no image debian-1 for x86'],
    ['server_type', 'cx0', 'Hetzner Cloud has no server type cx0'],
    ['networks', ['lan'], 'Hetzner Cloud has no network lan'],
  ] as const)
    await withProject(
      async ({ open, request }) => {
        const failure = await failureOf(open().create(request('run-1'), signal));
        assert.equal([failure.code, failure.message], ['bad-specifications', message]);
      },
      { [field]: value },
    );
});

test('a server of the same name that is not of the launch is left alone', () =>
  withProject(async ({ fake, open, request }) => {
    const cloud = open();
    const strange = { ...request('run-1'), installation: 'another' };
    await cloud.create(strange, signal);
    const failure = await failureOf(cloud.create(request('run-1'), signal));
    assert.is(failure.code, 'bad-specifications');
    assert.is(fake.servers().length, 1);
  }));

test('a server whose creation fails half way is deleted, and its launch has failed for certain', () =>
  withProject(async ({ fake, open, request }) => {
    const cloud = open();
    fake.fail('POST /servers', { kind: 'failing-action', code: 'resource_unavailable' });
    const failure = await failureOf(cloud.create(request('run-1'), signal));
    assert.is(failure.code, 'no-capacity');
    assert.equal(
      fake.servers().map(({ status }) => status),
      ['deleting'],
    );
  }));

test('actions that can not be looked at leave the outcome open: the server is there', () =>
  withProject(async ({ fake, open, request, living }) => {
    const cloud = open();
    fake.fail('GET /actions', { kind: 'error', status: 401, code: 'unauthorized' });
    assert.is((await failureOf(cloud.create(request('run-1'), signal))).code, 'outcome-unknown');
    assert.equal(await living(), ['run-1']);
    assert.is((await cloud.create(request('run-1'), signal)).run, 'run-1');
  }));

test('a provider that wants to be left alone says for how long', () =>
  withProject(async ({ fake, open }) => {
    fake.fail('GET /servers', { kind: 'error', status: 429, code: 'rate_limit_exceeded', resetInSeconds: 60 });
    const failure = await failureOf(open().list('here', signal));
    assert.is(failure.kind, 'later');
    assert.ok(failure.retryAfterMilliseconds !== null && failure.retryAfterMilliseconds > 50_000);
  }));

test('a protected server is not ended, and says so', () =>
  withProject(async ({ fake, open, request }) => {
    const cloud = open();
    const { data } = await cloud.create(request('run-1'), signal);
    fake.protect(Number(data['server_id']));
    assert.is((await failureOf(cloud.terminate(data, signal))).code, 'end-refused');
  }));

test('a listing of many pages is whole', () =>
  withProject(async ({ open, request }) => {
    const cloud = open();
    const runs = Array.from({ length: 60 }, (_, index) => `${String(index).padStart(3, '0')}-run`);
    await Promise.all(runs.map((one) => cloud.create(request(one), signal)));
    assert.equal((await cloud.list('here', signal)).map((known) => known.run).toSorted(), runs);
  }));

test('a time that is none is an answer that can not be read', () =>
  withProject(async ({ fake, open, request }) => {
    const cloud = open();
    await cloud.create(request('run-1'), signal);
    for (const server of fake.servers()) Object.assign(server, { created: 'yesterday' });
    const failure = await failureOf(cloud.list('here', signal));
    assert.is(failure.code, 'unreadable-answer');
    assert.match(failure.message, /servers\.0\.created/);
  }));

test('a token that can only read is found by the check', () =>
  withProject(async ({ fake, open }) => {
    fake.fail('POST /servers', { kind: 'error', status: 403, code: 'token_readonly' });
    assert.is((await failureOf(open().check(signal))).code, 'not-permitted');
    assert.is(fake.servers().length, 0);
  }));

test('nobody there is unreachable', () =>
  withProject(async ({ open, fake }) => {
    const cloud = open();
    await fake.stop();
    const failure = await failureOf(cloud.list('here', signal));
    assert.is(failure.code, 'unreachable');
    await cloud.close();
  }).catch((error: unknown) => {
    // The stand-in is closed a second time by its opener.
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_SERVER_NOT_RUNNING') throw error;
  }));

test.run();
