import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CLOUD_DRIVERS } from '../../../src/adapters/clouds/open-cloud.ts';
import { checkPoolChanges } from '../../../src/domain/worker-pools/documents.ts';
import type { Specifications } from '../../../src/events/worker-pools/specifications.ts';
import { type AptRepository, type FirstBoot, firstBootUserData } from '../../../src/domain/worker-pools/first-boot.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const cloudInit = spawnSync('cloud-init', ['--version'], { encoding: 'utf8' });
const hasCloudInit = cloudInit.error === undefined && cloudInit.status === 0;

const RELEASES = ['bullseye', 'bookworm', 'trixie', 'sid', 'jammy', 'noble', undefined] as const;
const AWS_SOURCES = [
  'release',
  'backports',
  'daily-builds',
  'pre-installed',
  'enterprise',
  'enterprise-staging',
] as const;
const HETZNER_SOURCES = ['release', 'backports', 'daily-builds', 'pre-installed'] as const;

const KEY = `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${'mQINBGPL0BUBEADmW5NdOOHwPIJlgPu6JDcKw/NZJPR8lsD3K87ZIJWXowgSwNEp\n'.repeat(40)}=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n`;
const apt: AptRepository = {
  configuration: { url: 'https://deb.example.com/worker', components: ['main', 'contrib'], signing_key: KEY },
  credentials: { username: 'worker', password: 'hunter2' },
};

function given(record: object): Specifications {
  const checked = checkPoolChanges({ specifications: record }, CLOUD_DRIVERS);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value.specifications!;
}

function aws(source: string, release?: string, templates: readonly object[] = [{}]): Specifications {
  return given({
    provider_type: 'aws',
    launch_templates: templates.map((template) => ({ ImageId: 'ami-1', InstanceType: 'm7i.large', ...template })),
    worker_install_source: source,
    ...(release === undefined ? {} : { distro_release: release }),
  });
}

function hetzner(source: string, release?: string): Specifications {
  return given({
    provider_type: 'hetzner',
    server_type: 'cx32',
    image_name: 'debian-13',
    worker_install_source: source,
    ...(release === undefined ? {} : { distro_release: release }),
  });
}

function boot(of: Specifications, more: Partial<FirstBoot> = {}): FirstBoot {
  const driver = CLOUD_DRIVERS.find(({ providerType }) => providerType === of.provider_type)!;
  return {
    worker: 'spot-001',
    serverUrl: 'https://edgeward.example.com',
    activationToken: 'token-token-token',
    ephemeral: false,
    exec: null,
    specifications: of,
    apt,
    variants: driver.firstBoots(of),
    bytesMax: driver.userDataBytesMax,
    ...more,
  };
}

function texts(input: FirstBoot): readonly string[] {
  const data = firstBootUserData(input);
  if (!data.ok) throw new Error(data.because);
  return data.texts;
}

type Config = {
  write_files: { path: string; permissions: string; content: string }[];
  packages?: string[];
  apt?: { sources: Record<string, { source: string; key?: string }> };
  bootcmd?: string[][];
};

function parsed(text: string): Config {
  assert.ok(text.startsWith('#cloud-config\n'));
  // What was written by firstBootUserData is read back as it was meant.
  return JSON.parse(text.slice('#cloud-config\n'.length)) as Config;
}

const everyKind = [
  ...AWS_SOURCES.flatMap((source) =>
    RELEASES.map((release) => ({ source, release, of: aws(source, release, [{ swap_size: 8 }]) })),
  ),
  ...HETZNER_SOURCES.flatMap((source) =>
    RELEASES.map((release) => ({ source, release, of: hetzner(source, release) })),
  ),
];

