import {
  changed,
  COMMIT_SET_ID,
  COMPLETED_AT,
  DELIVERY_ID,
  type Examples,
  page,
  REQUEST_ID,
  shown,
  TOKEN_ID,
} from './example.ts';

const CUSTOMER = {
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
};
const SUBNET = { id: 1, customer: 'Acme Corp.', cidr: '203.0.113.0/24', region: 'eu-west', asn: 64500, metro: 'AMS' };
const TOKEN = {
  id: TOKEN_ID,
  customer: 'Acme Corp.',
  label: 'production',
  prefix: 'edw_7hQ2kL',
  created_at: '2026-11-29T05:31:58.790+00:00',
  expires_at: '2027-11-29T05:31:58.790+00:00',
  read_only: false,
  allowed_addresses: ['127.0.0.0/8'],
  last_used: null,
  state: 'enabled',
};
const DELIVERY = {
  id: DELIVERY_ID,
  commit_set_id: COMMIT_SET_ID,
  list: 'BLACKHOLE',
  status: 'success',
  completed_at: COMPLETED_AT,
  owed_at: COMPLETED_AT,
  requested_again_at: null,
  state: 'delivered',
  attempts: [{ attempt: 1, at: '2026-11-29T05:32:00.056+00:00', because: null, milliseconds: 69, http_status: 204 }],
};
const REQUEST = {
  id: REQUEST_ID,
  customer: 'Acme Corp.',
  input: '192.31.196.7',
  status: 'pending_review',
  auto_approved: false,
  created_at: '2026-11-29T05:32:00.310+00:00',
};
const ACCOUNT = {
  name: 'terraform',
  role: 'operator',
  enabled: true,
  second_factor: false,
  created_at: '2026-11-29T05:32:01.006+00:00',
  last_login: null,
};
const ACCOUNT_TOKEN = {
  id: 'd3d94468-02a4-4259-b5e1-7f0c2b8a6e55',
  account: 'terraform',
  label: 'main stack',
  scopes: ['read', 'routers:operate'],
  expires_at: '2027-02-27T05:32:01.087+00:00',
};
const ISSUED_TOKEN = {
  ...ACCOUNT_TOKEN,
  created_at: '2026-11-29T05:32:01.104+00:00',
  created_by: 'admin:root+52dc9d38',
};

