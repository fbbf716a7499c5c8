import type { OperationTexts } from './operation-text.ts';

const PAGES =
  '100 rows a page, or `limit` (at most 200); while `meta.next_after` is not null, the same request with it as `after` has the next ones.';
const FIELDS = 'Fields and rules are those of the command line; each that is wrong is named (422).';

/** What administrators may ask about worker pools, in words. */
export const ADMIN_POOL_TEXTS: OperationTexts = {
  adminGetWorkerPools: { summary: 'List worker pools', description: `By name. ${PAGES}` },
  adminGetWorkerPoolsPool: { summary: 'Show a worker pool', description: 'By name. `ETag` is its revision.' },
  adminPutWorkerPoolsPool: {
    summary: 'Make a worker pool so',
    description: `201: made; 200: changed, or so already (\`meta.changed\`). ${FIELDS} \`meta.notes\` says what is legal and surprising. Bodies up to 1 MiB. \`?dry_run=true\` records nothing.`,
  },
  adminPatchWorkerPoolsPool: {
    summary: 'Change a worker pool',
    description: `Changes what is named; \`limits\`, \`specifications\` and \`static_metadata\` are replaced as a whole. ${FIELDS} \`?dry_run=true\` records nothing.`,
  },
  adminDeleteWorkerPoolsPool: {
    summary: 'Remove a worker pool',
    description:
      '409 while workers are active, unless `?force=true` ends them at once, whatever they run. `?dry_run=true` records nothing.',
  },
  adminPostWorkerPoolsPoolLaunch: {
    summary: 'Launch instances',
    description:
      'Reserves `count` places, all or none, and creates the instances after the answer. 409 where the pool is disabled or its limit would be passed.',
  },
  adminGetWorkerPoolsPoolUsage: {
    summary: 'Show the run-time of a month',
    description: 'In seconds, against the targets of the pool and its scopes. `?month=2026-11`; this month by default.',
  },
  adminGetScopes: { summary: 'List scopes', description: `With the pools of each. ${PAGES}` },
  adminGetScopesScope: { summary: 'Show a scope', description: 'With its pools, their priorities and limits.' },
  adminPutScopesScope: { summary: 'Make a scope', description: '201: made; 200: it was there already.' },
  adminPutScopesScopeWorkerPoolsPool: {
    summary: 'Let a scope use a pool',
    description:
      '201: linked; 200: changed, or so already. 409 for a pool that is not instance-wide and that another scope uses. `?dry_run=true` records nothing.',
  },
  adminDeleteScopesScope: {
    summary: 'Remove a scope',
    description:
      '409 while it uses a pool or has work. 412 where `If-Match` names another revision. `?dry_run=true` records nothing.',
  },
  adminGetScopesScopeWorkerPoolsPool: {
    summary: 'Show how a scope uses a pool',
    description: 'Its priority there and its limits. 404 where the scope is not linked to the pool.',
  },
  adminPatchScopesScopeWorkerPoolsPool: {
    summary: 'Change how a scope uses a pool',
    description: `Changes what is named; \`limits\` are replaced as a whole. 404 where the scope is not linked to the pool. ${FIELDS} \`?dry_run=true\` records nothing.`,
  },
  adminDeleteScopesScopeWorkerPoolsPool: {
    summary: 'Take a pool from a scope',
    description: 'What runs goes on. 404 where the scope does not use the pool. `?dry_run=true` records nothing.',
  },
  adminGetAssets: { summary: 'List assets', description: `Credentials by name only, never their values. ${PAGES}` },
  adminGetAssetsAsset: { summary: 'Show an asset', description: 'Credentials by name only, never their values.' },
  adminPutAssetsAsset: {
    summary: 'Make an asset so',
    description: `An account at a provider, or credentials for a package repository. ${FIELDS} Credentials go to the secret store, and no answer repeats them. 409 where its category or provider would be another. \`?dry_run=true\` records nothing.`,
  },
  adminPatchAssetsAsset: {
    summary: 'Change an asset',
    description: `Changes what is named: \`configuration\` and \`credentials\` are each replaced as a whole. ${FIELDS} 412 where \`If-Match\` names another revision. \`?dry_run=true\` records nothing.`,
  },
  adminDeleteAssetsAsset: {
    summary: 'Remove an asset',
    description:
      'Its credentials go with it. 409 while a pool names it, or an instance runs that was created with it. `?dry_run=true` records nothing.',
  },
  adminPostAssetsAssetTest: {
    summary: 'Try an account at a provider',
    description:
      'Asks the provider whether the credentials work, and changes nothing there. An account that does not work is 200 with `works` false and why.',
  },
  adminGetWorkers: { summary: 'List workers', description: `Of a pool or of all. ${PAGES}` },
  adminGetWorkersWorker: { summary: 'Show a worker', description: 'By name.' },
  adminPostWorkersWorkerTerminate: {
    summary: 'End a worker',
    description: 'When its running task has ended, or with `force` now. 409 for a worker that has no instance.',
  },
  adminGetWorkRequests: { summary: 'List work requests', description: `Newest first. ${PAGES}` },
  adminPostWorkRequests: {
    summary: 'Ask for work to be done',
    description: `Puts it into the queue; a worker that fits takes it. ${FIELDS} A payload of 64 KiB at most. It needs the scope \`work:write\`.`,
  },
  adminGetWorkRequestsId: {
    summary: 'Show a work request',
    description: 'With its payload. Its id may be shortened to what no other begins with.',
  },
  adminDeleteWorkRequestsId: {
    summary: 'Cancel a work request',
    description: 'A worker that has it goes on, and its outcome is not kept. 409 for one that is over.',
  },
};