testWithCloudInit('cloud-init’s own schema takes every kind of first boot', async () => {
  const folder = await temporaryFolder();
  try {
    const files = everyKind.map(({ of }, index) => {
      const file = join(folder.path, `${index}.yaml`);
      writeFileSync(file, texts(boot(of))[0]!);
      return file;
    });
    // One interpreter for all of them.
    const script = [
      'import sys',
      'from pathlib import Path',
      'from cloudinit.config.schema import get_schema, validate_cloudconfig_file',
      'schema = get_schema()',
      'for name in sys.argv[1:]: validate_cloudconfig_file(name, schema)',
    ].join('\n');
    const all = spawnSync(interpreterOfCloudInit(), ['-c', script, ...files], { encoding: 'utf8' });
    assert.is(all.status, 0, all.stderr);
    const one = spawnSync('cloud-init', ['schema', '--config-file', files[0]!], { encoding: 'utf8' });
    assert.is(one.status, 0, one.stderr);
    assert.match(one.stdout, 'Valid cloud-config');
    const wrong = join(folder.path, 'wrong.yaml');
    writeFileSync(wrong, '#cloud-config\n{"packages": {"a": 1}}\n');
    assert.is.not(spawnSync('cloud-init', ['schema', '--config-file', wrong]).status, 0, 'the check can fail');
  } finally {
    await folder.remove();
  }
});

test('the worker learns its name, its server and a token that only root can read', () => {
  const { write_files: files } = parsed(texts(boot(hetzner('release')))[0]!);
  const settings = files.find(({ path }) => path === '/etc/edgeward/worker.json');
  assert.equal(JSON.parse(settings?.content ?? ''), {
    worker: 'spot-001',
    server_url: 'https://edgeward.example.com',
    ephemeral: false,
  });
  const token = files.find(({ path }) => path === '/etc/edgeward/activation-token');
  assert.is(token?.permissions, '0600');
  assert.is(token?.content, 'token-token-token\n');
});

test('the repository’s password is only where the software comes from that repository', () => {
  for (const { source, of } of everyKind) {
    const [text] = texts(boot(of));
    const needsIt = ['daily-builds', 'enterprise', 'enterprise-staging'].includes(source);
    assert.is(text!.includes('hunter2'), needsIt, source);
    assert.is(text!.includes('deb.example.com'), needsIt, source);
    const holders = parsed(text!).write_files.filter(({ content }) => /hunter2|token-token/.test(content));
    for (const { permissions } of holders) assert.is(permissions, '0600');
  }
});

test('each install source installs from where it says', () => {
  assert.is(sourceOf(aws('release', 'trixie')), undefined);
  assert.is(sourceOf(aws('pre-installed', 'trixie')), undefined);
  assert.is(sourceOf(aws('backports', 'trixie')), 'deb $MIRROR trixie-backports main');
  assert.is(sourceOf(aws('backports')), 'deb $MIRROR $RELEASE-backports main');
  assert.is(sourceOf(aws('backports', 'noble')), 'deb $MIRROR noble-backports main universe');
  assert.is(sourceOf(aws('backports', 'sid')), undefined);
  assert.is(
    sourceOf(aws('daily-builds', 'trixie')),
    'deb [signed-by=$KEY_FILE] https://deb.example.com/worker trixie main contrib',
  );
  assert.is(sourceOf(aws('enterprise', 'bullseye')), 'deb https://deb.example.com/worker bullseye main contrib');
});

test('only pre-installed takes no installation action', () => {
  for (const { source, of } of everyKind) {
    const packages = parsed(texts(boot(of))[0]!).packages;
    const wanted = {
      'pre-installed': undefined,
      release: ['nodejs', 'ca-certificates'],
      backports: ['nodejs', 'ca-certificates'],
    };
    assert.equal(packages, source in wanted ? wanted[source as 'release'] : ['edgeward-worker'], source);
    const paths = parsed(texts(boot(of))[0]!).write_files.map(({ path }) => path);
    const isOfArchive = source === 'release' || source === 'backports';
    assert.is(paths.includes('/usr/local/lib/edgeward/worker.mjs'), isOfArchive, source);
    assert.is(paths.includes('/etc/systemd/system/edgeward-worker.service'), isOfArchive, source);
  }
});

