import type { Refusal } from '../../../kernel/decider.ts';
import { type Problem, problems } from '../../problems.ts';

/** Refusal codes of the rules and of the use cases → status. A code that is not here is a bug and answers 500. */
export const STATUS_OF_ADMIN_REFUSAL: Readonly<Record<string, number>> = {
  'bad-password': 422,
  'wrong-code': 422,
  'address-not-found': 404,
  'administrator-not-found': 404,
  'apt-authentication-not-found': 404,
  'asset-not-found': 404,
  'customer-not-found': 404,
  'delivery-not-found': 404,
  'evidence-missing': 404,
  'instance-not-found': 404,
  'not-found': 404,
  'provider-account-not-found': 404,
  'region-not-found': 404,
  'router-not-found': 404,
  'run-not-found': 404,
  'scope-not-found': 404,
  'scope-worker-pool-not-found': 404,
  'source-whitelist-not-found': 404,
  'token-not-found': 404,
  'work-request-not-found': 404,
  'worker-not-found': 404,
  'worker-pool-not-found': 404,

  'activation-token-ended': 409,
  'administrator-disabled': 409,
  'administrator-exists': 409,
  'asset-in-use': 409,
  'asset-name-taken': 409,
  'customer-disabled': 409,
  'customer-in-use': 409,
  'customer-name-taken': 409,
  'evidence-altered': 409,
  'in-progress': 409,
  'instance-exists': 409,
  'last-administrator': 409,
  'list-name-taken': 409,
  'log-restored': 409,
  'max-active-instances-in-use': 409,
  'no-public-url': 409,
  'no-webhook': 409,
  'not-your-work-request': 409,
  'provider-type-in-use': 409,
  'region-in-use': 409,
  'region-name-taken': 409,
  'router-name-taken': 409,
  'second-factor-enrolled': 409,
  'second-factor-needed': 409,
  'second-factor-used': 409,
  'scope-in-use': 409,
  'secret-in-use': 409,
  'password-changed': 409,
  'session-over': 409,
  'source-whitelist-decided': 409,
  'subnet-differs': 409,
  'subnet-overlaps': 409,
  'webhook-secrets-in-use': 409,
  'work-request-not-waiting': 409,
  'work-request-over': 409,
  'worker-busy': 409,
  'worker-ending': 409,
  'worker-exists': 409,
  'worker-not-ready': 409,
  'worker-pool-disabled': 409,
  'worker-pool-in-use': 409,
  'worker-pool-taken': 409,
  'worker-without-pool': 409,

  'address-not-owned': 422,
  'ambiguous-router': 422,
  'ambiguous-request': 422,
  'ambiguous-token': 422,
  'ambiguous-work-request': 422,
  'bad-administrator-name': 422,
  'bad-asn': 422,
  'bad-cidr': 422,
  'bad-customer-name': 422,
  'bad-allowed-address': 422,
  'bad-token-expiry': 422,
  'bad-until': 422,
  'bad-expiry': 422,
  'bad-label': 422,
  'bad-metro': 422,
  'bad-option': 422,
  'bad-provider-type': 422,
  'bad-reason': 422,
  'bad-region-name': 422,
  'bad-router-name': 422,
  'bad-scopes': 422,
  'bad-secret': 422,
  'bad-secret-id': 422,
  'bad-webhook-url': 422,
  'bad-work-request': 422,
  'router-not-usable': 422,
  'bad-worker-pool': 422,
  'not-a-provider-account': 422,
  'scopes-beyond-role': 422,
  'source-whitelist-limit-reached': 422,
  'source-whitelist-not-allowed': 422,
  'source-whitelist-overlap': 422,
  'source-whitelist-reserved': 422,
  'source-whitelist-too-broad': 422,
  'synchronous-not-allowed': 422,
  'too-many-prefixes': 422,

  'revision-differs': 412,
};

/** 412: it is not as the caller has seen it. */
export const PRECONDITION_FAILED: Problem = {
  status: 412,
  message: 'it was changed meanwhile, or is not as If-Match and If-None-Match say: read it again.',
};

/** Fields that the rules call otherwise than the API does. */
const FIELD_NAMES: Readonly<Record<string, string>> = { webhookUrl: 'webhook_url' };

/** The answer for what the rules, or a use case, refused. */
export function refusalProblem(refusal: Refusal): Problem {
  const status = STATUS_OF_ADMIN_REFUSAL[refusal.refused];
  if (status === undefined) return { ...problems.internal, because: refusal };
  if (status === 412) return PRECONDITION_FAILED;
  const { field, because: message } = refusal;
  if (status !== 422 || field === undefined) return { status, message };
  return { status, message, errors: { [FIELD_NAMES[field] ?? field]: [message] } };
}
