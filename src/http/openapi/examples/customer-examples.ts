import {
  COMMIT_SET_ID,
  COMPLETED_AT,
  DELIVERY_ID,
  type Examples,
  page,
  REQUEST_ID,
  REQUESTED_AT,
  shown,
} from './example.ts';

const SUBNET = { id: 1, cidr: '203.0.113.0/24', ip_version: 4, asn: 64500 };
const COMMIT = {
  region: 'eu-west',
  status: 'success',
  attempt: 1,
  prefixes: 4,
  commit_set_id: COMMIT_SET_ID,
  prefix_list_name: 'Svc-ACME-CORP-BLACKHOLE',
  requested_at: REQUESTED_AT,
  completed_at: COMPLETED_AT,
  reason: null,
};
const REQUEST = {
  request_id: REQUEST_ID,
  input: '192.31.196.7',
  regions: ['eu-west'],
  status: 'pending_review',
  auto_approved: false,
};

/** What customers send and are answered. */
export const CUSTOMER_EXAMPLES: Examples = {
  postIpsDisable: {
    body: { ip: '203.0.113.7', until: 'PT4H', reason: 'DDoS on the web server', ticket: 'NET-4711' },
    status: 200,
    answer: {
      data: { address: '203.0.113.7', status: 'disabled', pending_change: true },
      meta: { pending_changes: 1 },
    },
  },
  getSubnetsSubnetId: {
    status: 200,
    answer: {
      data: {
        ...SUBNET,
        ranges: [
          { start: '203.0.113.0', end: '203.0.113.6', status: 'enabled', pending_change: false },
          {
            start: '203.0.113.7',
            end: '203.0.113.7',
            status: 'disabled',
            pending_change: true,
            disabled_until: '2026-11-29T09:31:58.945+00:00',
          },
          { start: '203.0.113.8', end: '203.0.113.255', status: 'enabled', pending_change: false },
        ],
      },
      meta: { pending_changes: 1 },
    },
  },
  postIpsBulk: {
    body: { action: 'disable', cidr: '203.0.113.0/28' },
    status: 200,
    answer: { data: { changed: 15, action: 'disable' }, meta: { pending_changes: 16 } },
  },
  postIpsEnable: {
    body: { ip: '203.0.113.7' },
    status: 200,
    answer: {
      data: { address: '203.0.113.7', status: 'enabled', pending_change: true },
      meta: { pending_changes: 16 },
    },
  },
  getSubnets: shown([
    {
      ...SUBNET,
      metro: 'AMS',
      region: 'eu-west',
      ip_counts: { total: 256, enabled: 241, disabled: 15, pending: 16 },
    },
  ]),
  getSubnetsSubnetIdPending: {
    status: 200,
    answer: {
      data: {
        ...SUBNET,
        ranges: [
          { start: '203.0.113.0', end: '203.0.113.6', status: 'disabled', pending_change: true },
          { start: '203.0.113.7', end: '203.0.113.7', status: 'enabled', pending_change: true },
          { start: '203.0.113.8', end: '203.0.113.15', status: 'disabled', pending_change: true },
        ],
      },
      meta: { pending_changes: 16 },
    },
  },
  getCommits: page(COMMIT),
  getCommitsCommitSetId: shown(COMMIT),
  getWebhookDeliveries: page({
    id: DELIVERY_ID,
    commit_set_id: COMMIT_SET_ID,
    status: 'success',
    state: 'delivered',
    attempts: [{ at: '2026-11-29T05:32:00.056+00:00', http_status: 204, error: null }],
  }),
  postWebhookDeliveriesIdRedeliver: { status: 202, answer: { data: { id: DELIVERY_ID, state: 'retrying' } } },
  postSourceWhitelist: { status: 201, answer: { data: REQUEST, meta: { used: 1, limit: 100 } } },
  getSourceWhitelist: {
    status: 200,
    answer: {
      data: [{ ...REQUEST, created_at: '2026-11-29T05:32:00.310+00:00' }],
      meta: { used: 1, limit: 100 },
    },
  },
  deleteSourceWhitelistRequestId: shown({ request_id: REQUEST_ID, status: 'removed' }),
};
