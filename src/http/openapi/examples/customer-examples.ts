import type { Examples } from './example.ts';

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
        id: 1,
        cidr: '203.0.113.0/24',
        ip_version: 4,
        asn: 64500,
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
  getSubnets: {
    status: 200,
    answer: {
      data: [
        {
          id: 1,
          cidr: '203.0.113.0/24',
          ip_version: 4,
          asn: 64500,
          metro: 'AMS',
          region: 'eu-west',
          ip_counts: { total: 256, enabled: 241, disabled: 15, pending: 16 },
        },
      ],
    },
  },
  getSubnetsSubnetIdPending: {
    status: 200,
    answer: {
      data: {
        id: 1,
        cidr: '203.0.113.0/24',
        ip_version: 4,
        asn: 64500,
        ranges: [
          { start: '203.0.113.0', end: '203.0.113.6', status: 'disabled', pending_change: true },
          { start: '203.0.113.7', end: '203.0.113.7', status: 'enabled', pending_change: true },
          { start: '203.0.113.8', end: '203.0.113.15', status: 'disabled', pending_change: true },
        ],
      },
      meta: { pending_changes: 16 },
    },
  },
  getCommits: {
    status: 200,
    answer: {
      data: [
        {
          region: 'eu-west',
          status: 'success',
          attempt: 1,
          prefixes: 4,
          commit_set_id: 'c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33',
          prefix_list_name: 'Svc-ACME-CORP-BLACKHOLE',
          requested_at: '2026-11-29T05:31:59.665+00:00',
          completed_at: '2026-11-29T05:31:59.781+00:00',
          reason: null,
        },
      ],
      meta: { next_after: null },
    },
  },
  getCommitsCommitSetId: {
    status: 200,
    answer: {
      data: {
        region: 'eu-west',
        status: 'success',
        attempt: 1,
        prefixes: 4,
        commit_set_id: 'c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33',
        prefix_list_name: 'Svc-ACME-CORP-BLACKHOLE',
        requested_at: '2026-11-29T05:31:59.665+00:00',
        completed_at: '2026-11-29T05:31:59.781+00:00',
        reason: null,
      },
    },
  },
  getWebhookDeliveries: {
    status: 200,
    answer: {
      data: [
        {
          id: 'msg_c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33_success',
          commit_set_id: 'c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33',
          status: 'success',
          state: 'delivered',
          attempts: [{ at: '2026-11-29T05:32:00.056+00:00', http_status: 204, error: null }],
        },
      ],
      meta: { next_after: null },
    },
  },
  postWebhookDeliveriesIdRedeliver: {
    status: 202,
    answer: { data: { id: 'msg_c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33_success', state: 'retrying' } },
  },
  postSourceWhitelist: {
    status: 201,
    answer: {
      data: {
        request_id: '45c48cce-2e2d-4fbd-a1b7-6c3f5e8d9a10',
        input: '192.31.196.7',
        regions: ['eu-west'],
        status: 'pending_review',
        auto_approved: false,
      },
      meta: { used: 1, limit: 100 },
    },
  },
  getSourceWhitelist: {
    status: 200,
    answer: {
      data: [
        {
          request_id: '45c48cce-2e2d-4fbd-a1b7-6c3f5e8d9a10',
          input: '192.31.196.7',
          regions: ['eu-west'],
          status: 'pending_review',
          auto_approved: false,
          created_at: '2026-11-29T05:32:00.310+00:00',
        },
      ],
      meta: { used: 1, limit: 100 },
    },
  },
  deleteSourceWhitelistRequestId: {
    status: 200,
    answer: { data: { request_id: '45c48cce-2e2d-4fbd-a1b7-6c3f5e8d9a10', status: 'removed' } },
  },
};
