import type { OperationTexts } from './operation-text.ts';

const PAGES =
  '100 rows a page, or `limit` (at most 200); while `meta.next_after` is not null, the same request with it as `after` has the next ones.';
const MAKE_SO =
  'Names the thing in its path and says how it is to be; what is left out has its default. 201: it was made. 200: it was changed, or was so already, which `meta.changed` tells. `If-None-Match: *` only makes what is not there, `If-Match` only changes what has not moved since (412). `?dry_run=true` records nothing.';
const CHANGE =
  'Changes what is named and leaves the rest. 412 where `If-Match` names another revision. `?dry_run=true` records nothing.';
const MAYBE_LATER =
  '200: done. 202: it takes longer than 20 seconds and goes on; `GET /operations/{operation}` says how far it is.';
const OF_ROUTER = '404 where the region has no such router.';

/** What administrators may ask about customers and the network, in words. */
export const ADMIN_TEXTS: OperationTexts = {
  adminGetCustomers: { summary: 'List customers', description: `By number. ${PAGES}` },
  adminGetCustomersCustomer: {
    summary: 'Show a customer',
    description: 'By name or number. `ETag` is its revision, which moves with each change of its addresses too.',
  },
  adminPutCustomersCustomer: {
    summary: 'Make a customer so',
    description: `${MAKE_SO} The first webhook brings \`meta.webhook_secret\`, which is shown once.`,
  },
  adminPatchCustomersCustomer: {
    summary: 'Change a customer',
    description: `${CHANGE} \`webhook_url: null\` ends its webhook; the first one brings \`meta.webhook_secret\`, once.`,
  },
  adminDeleteCustomersCustomer: {
    summary: 'Remove a customer',
    description:
      'Its tokens end at once, and its lists are emptied by the next commits; its history and its name stay. 409 while it has subnets or whitelist requests, unless `?force=true` takes these with it. `?dry_run=true` records nothing.',
  },
  adminPostCustomersCustomerDisable: {
    summary: 'Disable a customer',
    description: 'Its tokens are answered 403 until it is enabled. What is on routers stays there.',
  },
  adminPostCustomersCustomerEnable: {
    summary: 'Enable a customer',
    description: 'Its tokens are of use again. Enabled already: 200, and nothing is recorded.',
  },
  adminPostCustomersCustomerWebhookSecret: {
    summary: 'Replace the secret that webhooks are signed with',
    description:
      'The new one is shown once. For 24 hours deliveries are signed with both, unless `immediately` ends the old one, for a secret that others know. 409 for a customer without a webhook.',
  },
  adminGetCustomersCustomerState: {
    summary: 'Show what was disabled at a moment',
    description:
      'What was disabled, pending and deployed in each region, and the source whitelist, computed from the events up to `?at=` (an instant with offset; now, where it is left out).',
  },
  adminGetCustomersCustomerTokens: {
    summary: "List a customer's tokens",
    description: 'Without the tokens themselves. `prefix` is how a leaked one begins; `last_used` is kept to the hour.',
  },
  adminPostCustomersCustomerTokens: {
    summary: 'Issue a token for a customer',
    description:
      'The token is in the answer, once, with what it may do. It may end (`expires`: an instant with offset, or a duration), only read (`read_only`), or be of use from some addresses alone (`allowed_addresses`).',
  },
  adminGetCustomersCustomerTokensToken: {
    summary: "Show a customer's token",
    description: 'By its id, without the token itself. 404 where the customer has no such token, or it is revoked.',
  },
  adminDeleteCustomersCustomerTokensToken: {
    summary: "Revoke a customer's token",
    description: 'From now on it is answered 401. A second time it is 404. `?dry_run=true` records nothing.',
  },
  adminGetSubnets: { summary: 'List the subnets of all customers', description: PAGES },
  adminGetCustomersCustomerSubnets: { summary: "List a customer's subnets", description: PAGES },
  adminGetCustomersCustomerSubnetsSubnet: {
    summary: 'Show a subnet',
    description: 'By its number, or by its network, percent-encoded: `203.0.113.0%2F24`.',
  },
  adminPutCustomersCustomerSubnetsSubnet: {
    summary: 'Give a customer a subnet',
    description:
      'The network is in the path, percent-encoded. 201: made. 200: it is so already. 409 where it is something else, which never changes, or overlaps a subnet of this or another customer. `?dry_run=true` records nothing.',
  },
  adminDeleteCustomersCustomerSubnetsSubnet: {
    summary: 'Take a subnet away',
    description:
      'What was disabled in it leaves the routers with the next commit. A second time it is 404. `?dry_run=true` records nothing.',
  },
  adminGetCustomersCustomerWebhookDeliveries: {
    summary: "List a customer's notifications",
    description: `Newest first, with each try. ${PAGES}`,
  },
  adminPostCustomersCustomerWebhookDeliveriesTest: {
    summary: "Try a customer's webhook",
    description:
      'Sends a notification with `event` `test`, once, and answers what came back; it is in the events, and no delivery. 409 for a customer without a webhook.',
  },
  adminGetCustomersCustomerWebhookDeliveriesDelivery: {
    summary: 'Show a notification',
    description: 'By its id, which is its `webhook-id`, with each try.',
  },
  adminPostCustomersCustomerWebhookDeliveriesDeliveryRedeliver: {
    summary: 'Send a notification again',
    description:
      'The same body and `webhook-id`, after what is still to be sent for its region. 202: it is on its way. 409 for a customer without a webhook.',
  },
  adminGetWhitelistRequests: {
    summary: 'List whitelist requests',
    description: `Of all customers or of one, of any status or of one. ${PAGES}`,
  },
  adminGetWhitelistRequestsRequest: {
    summary: 'Show a whitelist request',
    description: 'With its evidence (not the file), who decided and when, and how far it is deployed.',
  },
  adminPostWhitelistRequestsRequestApprove: {
    summary: 'Approve a whitelist request',
    description:
      'The next commits put it on the routers of its regions. 409 where it was decided otherwise, or removed.',
  },
  adminPostWhitelistRequestsRequestReject: {
    summary: 'Reject a whitelist request',
    description:
      '`reason` is required, and is kept for the record: the customer is not shown it. 409 where it was decided otherwise, or removed.',
  },
  adminGetWhitelistRequestsRequestEvidence: {
    summary: 'Get the file that was given as proof',
    description:
      'As it was uploaded, to be treated as any file from a stranger. That it was read is a line of the log, with account and SHA-256.',
  },
  adminGetRegions: { summary: 'List regions', description: PAGES },
  adminGetRegionsRegion: { summary: 'Show a region', description: 'By name or number. `ETag` is its revision.' },
  adminPutRegionsRegion: { summary: 'Make a region so', description: MAKE_SO },
  adminPatchRegionsRegion: { summary: 'Change a region', description: CHANGE },
  adminDeleteRegionsRegion: {
    summary: 'Remove a region',
    description: '409 while routers or subnets use it. `?dry_run=true` records nothing.',
  },
  adminGetRegionsRegionRouters: { summary: 'List the routers of a region', description: 'All of them on one page.' },
  adminGetRegionsRegionRoutersRouter: {
    summary: 'Show a router',
    description: `With what the last check found. \`ETag\` is its revision. ${OF_ROUTER}`,
  },
  adminPutRegionsRegionRoutersRouter: {
    summary: 'Make a router so',
    description: `${MAKE_SO} Another driver or other options for a router that is there are refused (409): options change by PATCH. Secrets are named (\`secret:router-…\`), never sent; paths and local programs are refused or bounded here.`,
  },
  adminPatchRegionsRegionRoutersRouter: {
    summary: 'Change a router',
    description: `${CHANGE} Options change by name, and null sets the default; the router is tried with them first, unless \`force\` says not to.`,
  },
  adminDeleteRegionsRegionRoutersRouter: {
    summary: 'Remove a router',
    description: 'What is on it stays on it. `?dry_run=true` records nothing.',
  },
  adminPostRegionsRegionRoutersRouterDisable: {
    summary: 'Disable a router',
    description: `Commits pass it over until it is enabled. ${OF_ROUTER}`,
  },
  adminPostRegionsRegionRoutersRouterTest: {
    summary: 'Try to reach a router',
    description: `Logs in and looks, and changes nothing. A router that can't be reached is 200 with \`reachable\` false and why. ${OF_ROUTER}`,
  },
  adminPostRegionsRegionRoutersRouterCheck: {
    summary: 'Compare a router with what it should have',
    description: `Reads its lists, and repairs what has drifted where the router allows it (\`repair\`). ${MAYBE_LATER}`,
  },
  adminPostRegionsRegionRoutersRouterPrune: {
    summary: 'Remove lists of nobody from a router',
    description: `Lists with names as edgeward gives them that belong to no customer any more. ${MAYBE_LATER}`,
  },
  adminPostRegionsRegionRoutersRouterEnable: {
    summary: 'Enable a router',
    description: `It gets all lists of its region first, and takes part in commits once it has them. ${MAYBE_LATER}`,
  },
  adminPostRegionsRegionRoutersRouterDrain: {
    summary: 'Take all lists off a router',
    description: `Disables it first, and waits for commits under way; enabling it puts everything back. \`?dry_run=true\` names the lists and takes none off. ${MAYBE_LATER}`,
  },
  adminGetOperationsOperation: {
    summary: 'Show what takes a while',
    description: 'What was answered 202: whether it is still going on, and its result once it is over.',
  },
  adminGetCommits: { summary: 'List commits', description: `Newest first, of a customer, a region or all. ${PAGES}` },
  adminGetCommitsDiff: {
    summary: 'Show how routers differ from a list',
    description: 'Asks each router of the region for the list and compares. Changes nothing.',
  },
  adminPostCommitsRun: {
    summary: 'Deploy a list now',
    description: `Without waiting for the quiet period; \`list\` is the blackhole list where it is left out. Where nothing is pending, or a commit is under way already, none is requested, and \`meta.changed\` is false. ${MAYBE_LATER}`,
  },
  adminGetCommitsCommitSet: { summary: 'Show a commit', description: 'With what became of it on each router.' },
  adminGetEvents: {
    summary: 'List events',
    description: `What has happened, in its order, of one stream, type or actor, or between two instants. A page may be empty where few fit, and \`next_after\` goes on. With \`Accept: application/x-ndjson\` all that fit, one a line (scope \`events:export\`). ${PAGES}`,
  },
  adminGetEventsPosition: {
    summary: 'Show an event',
    description:
      'By its position in the log; by its id, too, for which the whole log is looked through (scope `events:export`).',
  },
  adminGetVerify: {
    summary: 'Check that the log was not altered',
    description: 'Computes the chain of hashes of a stream again; `problems` is empty when it holds.',
  },
  adminGetProjections: { summary: 'Show how far the views have read', description: 'All of them on one page.' },
  adminGetAccounts: { summary: 'List accounts of administrators', description: PAGES },
  adminGetAccountsAccount: { summary: 'Show an account', description: 'By name. `ETag` is its revision.' },
  adminPutAccountsAccount: {
    summary: 'Make an account so',
    description: `${MAKE_SO} A new account's password is in \`meta.password\`, once, and is changed at its first login. 409 where no administrator would be left.`,
  },
  adminPatchAccountsAccount: {
    summary: 'Change an account',
    description: `${CHANGE} 409 where no administrator would be left.`,
  },
  adminDeleteAccountsAccount: {
    summary: 'Disable an account for good',
    description:
      'Ends its sessions and tokens. Events name accounts for ever, so that its name stays. 409 for the last administrator. `?dry_run=true` records nothing.',
  },
  adminPostAccountsAccountResetPassword: {
    summary: 'Give an account a new password',
    description: 'It is in the answer, once, and is changed at the next login. Its sessions end.',
  },
  adminGetAccountsAccountTokens: {
    summary: "List an account's tokens",
    description: 'Those of use, without the tokens themselves.',
  },
  adminPostAccountsAccountTokens: {
    summary: 'Issue an admin token',
    description:
      "It is in the answer, once. It has at most the scopes of its account's role, and ends after 90 days unless `expires` (an instant with offset, or a duration; at most 365 days) says otherwise. 409 for a disabled account.",
  },
  adminDeleteAccountsAccountTokensToken: {
    summary: 'Revoke an admin token',
    description: 'From now on it is answered 401. `?dry_run=true` records nothing.',
  },
};
