import type { Examples } from './example.ts';

/** What administrators send and are answered. */
export const ADMIN_EXAMPLES: Examples = {
  adminPutRegionsRegion: {
    body: { deploy_policy: 'each' },
    status: 201,
    answer: { data: { id: 1, name: 'eu-west', deploy_policy: 'each', routers: 0 }, meta: { changed: true } },
  },
  adminPutRegionsRegionRoutersRouter: {
    body: { driver: 'file', options: { path: '/srv/lists/edge1' } },
    status: 201,
    answer: {
      data: {
        name: 'edge1',
        region: 'eu-west',
        driver: 'file',
        options: { path: '/srv/lists/edge1' },
        state: 'enabled',
        repair: true,
        drifted: [],
        unowned: [],
      },
      meta: { changed: true },
    },
  },
  adminPutCustomersCustomer: {
    body: {
      rate_limit: 120,
      allow_source_whitelist: true,
      webhook_url: 'https://hooks.example.com/edgeward',
      reason: 'contract 2711',
    },
    status: 201,
    answer: {
      data: {
        id: 1,
        name: 'Acme Corp.',
        list_name: 'ACME-CORP',
        rate_limit: 120,
        allow_synchronous: false,
        allow_source_whitelist: true,
        trusted: false,
        whitelist_limit: 100,
        prefix_limit: 10000,
        evidence_max_bytes: 5242880,
        webhook_url: 'https://hooks.example.com/edgeward',
        state: 'enabled',
      },
      meta: { changed: true, webhook_secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDw9Rj4kq0ySg=' },
    },
  },
  adminPatchCustomersCustomer: {
    body: { prefix_limit: 4000, ticket: 'NET-4711' },
    status: 200,
    answer: {
      data: {
        id: 1,
        name: 'Acme Corp.',
        list_name: 'ACME-CORP',
        rate_limit: 120,
        allow_synchronous: false,
        allow_source_whitelist: true,
        trusted: false,
        whitelist_limit: 100,
        prefix_limit: 4000,
        evidence_max_bytes: 5242880,
        webhook_url: 'https://hooks.example.com/edgeward',
        state: 'enabled',
      },
      meta: {
        changed: true,
        dry_run: true,
        events: [{ type: 'CustomerSettingsChanged', data: { changes: { prefixLimit: 4000 }, ticket: 'NET-4711' } }],
      },
    },
  },
  adminPutCustomersCustomerSubnetsSubnet: {
    body: { region: 'eu-west', asn: 64500, metro: 'AMS' },
    status: 201,
    answer: {
      data: { id: 1, customer: 'Acme Corp.', cidr: '203.0.113.0/24', region: 'eu-west', asn: 64500, metro: 'AMS' },
      meta: { changed: true },
    },
  },
  adminPostCustomersCustomerTokens: {
    body: { label: 'production', expires: 'P1Y', allowed_addresses: ['127.0.0.0/8'] },
    status: 201,
    answer: {
      data: {
        id: '8f14e45f-ceea-467f-9c1c-8c7f0a5a1d21',
        customer: 'Acme Corp.',
        label: 'production',
        token: 'edw_7hQ2kLmR0vX3bN9cT5wYzA8sD1fG4jK6pE2uH0iO',
      },
      meta: { changed: true },
    },
  },
  adminPostCommitsRun: {
    body: { customer: 'Acme Corp.', region: 'eu-west' },
    status: 200,
    answer: {
      data: {
        customer: 'Acme Corp.',
        region: 'eu-west',
        list: 'BLACKHOLE',
        status: 'success',
        outcomes: [{ router: 'edge1', result: 'confirmed', untouched: false, milliseconds: 62 }],
      },
      meta: { changed: false },
    },
  },
  adminPostWhitelistRequestsRequestReject: {
    body: { reason: 'the contract names another network' },
    status: 200,
    answer: { data: { id: '45c48cce-2e2d-4fbd-a1b7-6c3f5e8d9a10', status: 'rejected' }, meta: { changed: true } },
  },
  adminPutAccountsAccount: {
    body: { role: 'operator' },
    status: 201,
    answer: {
      data: {
        name: 'terraform',
        role: 'operator',
        enabled: true,
        second_factor: false,
        created_at: '2026-11-29T05:32:01.006+00:00',
        last_login: null,
      },
      meta: { changed: true, password: 'q7Vd0mXw2RkT9sLbN4hZcY' },
    },
  },
  adminPostAccountsAccountTokens: {
    body: { scopes: ['read', 'routers:operate'], label: 'main stack', expires: 'P90D' },
    status: 201,
    answer: {
      data: {
        id: 'd3d94468-02a4-4259-b5e1-7f0c2b8a6e55',
        account: 'terraform',
        label: 'main stack',
        scopes: ['read', 'routers:operate'],
        expires_at: '2027-02-27T05:32:01.087+00:00',
        token: 'edwa_9xC4vB7nM1qW5eR8tY2uI6oP3aS0dF7gH4jK1lZ',
      },
      meta: { changed: true },
    },
  },
  adminPutAssetsAsset: {
    body: {
      category: 'cloud-provider-account',
      provider_type: 'hetzner',
      credentials: { api_token: 'token-of-the-provider' },
    },
    status: 201,
    answer: { data: { name: 'hcloud' }, meta: { changed: true, notes: [] } },
  },
  adminPutWorkerPoolsPool: {
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
    answer: {
      data: {
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
        limits: { max_active_instances: 3, target_max_seconds_per_month: null, max_idle_seconds: 3600 },
        apt_authentication: null,
      },
      meta: { changed: true, notes: [] },
    },
  },
  adminPutScopesScope: { body: {}, status: 201, answer: { data: { name: 'debian' }, meta: { changed: true } } },
  adminPutScopesScopeWorkerPoolsPool: {
    body: { priority: 10, limits: { target_latency_seconds: 600 } },
    status: 201,
    answer: {
      data: {
        scope: 'debian',
        worker_pool: 'builders',
        priority: 10,
        limits: { target_max_seconds_per_month: null, target_latency_seconds: 600 },
      },
      meta: { changed: true },
    },
  },
  adminPostWorkRequests: {
    body: { scope: 'debian', architecture: 'amd64', payload: { build: 'hello_2.12-1' }, expected_seconds: 300 },
    status: 201,
    answer: {
      data: {
        id: '6512bd43-d9ca-46e0-8ea2-2b9f4c7d1e88',
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
        payload: { build: 'hello_2.12-1' },
      },
      meta: { changed: true },
    },
  },
};
