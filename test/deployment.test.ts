import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { z } from 'zod';
import { readConfig } from '../src/config.ts';
import { openEdgeward } from './support/servers/edgeward-server.ts';
import { repositoryFile } from './support/repository.ts';

const root = repositoryFile('./');
const textOf = (file: string): string => readFileSync(`${root}${file}`, 'utf8');

const service = z.strictObject({
  build: z.literal('.').optional(),
  image: z.string(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  command: z.array(z.string()).optional(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()),
  networks: z.array(z.string()),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).default({}),
  healthcheck: z
    .strictObject({ test: z.array(z.string()), interval: z.string(), timeout: z.string(), retries: z.number() })
    .optional(),
  init: z.boolean().optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  stop_grace_period: z.string().optional(),
  restart: z.literal('unless-stopped'),
});
const compose = z
  .strictObject({
    name: z.string(),
    services: z.record(z.string(), service),
    networks: z.record(z.string(), z.strictObject({ internal: z.boolean() })),
    volumes: z.record(z.string(), z.null()),
  })
  .parse(parse(textOf('docker-compose.yml')));
/** An exact version for people, and the digest by which the image is pulled. */
const BY_DIGEST = /^[\w./-]+:\d+\.\d+\.\d+(?:-[\w-]+)?@sha256:[0-9a-f]{64}$/;

const stores = Object.entries(compose.services).filter(([, { build }]) => build === undefined);

test('compose: the settings of the service are ones that it starts with, on the stores beside it', () => {
  const { environment } = compose.services.edgeward ?? { environment: {} };
  // `${NAME:-default}` is what Compose puts in.
  const texts = Object.entries(environment).map(([name, value]) => [
    name,
    String(value).replace(/^\$\{\w+:-(\w*)\}$/, '$1'),
  ]);
  const { eventStoreUrl, readModelUrl } = readConfig(Object.fromEntries(texts));
  assert.equal(
    [new URL(eventStoreUrl).hostname, new URL(readModelUrl).hostname].toSorted(),
    stores.map(([name]) => name).toSorted(),
  );
});

test('compose: the service waits for stores that are well, and every store says when it is', () => {
  assert.equal(
    Object.keys(compose.services.edgeward?.depends_on ?? {}),
    stores.map(([name]) => name),
  );
  for (const [name, { healthcheck }] of stores) assert.ok(healthcheck, name);
});

test('compose: stores without a login are on a network of their own that leads nowhere, and no port leads to them', () => {
  assert.equal(compose.networks, { stores: { internal: true } });
  for (const [name, { networks, ports }] of stores) assert.equal([networks, ports], [['stores'], []], name);
  for (const port of compose.services.edgeward?.ports ?? []) assert.match(port, /^127\.0\.0\.1:/);
});

test('compose: what must last is in a named volume, and every image an exact version and a digest', () => {
  const volumes = Object.values(compose.services).flatMap((each) =>
    each.volumes.map((volume) => volume.replace(/:.*/, '')),
  );
  assert.equal(volumes.toSorted(), Object.keys(compose.volumes).toSorted());
  for (const [name, { image }] of stores) {
    const [, byDefault = ''] = /^\$\{\w+_IMAGE:-(.+)\}$/.exec(image) ?? [];
    assert.match(byDefault, BY_DIGEST, name);
  }
});

test('compose on the embedded stores: one service, whose settings it starts with, without rights', () => {
  const { services, volumes, secrets } = z
    .strictObject({
      name: z.string(),
      services: z.strictObject({
        edgeward: service.omit({ networks: true }).extend({ secrets: z.array(z.string()) }),
      }),
      secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
      volumes: z.record(z.string(), z.null()),
    })
    .parse(parse(textOf('docker-compose.embedded.yml')));
  const { environment, ports, secrets: used, ...own } = services.edgeward;
  const { eventStoreUrl, readModelUrl, metricsPort } = readConfig({
    METRICS_PORT: String(environment['METRICS_PORT']),
  });
  assert.equal([eventStoreUrl, readModelUrl, metricsPort], ['sqlite:', 'sqlite:', 9464]);
  for (const port of ports) assert.match(port, /^127\.0\.0\.1:/);
  assert.equal(used, Object.keys(secrets));
  assert.equal(Object.keys(volumes), ['edgeward-data']);
  assert.equal([own.read_only, own.cap_drop, own.security_opt], [true, ['ALL'], ['no-new-privileges:true']]);
});

const UNIT_TEST = 'systemd: the unit leaves the service little that it could do';

function examineUnit(): void {
  const args = ['security', '--offline=true', '--no-pager', '--threshold=30', `${root}ops/edgeward.service`];
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  assert.is(status, 0, stdout + stderr);
}

if (spawnSync('systemd-analyze', ['--version']).status === 0) test(UNIT_TEST, examineUnit);
else test.skip(UNIT_TEST, examineUnit);

test('systemd: the settings of the unit are ones that the service starts with', () => {
  const settings = [...textOf('ops/edgeward.env').matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  assert.ok(settings.length >= 4);
  readConfig(Object.fromEntries(settings));
});

test('image: what it is built from is there, and no more is let into the build', () => {
  const wanted = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) =>
    files.split(' '),
  );
  const letIn = [...textOf('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, file = '']) => file);
  assert.equal(wanted.toSorted(), letIn.toSorted());
  for (const file of wanted) assert.ok(existsSync(`${root}${file}`), file);
});

test('image: it is built on images by digest, of one version of Node', () => {
  const images = [...textOf('Dockerfile').matchAll(/^ARG \w+_IMAGE=(.+)$/gm)].map(([, image = '']) => image);
  assert.is(images.length, 2);
  for (const image of images) assert.match(image, BY_DIGEST);
  assert.is(new Set(images.map((image) => image.replace(/-.*/, ''))).size, 1, images.join(' '));
  const used = [...textOf('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, from]) => from);
  assert.equal(used, ['${NODE_IMAGE}', '${NODE_SLIM_IMAGE}']);
});

test('image: the service runs without rights, from files that it can not change', () => {
  const [, last = ''] = textOf('Dockerfile').split(/^FROM .*SLIM_IMAGE\}$/m);
  assert.match(last, /^USER node$/m);
  assert.not.match(last.slice(last.indexOf('USER node')), /^(COPY|RUN)/m);
  assert.not.match(last, /--chown/);
});

test('image: the health check says well of a server that runs, and unwell of none', async () => {
  const [, command = '[]'] = /^HEALTHCHECK [^[]*CMD (\[.*\])$/m.exec(textOf('Dockerfile').replaceAll('\\\n', '')) ?? [];
  const [program, ...args] = z.array(z.string()).parse(JSON.parse(command));
  assert.is(program, 'node');
  const checked = (url: string): number | null =>
    spawnSync(process.execPath, args, { env: { PORT: new URL(url).port } }).status;
  const edgeward = await openEdgeward();
  const server = await edgeward.spawn(['serve']);
  const url = await server.listening();
  assert.is(checked(url), 0);
  server.child.kill('SIGTERM');
  await server.ended;
  assert.is(checked(url), 1);
  await edgeward.remove();
});

test.run();