test('what a pool’s metadata say is run for each work request, and where they say nothing the image’s own', () => {
  const common = { worker: 'spot-001', server_url: 'https://edgeward.example.com', ephemeral: false };
  assert.equal(settingsOf('build --all | tee "é"'), { ...common, exec: 'build --all | tee "é"' });
  assert.equal(settingsOf(null), common);
});

test('a repository of its own must be named', () => {
  for (const source of ['daily-builds', 'enterprise', 'enterprise-staging']) {
    const data = firstBootUserData(boot(aws(source), { apt: null }));
    assert.is(data.ok, false);
    if (!data.ok) assert.match(data.because, 'the pool must name it by apt_authentication');
  }
  assert.is(firstBootUserData(boot(aws('release'), { apt: null })).ok, true);
});

test('a repository that is a path has no components', () => {
  const flat = { ...apt, configuration: { url: 'https://deb.example.com/', suite: 'nightly/', components: ['main'] } };
  const { apt: section } = parsed(texts(boot(aws('daily-builds'), { apt: flat }))[0]!);
  assert.is(section?.sources['edgeward-worker']?.source, 'deb https://deb.example.com/ nightly/');
});

test('each launch template has user data with its own swap, and the script is one that a shell takes', () => {
  const all = texts(boot(aws('release', 'trixie', [{ swap_size: 8 }, {}, { swap_size: 16 }])));
  assert.is(all.length, 3);
  const scripts = all.map((text) => parsed(text).bootcmd?.[0]?.at(-1));
  assert.match(scripts[0]!, '$2 == 8589934592');
  assert.is(scripts[1], undefined);
  assert.match(scripts[2]!, '$2 == 17179869184');
  assert.is(spawnSync('sh', ['-n'], { input: scripts[0] }).status, 0);
});

test('what does not fit the provider is refused before it is asked', () => {
  const long = { ...apt, configuration: { ...apt.configuration, signing_key: KEY + 'x'.repeat(15_000) } };
  const onAws = firstBootUserData(boot(aws('daily-builds'), { apt: long }));
  assert.is(onAws.ok, false);
  if (!onAws.ok) assert.match(onAws.because, /^the first-boot configuration has \d+ bytes, aws takes 16384/);
  assert.is(firstBootUserData(boot(hetzner('daily-builds'), { apt: long })).ok, true);
});

/** The Debian package of cloud-init is not everywhere. */
function testWithCloudInit(name: string, run: () => Promise<void>): void {
  if (hasCloudInit) test(name, run);
  else test.skip(name, run);
}

function settingsOf(exec: string | null): unknown {
  const { write_files: files } = parsed(texts(boot(hetzner('release'), { exec }))[0]!);
  return JSON.parse(files.find(({ path }) => path.endsWith('worker.json'))?.content ?? '');
}

function sourceOf(of: Specifications): string | undefined {
  return Object.values(parsed(texts(boot(of))[0]!).apt?.sources ?? {})[0]?.source;
}

/** The Python that cloud-init itself runs with. */
function interpreterOfCloudInit(): string {
  const path = spawnSync('sh', ['-c', 'command -v cloud-init'], { encoding: 'utf8' }).stdout.trim();
  return /^#!(\S+)/.exec(readFileSync(path, 'utf8'))?.[1] ?? 'python3';
}

function because(source: string, more: Partial<FirstBoot>): string {
  const data = firstBootUserData(boot(hetzner(source, 'trixie'), more));
  return data.ok ? '' : data.because;
}

test('what is said to be shortened is what is long there', () => {
  const exec = 'x'.repeat(40_000);
  assert.match(because('release', { exec }), /: shorten exec of the pool's static_metadata$/);
  assert.match(because('daily-builds', { exec }), /: shorten exec .* or the repository's signing_key$/);
});

test.run();
