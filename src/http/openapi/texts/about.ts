/** What is worth knowing before the first request, in Markdown. */
export const ABOUT = `Takes addresses out of service, and puts the result on every router of the region.

**Authentication.** \`Authorization: Bearer <token>\`: a customer's (\`edw_…\`) for \`/api/v1\`, an administrator's (\`edwa_…\`) for \`/api/admin/v1\`. To try requests on this page, press *Authorize* and paste the token; the page forgets it when it is closed.

**Start here.** \`GET /api/v1/subnets\` lists what is yours. \`POST /api/v1/ips/disable\` with \`{"ip": "203.0.113.7", "until": "PT4H"}\` disables an address for four hours. \`GET /api/v1/subnets/{subnet_id}/pending?wait=PT30S\` waits until the routers have it. \`?dry_run=true\` on a change shows what it would come to.

**Changes** are recorded when they are answered, and every later read shows them. The routers follow with the next commit. Asking for what is already so is a success and changes nothing, so that a request whose answer was lost can be sent again.

**Errors** are \`{"message": "…"}\`. 422 adds \`errors\`: by field, as it was sent, what is wrong with it. Unknown fields and parameters are refused. \`X-Request-Id\` names a request; tell it when you ask for help.

**Limits.** Each answer has \`X-RateLimit-Limit\` and \`X-RateLimit-Remaining\`. Beyond them it is 429, and \`Retry-After\` says in how many seconds to go on. Bodies of up to 1 MiB.

**Counts** of addresses are exact integers, also above 2^53, which JavaScript and jq round and Go refuses: with \`?numbers=string\`, or \`Accept: application/json;numbers=string\`, they are decimal text.

**Instants** have an offset (\`2026-11-27T20:50:00.123+00:00\`), durations are ISO 8601 (\`PT4H\`).`;
