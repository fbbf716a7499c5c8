import { changed, type Examples, page, shown, WORK_ID } from './example.ts';

const ASSET = {
  name: 'hcloud',
  category: 'cloud-provider-account',
  provider_type: 'hetzner',
  configuration: { endpoint: 'https://api.hetzner.cloud/v1' },
  credentials: ['api_token'],
  created_at: '2026-11-29T05:32:01.926+00:00',
};
const LIMITS = { max_active_instances: 5, target_max_seconds_per_month: null, max_idle_seconds: 3600 };
const POOL = {
  name: 'builders',
  provider_account: 'hcloud',
  enabled: true,
  architectures: ['amd64'],
  static_metadata: {},
  specifications: {
    provider_type: 'hetzner',
    distro_release: 'trixie',
    worker_install_source: 'release',
    server_type: 'cx32',
    image_name: 'debian-13',
    enable_ipv4: true,
    enable_ipv6: true,
  },
  instance_wide: true,
  ephemeral: false,
  limits: LIMITS,
  apt_authentication: null,
};
const SHOWN_POOL = {
  ...POOL,
  dynamic_metadata: {},
  scopes: ['debian'],
  active_workers: ['builders-001'],
  created_at: '2026-11-29T05:32:02.217+00:00',
};
const USE = { priority: 20, limits: { target_max_seconds_per_month: null, target_latency_seconds: 600 } };
const USED_POOL = { scope: 'debian', worker_pool: 'builders', ...USE };
const SCOPE = {
  name: 'debian',
  worker_pools: [{ name: 'builders', ...USE }],
  created_at: '2026-11-29T05:32:01.382+00:00',
};
const WORKER = {
  name: 'builders-001',
  pool: 'builders',
  phase: 'booting',
  architectures: ['amd64'],
  registered_at: '2026-11-29T05:32:02.507+00:00',
  instance_created_at: '2026-11-29T05:32:02.000+00:00',
  runtime_seconds: 1,
  worker_pool_data: { server_id: 1001 },
  task: null,
  scope: null,
  ending: null,
  failure: null,
};
const WORK = {
  id: WORK_ID,
  scope: 'debian',
  architecture: 'amd64',
  pool: null,
  expected_seconds: 300,
  state: 'waiting',
  worker: null,
  attempts: 0,
  submitted_at: '2026-11-29T05:32:01.526+00:00',
  started_at: null,
  finished_at: null,
  because: null,
};
const PAYLOAD = { build: 'hello_2.12-1' };
const NOTES = { notes: [] };

/** What administrators send and are answered about worker pools. */
export const ADMIN_POOL_EXAMPLES: Examples = {
  adminPutAssetsAsset: changed(
    { name: 'hcloud' },
    {
      body: {
        category: 'cloud-provider-account',
        provider_type: 'hetzner',
        credentials: { api_token: 'token-of-the-provider' },
      },
      status: 201,
      meta: NOTES,
    },
  ),
  adminPatchAssetsAsset: changed({ name: 'hcloud' }, { body: { configuration: ASSET.configuration }, meta: NOTES }),
  adminGetAssets: page(ASSET),
  adminGetAssetsAsset: shown(ASSET),
  adminPostAssetsAssetTest: changed(
    { name: 'hcloud', works: true, code: null, because: null },
    { body: {}, meta: { changed: false } },
  ),
  adminDeleteAssetsAsset: changed({ name: 'hcloud' }),
  adminPutWorkerPoolsPool: changed(
    { ...POOL, limits: { ...LIMITS, max_active_instances: 3 } },
    {
      body: {
        provider_account: 'hcloud',
        architectures: ['amd64'],
        specifications: {
          provider_type: 'hetzner',
          server_type: 'cx32',
          image_name: 'debian-13',
          distro_release: 'trixie',
        },
        limits: { max_active_instances: 3 },
      },
      status: 201,
      meta: NOTES,
    },
  ),
  adminPatchWorkerPoolsPool: changed(POOL, { body: { limits: { max_active_instances: 5 } }, meta: NOTES }),
  adminGetWorkerPools: page(SHOWN_POOL),
  adminGetWorkerPoolsPool: shown(SHOWN_POOL),
  adminDeleteWorkerPoolsPool: changed({ name: 'builders', scopes: [], ending: [] }),
  adminPostWorkerPoolsPoolLaunch: changed(
    { pool: 'builders', workers: ['builders-001'], notes: [] },
    { body: { count: 1 }, status: 202 },
  ),
  adminGetWorkerPoolsPoolUsage: shown({
    worker_pool: 'builders',
    month: '2026-11',
    running_instances: 1,
    used_seconds: 2.087,
    target_max_seconds_per_month: null,
    projected_seconds: 154237.986,
    scopes: [{ scope: 'debian', used_seconds: 0, target_max_seconds_per_month: null, projected_seconds: 0 }],
  }),
  adminPutScopesScope: changed({ name: 'debian' }, { body: {}, status: 201 }),
  adminGetScopes: page(SCOPE),
  adminGetScopesScope: shown(SCOPE),
  adminDeleteScopesScope: changed({ name: 'debian' }),
  adminPutScopesScopeWorkerPoolsPool: changed(
    { ...USED_POOL, priority: 10 },
    { body: { priority: 10, limits: { target_latency_seconds: 600 } }, status: 201 },
  ),
  adminPatchScopesScopeWorkerPoolsPool: changed(USED_POOL, { body: { priority: 20 } }),
  adminGetScopesScopeWorkerPoolsPool: shown(USED_POOL),
  adminDeleteScopesScopeWorkerPoolsPool: changed({ scope: 'debian', worker_pool: 'builders' }),
  adminGetWorkers: page(WORKER),
  adminGetWorkersWorker: shown(WORKER),
  adminPostWorkersWorkerTerminate: changed(
    { worker: 'builders-001', waits_for_task: null },
    { body: { force: true, reason: 'it hangs' }, status: 202 },
  ),
  adminPostWorkRequests: changed(
    { ...WORK, payload: PAYLOAD },
    { body: { scope: 'debian', architecture: 'amd64', payload: PAYLOAD, expected_seconds: 300 }, status: 201 },
  ),
  adminGetWorkRequests: page(WORK),
  adminGetWorkRequestsId: shown({ ...WORK, payload: PAYLOAD }),
  adminDeleteWorkRequestsId: changed({
    ...WORK,
    state: 'cancelled',
    finished_at: '2026-11-29T05:32:01.842+00:00',
    payload: null,
  }),
};
