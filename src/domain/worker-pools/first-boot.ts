import type { AptConfiguration } from '../../events/worker-pools/asset-records.ts';
import type { Specifications } from '../../events/worker-pools/specifications.ts';

/** The repository that the worker software is installed from, where it is not the distribution's own. */
export type AptRepository = Readonly<{
  configuration: AptConfiguration;
  credentials: Readonly<{ username: string; password: string }> | null;
}>;

/** What a new instance has to know to become a worker. */
export type FirstBoot = Readonly<{
  worker: string;
  serverUrl: string;
  /** Good for one worker, once. */
  activationToken: string;
  ephemeral: boolean;
  /** What its agent runs for each work request; null: the image's own `/etc/edgeward/run-task`. */
  exec: string | null;
  specifications: Specifications;
  apt: AptRepository | null;
  /** One for each text that the provider wants. `swapGiB`: the empty disk that first boot makes swap of. */
  variants: readonly Readonly<{ swapGiB?: number | undefined }>[];
  /** Of one text, before any encoding, as the provider takes them. */
  bytesMax: number;
}>;

/** User data, or why there can be none. */
export type UserData =
  | Readonly<{ ok: true; texts: readonly string[] }>
  | Readonly<{ ok: false; code: 'no-repository' | 'user-data-too-large'; because: string }>;

/** Of the repositories that have it; the archives of distributions have what our agent needs to run. */
const PACKAGE = 'edgeward-worker';
const AGENT_NEEDS = ['nodejs', 'ca-certificates'];
const SERVICE = 'edgeward-worker';
const FOLDER = '/etc/edgeward';
const PROGRAMS = '/usr/local/lib/edgeward';
/** Their cloud-init does not know `signed-by=$KEY_FILE`: the key is trusted for all sources there. */
const WITHOUT_SIGNED_BY = new Set(['buster', 'bullseye']);
/** Releases under development have no backports: what they have is newest already. */
const WITHOUT_BACKPORTS = new Set(['sid', 'unstable', 'experimental']);
const UBUNTU = new Set(['focal', 'jammy', 'noble', 'oracular', 'plucky', 'questing', 'resolute']);

/**
 * The cloud-init user data of an instance: one text for each variant, in their order.
 * It holds the activation token, and the repository's password where the software comes from that repository: nothing else is secret.
 */
export function firstBootUserData(boot: FirstBoot): UserData {
  const { specifications, apt, variants, bytesMax } = boot;
  const source = specifications.worker_install_source;
  const needsRepository = source === 'daily-builds' || source === 'enterprise' || source === 'enterprise-staging';
  if (needsRepository && apt === null) {
    const because = `worker_install_source ${source} installs from a repository of its own: the pool must name it by apt_authentication`;
    return { ok: false, code: 'no-repository', because };
  }
  const texts = variants.map(({ swapGiB }) => cloudConfig(boot, needsRepository ? apt : null, swapGiB));
  const largest = Math.max(...texts.map((text) => new TextEncoder().encode(text).length));
  if (largest <= bytesMax) return { ok: true, texts };
  const long = [
    ...(boot.exec === null ? [] : ["exec of the pool's static_metadata"]),
    ...(needsRepository ? ["the repository's signing_key"] : []),
  ];
  const because = `the first-boot configuration has ${largest} bytes, ${specifications.provider_type} takes ${bytesMax}: shorten ${long.join(' or ')}`;
  return { ok: false, code: 'user-data-too-large', because };
}

function cloudConfig(boot: FirstBoot, repository: AptRepository | null, swapGiB: number | undefined): string {
  const { specifications, worker } = boot;
  const apt = aptSection(specifications, repository);
  const config = {
    hostname: worker,
    growpart: { mode: 'auto', devices: ['/'] },
    resize_rootfs: true,
    ...(swapGiB === undefined
      ? {}
      : { bootcmd: [['cloud-init-per', 'instance', 'edgeward-swap', 'sh', '-c', swapScript(swapGiB)]] }),
    write_files: files(boot, repository),
    ...(apt === undefined ? {} : { apt }),
    ...packagesOf(specifications),
    runcmd: [
      ['systemctl', 'daemon-reload'],
      ['systemctl', 'enable', SERVICE],
      ['systemctl', 'restart', SERVICE],
    ],
  };
  // JSON is YAML: nothing in it can be read as anything else.
  return `#cloud-config\n${JSON.stringify(config, undefined, 1)}\n`;
}

function packagesOf({ worker_install_source: source }: Specifications): object {
  if (source === 'pre-installed') return {};
  return { package_update: true, packages: isOfArchive(source) ? AGENT_NEEDS : [PACKAGE] };
}

/** Then the agent itself comes from this service, which so has the one that it speaks with. */
function isOfArchive(source: Specifications['worker_install_source']): boolean {
  return source === 'release' || source === 'backports';
}

type File = Readonly<{ path: string; permissions: string; owner: string; content: string }>;

