import type { OperationTexts } from './operation-text.ts';

const WHEN_DEPLOYED =
  'The answer comes as soon as the change is recorded. The routers of the region follow with the next commit: two minutes after your last change there, unless your network has set another time; `meta.pending_changes` says how many addresses they still have to follow with.';
const BEFOREHAND =
  '`?dry_run=true` answers what would be, with the length that the list would have in each region, and records nothing.';
const SYNCHRONOUS =
  '`synchronous: true` deploys inside the request and says in `meta.commit_status` how that went; 403 where your account does not allow it.';
const TOO_LONG =
  '422 `this change needs … prefixes in …; at most … are possible.` where the list of a router would become too long: then change a block in place of scattered addresses.';
const NEWEST_FIRST =
  'Newest first, in pages: while `meta.next_after` is not null, the same request with it as `after` has the next ones.';

/** What customers may ask, in words. */
export const CUSTOMER_TEXTS: OperationTexts = {
  postIpsDisable: {
    summary: 'Disable an address',
    description: `Takes one address out of service: all traffic to it is dropped at the routers of its region. An address that is disabled already is a success, and only its \`until\` and its grounds change.

${WHEN_DEPLOYED}

With \`until\` it is enabled by itself then. A later disable without \`until\` makes it permanent, one with another \`until\` replaces it, an enable ends it. ${BEFOREHAND} ${SYNCHRONOUS}

404 \`IP … not found in your account.\`: the address is in none of your subnets. ${TOO_LONG}`,
  },
  postIpsEnable: {
    summary: 'Enable an address',
    description: `Puts one address back into service, whatever it was disabled for. An address that is enabled already is a success and changes nothing.

${WHEN_DEPLOYED}

${BEFOREHAND} ${SYNCHRONOUS}

404 \`IP … not found in your account.\`: the address is in none of your subnets.`,
  },
  postIpsBulk: {
    summary: 'Disable or enable many addresses at once',
    description: `Changes a list of up to 10,000 addresses (\`ips\`), a range (\`range\`), or a network (\`cidr\`) of any size; exactly one of the three. It is atomic: all of it is recorded, or nothing. \`data.changed\` counts the addresses that were not so before; it can be above 2^53.

One address of \`ips\` that is not yours refuses the whole call (422, by its place: \`ips.3\`). Of a range or a network, addresses that are not yours are passed over.

${WHEN_DEPLOYED}

\`until\` goes with \`disable\` only. ${BEFOREHAND} ${SYNCHRONOUS}

${TOO_LONG} 413 for a body above 1 MiB.`,
  },
  getSubnets: {
    summary: 'List your subnets',
    description:
      'All of them, with how many of their addresses are enabled, disabled and pending. The counts are exact integers, and those of an IPv6 subnet are above 2^53: ask with `?numbers=string` where your JSON reader has doubles only (JavaScript, jq) or refuses them (Go).',
  },
  getSubnetsSubnetId: {
    summary: 'Show the addresses of a subnet',
    description: `Each address with its status. A subnet of more than 65,536 addresses lists only those that are disabled or pending. Long lists come in pages: \`?limit=\` (1 to 65,536) and \`?after=\` with the \`meta.next_after\` of the page before, which is missing on the last page.

\`?view=ranges\` answers maximal runs of addresses with the same status in place of single ones: complete and short for a subnet of any size, and the better choice for programs. A range that is disabled for a time has \`disabled_until\`; in a list each address has it with \`?fields=until\`.

403 \`subnet does not belong to your account.\` for a subnet of another customer, 404 where there is none.`,
  },
  getSubnetsSubnetIdPending: {
    summary: 'Show what routers still have to follow with',
    description: `The same shape as the subnet itself, only with what is pending. \`meta.pending_changes\` is 0 when all routers of the region have everything.

With \`?wait=PT30S\` (at most a minute) it answers when all is deployed, when the count is another than it was, or when the time is over; it counts as one request of your limit however long it waits. Ask again until the count is 0: at a quiet period of two minutes that takes about six requests.`,
  },
  getCommits: {
    summary: 'List your commits',
    description: `A commit puts one of your lists, as it is then, on all routers of a region. ${NEWEST_FIRST} \`region\` is the name or the number of one; one that you have nothing in gives an empty list, one that there is not is refused (422).

A commit that has failed is tried again by itself, with the same \`commit_set_id\` and a higher \`attempt\`; \`reason\` says meanwhile why it has not succeeded.`,
  },
  getCommitsCommitSetId: {
    summary: 'Show a commit',
    description:
      'One of your commits by its `commit_set_id`, as webhooks and `GET /commits` name it. 404 where there is none of that id, or it is of another account.',
  },
  getWebhookDeliveries: {
    summary: 'List the notifications that you were to be sent',
    description: `What your webhook was to be told, with each try and what became of it. ${NEWEST_FIRST} \`given_up\`: the first try and three more, 30 seconds apart, have failed, and nothing more is sent by itself; redeliver it, or look at \`GET /commits\`.`,
  },
  postWebhookDeliveriesIdRedeliver: {
    summary: 'Send a notification again',
    description:
      'The same body and `webhook-id`, signed at its new time, after what is still to be sent for its region. 202: it is on its way; the list of deliveries says how it went. Your receiver knows it again by `webhook-id`. 404 where there is no such delivery of yours; 409 `your account has no webhook URL.` where none is set.',
  },
  getSourceWhitelist: {
    summary: 'List your whitelist requests',
    description:
      'Newest first, rejected ones too, removed ones not. `meta.used` counts those that are neither, `meta.limit` how many you may have. 403 where your account may not use the source whitelist.',
  },
  postSourceWhitelist: {
    summary: 'Ask for addresses to be whitelisted as sources',
    description: `Names one IPv4 address (\`ip\`), a range (\`range[start]\` and \`range[end]\`) or a network (\`cidr\`) of up to 256 addresses outside of your subnets, the regions whose firewall is to accept traffic from there, and a file that proves that they are yours: jpg, jpeg, png or pdf, up to 5 MB unless your operator has set another limit. An administrator reviews it, unless your account is trusted.

201: submitted. 200: you have asked for exactly the same before, and get that request. 422 names the field, or the rule: the limit of your account, a prefix broader than /24, reserved address space, an overlap with an entry that you have in one of the regions. 403 where your account may not use the source whitelist.`,
  },
  deleteSourceWhitelistRequestId: {
    summary: 'Take a whitelist request back',
    description:
      'In all of its regions, whatever its status: what is on routers goes with the next commit. A second time it is 404, like a request of another account.',
  },
};
