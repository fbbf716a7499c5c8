import type { CustomerAccount } from './customers.ts';
import type { CustomersToken } from './tokens.ts';
import type { ShownRequest } from './whitelist-review.ts';

// What machines read of these: the command line's JSON and the administration API have the same fields.

/** A customer with its settings. */
export function customerRecord({ customerId, name, listName, standing, settings }: CustomerAccount) {
  return {
    id: customerId,
    name,
    list_name: listName,
    rate_limit: settings.rateLimitPerMinute,
    allow_synchronous: settings.allowSynchronous,
    allow_source_whitelist: settings.allowSourceWhitelist,
    trusted: settings.trusted,
    whitelist_limit: settings.whitelistLimit,
    prefix_limit: settings.prefixLimit,
    evidence_max_bytes: settings.evidenceMaxBytes,
    webhook_url: settings.webhookUrl,
    state: standing,
  };
}

/** A customer's token, of which only the visible prefix is known. */
export function tokenRecord(token: CustomersToken) {
  return {
    id: token.tokenId,
    customer: token.customer,
    label: token.label,
    prefix: token.prefix,
    created_at: token.issuedAt,
    expires_at: token.expiresAt,
    read_only: token.readOnly,
    allowed_addresses: [...(token.allowedAddresses ?? [])],
    last_used: token.lastUsedHour,
    state: token.isDisabled ? 'disabled' : 'enabled',
  };
}

/** A whitelist request with what became of it. */
export function whitelistRecord(request: ShownRequest) {
  const { evidence, decided, submitted, removed } = request;
  return {
    id: request.requestId,
    customer: request.customer,
    input: request.input,
    prefixes: request.prefixes,
    status: request.status ?? 'removed',
    regions: request.regions,
    auto_approved: request.autoApproved,
    created_at: submitted.at,
    created_by: submitted.by,
    decided_at: decided?.at ?? null,
    decided_by: decided?.by ?? null,
    reason: decided?.outcome === 'rejected' ? decided.reason : null,
    removed_at: removed?.at ?? null,
    removed_by: removed?.by ?? null,
    evidence: {
      file_name: evidence.fileName,
      media_type: evidence.mediaType,
      bytes: evidence.bytes,
      sha256: evidence.sha256,
    },
  };
}