function files(boot: FirstBoot, repository: AptRepository | null): readonly File[] {
  const { worker, serverUrl, activationToken, ephemeral, exec, specifications } = boot;
  const owner = 'root:root';
  const own = { worker, server_url: serverUrl, ephemeral };
  const settings = JSON.stringify(exec === null ? own : { ...own, exec });
  const written: File[] = [
    { path: `${FOLDER}/worker.json`, permissions: '0644', owner, content: `${settings}\n` },
    { path: `${FOLDER}/activation-token`, permissions: '0600', owner, content: `${activationToken}\n` },
  ];
  if (isOfArchive(specifications.worker_install_source)) {
    written.push({ path: `${PROGRAMS}/worker.mjs`, permissions: '0644', owner, content: START_OF_AGENT });
    written.push({ path: `/etc/systemd/system/${SERVICE}.service`, permissions: '0644', owner, content: UNIT });
  }
  if (usesBackports(specifications)) {
    const content = `Package: nodejs libnode*\nPin: release n=${specifications.distro_release ?? '*'}-backports\nPin-Priority: 900\n`;
    written.push({ path: '/etc/apt/preferences.d/edgeward-worker', permissions: '0644', owner, content });
  }
  const credentials = repository?.credentials ?? null;
  if (repository !== null && credentials !== null) {
    const { username, password } = credentials;
    const machine = repository.configuration.url.replace(/^https?:\/\//, '');
    const scheme = repository.configuration.url.startsWith('http:') ? 'http://' : '';
    const content = `machine ${scheme}${machine} login ${username} password ${password}\n`;
    written.push({ path: '/etc/apt/auth.conf.d/edgeward-worker.conf', permissions: '0600', owner, content });
  }
  return written;
}

/** Fetches the agent by the activation token, which it then exchanges; what was fetched is used again. It runs on Node 18 as well. */
const START_OF_AGENT = `import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
const agent = '${PROGRAMS}/agent.mjs';
if (!existsSync(agent)) {
  const { server_url: server } = JSON.parse(await readFile('${FOLDER}/worker.json', 'utf8'));
  const token = (await readFile('${FOLDER}/activation-token', 'utf8')).trim();
  const answer = await fetch(server + '/api/worker/v1/agent', { headers: { authorization: 'Bearer ' + token } });
  if (!answer.ok) throw new Error('the agent could not be fetched: HTTP ' + answer.status);
  await writeFile(agent + '.new', await answer.text());
  await rename(agent + '.new', agent);
}
const { runInstalledAgent } = await import(agent);
await runInstalledAgent('${FOLDER}');
`;

/** Told to stop, the agent alone is told: what it runs is finished and reported first. */
const UNIT = `[Unit]
Description=edgeward worker
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/node ${PROGRAMS}/worker.mjs
Restart=on-failure
RestartSec=5
KillMode=mixed

[Install]
WantedBy=multi-user.target
`;

function aptSection(specifications: Specifications, repository: AptRepository | null): object | undefined {
  const release = specifications.distro_release ?? '$RELEASE';
  if (usesBackports(specifications)) {
    const components = UBUNTU.has(release) ? 'main universe' : 'main';
    return { sources: { 'edgeward-backports': { source: `deb $MIRROR ${release}-backports ${components}` } } };
  }
  if (repository === null) return undefined;
  const { url, suite = release, components, signing_key: key } = repository.configuration;
  const isSigned = key !== undefined && !WITHOUT_SIGNED_BY.has(release);
  const options = isSigned ? '[signed-by=$KEY_FILE] ' : '';
  // A suite that ends with a slash is a path: such a repository has no components.
  const where = suite.endsWith('/') ? suite : `${suite} ${components.join(' ')}`;
  const source = `deb ${options}${url} ${where}`;
  return { sources: { 'edgeward-worker': { source, ...(key === undefined ? {} : { key }) } } };
}

function usesBackports({ worker_install_source, distro_release }: Specifications): boolean {
  return worker_install_source === 'backports' && !WITHOUT_BACKPORTS.has(distro_release ?? '');
}

/** The swap device is known by its size and by being empty: its name differs from one instance type to the next. */
function swapScript(swapGiB: number): string {
  const bytes = swapGiB * 1024 ** 3;
  return [
    'set -eu',
    `for disk in $(lsblk --bytes --nodeps --noheadings --paths --output NAME,SIZE | awk '$2 == ${bytes} {print $1}'); do`,
    '  if [ "$(lsblk --noheadings --output NAME "$disk" | wc -l)" -ne 1 ]; then continue; fi',
    '  if [ -n "$(lsblk --noheadings --output FSTYPE,MOUNTPOINT "$disk" | tr -d "[:space:]")" ]; then continue; fi',
    '  mkswap --label edgeward-swap "$disk"',
    '  echo "LABEL=edgeward-swap none swap sw,nofail 0 0" >> /etc/fstab',
    '  swapon --label edgeward-swap',
    '  exit 0',
    'done',
    `echo "no empty disk of ${swapGiB} GiB for swap" >&2`,
  ].join('\n');
}