/** What administrators send and are answered about customers, and about administrators. */
export const ADMIN_CUSTOMER_EXAMPLES: Examples = {
  adminPutCustomersCustomer: changed(CUSTOMER, {
    body: {
      rate_limit: 120,
      allow_source_whitelist: true,
      webhook_url: 'https://hooks.example.com/edgeward',
      reason: 'contract 2711',
    },
    status: 201,
    meta: { webhook_secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDw9Rj4kq0ySg=' },
  }),
  adminPatchCustomersCustomer: changed(
    { ...CUSTOMER, prefix_limit: 4000 },
    {
      body: { prefix_limit: 4000, ticket: 'NET-4711' },
      meta: {
        dry_run: true,
        events: [{ type: 'CustomerSettingsChanged', data: { changes: { prefixLimit: 4000 }, ticket: 'NET-4711' } }],
      },
    },
  ),
  adminGetCustomers: page(CUSTOMER),
  adminGetCustomersCustomer: shown(CUSTOMER),
  adminPostCustomersCustomerDisable: changed(
    { ...CUSTOMER, state: 'disabled' },
    { body: { reason: 'the contract has ended' } },
  ),
  adminPostCustomersCustomerEnable: changed(CUSTOMER, { body: { reason: 'the contract goes on' } }),
  adminDeleteCustomersCustomer: changed({ ...CUSTOMER, state: 'removed' }),
  adminPostCustomersCustomerWebhookSecret: changed(
    {
      webhook_secret: 'whsec_vB9EGy/xv73Y01pjLSNrJ43UH8q7IP1U399cI2JTvgQ=',
      previous_webhook_secret_until: null,
    },
    { body: { immediately: true, reason: 'the old one was in a log' } },
  ),
  adminGetCustomersCustomerState: shown({
    customer: 'Acme Corp.',
    at: '2026-11-29T05:31:59.068+00:00',
    regions: [
      {
        region: 'eu-west',
        disabled: ['203.0.113.0/30', '203.0.113.4/31', '203.0.113.6/32', '203.0.113.8/29'],
        pending: ['203.0.113.0/28'],
        deployed: [],
        because: [],
        disabled_until: [],
        source_whitelist: { live: [], pending: [], deployed: [] },
      },
    ],
    source_whitelist_requests: [],
  }),
  adminPutCustomersCustomerSubnetsSubnet: changed(SUBNET, {
    body: { region: 'eu-west', asn: 64500, metro: 'AMS' },
    status: 201,
  }),
  adminGetCustomersCustomerSubnets: page(SUBNET),
  adminGetCustomersCustomerSubnetsSubnet: shown(SUBNET),
  adminGetSubnets: page(SUBNET),
  adminDeleteCustomersCustomerSubnetsSubnet: changed(SUBNET),
  adminPostCustomersCustomerTokens: changed(
    { ...TOKEN, token: 'edw_7hQ2kLmR0vX3bN9cT5wYzA8sD1fG4jK6pE2uH0iO' },
    { body: { label: 'production', expires: 'P1Y', allowed_addresses: ['127.0.0.0/8'] }, status: 201 },
  ),
  adminGetCustomersCustomerTokens: page(TOKEN),
  adminGetCustomersCustomerTokensToken: shown(TOKEN),
  adminDeleteCustomersCustomerTokensToken: changed({ ...TOKEN, last_used: '2026-11-29T05:00:00.000+00:00' }),
  adminGetCustomersCustomerWebhookDeliveries: page(DELIVERY),
  adminGetCustomersCustomerWebhookDeliveriesDelivery: shown(DELIVERY),
  adminPostCustomersCustomerWebhookDeliveriesDeliveryRedeliver: changed(
    { id: DELIVERY_ID, state: 'retrying' },
    { body: { reason: 'their receiver was down' }, status: 202 },
  ),
  adminPostCustomersCustomerWebhookDeliveriesTest: changed(
    {
      id: 'msg_98d0a469-0ebb-4fb2-bb22-8bd34fc2c039_test',
      delivered: true,
      http_status: 204,
      because: null,
      milliseconds: 41,
    },
    { body: { ticket: 'NET-4711' } },
  ),
  adminGetWhitelistRequests: page({ ...REQUEST, regions: ['eu-west'] }),
  adminGetWhitelistRequestsRequest: shown({
    ...REQUEST,
    prefixes: ['192.31.196.7/32'],
    regions: [{ name: 'eu-west', deployment: null }],
    created_by: `token:${TOKEN_ID}`,
    decided_at: null,
    decided_by: null,
    reason: null,
    removed_at: null,
    removed_by: null,
    evidence: {
      file_name: 'contract.pdf',
      media_type: 'application/pdf',
      bytes: 9,
      sha256: 'e5c62df5dab5c87b6a015ef3d43597074d1eec433b15f51aec63b8582d0e4ab4',
    },
  }),
  adminGetWhitelistRequestsRequestEvidence: { status: 200 },
  adminPostWhitelistRequestsRequestReject: changed(
    { id: REQUEST_ID, status: 'rejected' },
    { body: { reason: 'the contract names another network' } },
  ),
  adminPostWhitelistRequestsRequestApprove: changed(
    { id: REQUEST_ID, status: 'pending_deploy' },
    { body: { ticket: 'NET-4711' } },
  ),
  adminPutAccountsAccount: changed(ACCOUNT, {
    body: { role: 'operator' },
    status: 201,
    meta: { password: 'q7Vd0mXw2RkT9sLbN4hZcY' },
  }),
  adminPatchAccountsAccount: changed(
    { ...ACCOUNT, role: 'administrator' },
    { body: { role: 'administrator', reason: 'it makes customers, too' } },
  ),
  adminGetAccounts: page({ ...ACCOUNT, role: 'administrator' }),
  adminGetAccountsAccount: shown({ ...ACCOUNT, role: 'administrator' }),
  adminPostAccountsAccountResetPassword: changed(
    { name: 'terraform', password: '5pqJ9k0ApoT-1Vd-MmDdqvCn' },
    { body: { ticket: 'NET-4711' } },
  ),
  adminDeleteAccountsAccount: changed({ ...ACCOUNT, role: 'administrator', enabled: false }),
  adminPostAccountsAccountTokens: changed(
    { ...ACCOUNT_TOKEN, token: 'edwa_9xC4vB7nM1qW5eR8tY2uI6oP3aS0dF7gH4jK1lZ' },
    { body: { scopes: ['read', 'routers:operate'], label: 'main stack', expires: 'P90D' }, status: 201 },
  ),
  adminGetAccountsAccountTokens: page(ISSUED_TOKEN),
  adminDeleteAccountsAccountTokensToken: changed(ISSUED_TOKEN),
};
