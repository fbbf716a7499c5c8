import { changed, COMMIT_SET_ID, COMPLETED_AT, type Examples, page, REQUESTED_AT, shown } from './example.ts';

const REGION = { id: 1, name: 'eu-west', deploy_policy: 'all-or-nothing', routers: 1 };
const ROUTER = {
  name: 'edge1',
  region: 'eu-west',
  driver: 'file',
  options: { path: '/srv/lists/edge1' },
  state: 'enabled',
  repair: false,
  drifted: [],
  unowned: [],
};
const CHECKED = {
  region: 'eu-west',
  router: 'edge1',
  lists: 1,
  under_way: 0,
  drifted: [],
  repaired: [],
  unowned: [],
  removed: [],
  problems: [],
};
const OUTCOMES = [
  { router: 'edge1', result: 'confirmed', untouched: false, together: 'compensated', milliseconds: 62 },
];
const COMMIT = {
  id: COMMIT_SET_ID,
  customer: 'Acme Corp.',
  region: 'eu-west',
  list: 'BLACKHOLE',
  status: 'success',
  reason: 'operator',
  attempt: 1,
  prefixes: 4,
  sha256: 'a41a3584a2ddab0a13241dac7fd338ab6e936f048d638075d8d2108adb6ed326',
  prefixes_done: null,
  prefixes_total: null,
  requested_at: REQUESTED_AT,
  completed_at: COMPLETED_AT,
  waits_for: [],
  outcomes: OUTCOMES,
};
const EVENT = {
  position: '6',
  stream: 'region-1',
  revision: '0',
  id: 'bf536323-9488-4112-a694-aef7dd1b56bd',
  type: 'RegionCreated',
  at: '2026-11-29T05:31:58.248+00:00',
  actor: 'admin:root+52dc9d38',
  schema: 1,
  request_id: '51f2f43d-6da4-4b3f-9b0c-6540506c1c37',
  causation_id: '51f2f43d-6da4-4b3f-9b0c-6540506c1c37',
  hash: '38d5e5aa2b77a9847c30253dd97184dbe55bb9d2f8597f2e564bbe4470500115',
  previous_hash: '',
  data: { regionId: 1, name: 'eu-west' },
};

/** What administrators send and are answered about the network, and what has happened. */
export const ADMIN_NETWORK_EXAMPLES: Examples = {
  adminPutRegionsRegion: changed(
    { ...REGION, deploy_policy: 'each', routers: 0 },
    { body: { deploy_policy: 'each' }, status: 201 },
  ),
  adminPatchRegionsRegion: changed(
    { ...REGION, routers: 0 },
    { body: { deploy_policy: 'all-or-nothing', reason: 'both routers announce the same' } },
  ),
  adminGetRegions: page(REGION),
  adminGetRegionsRegion: shown(REGION),
  adminDeleteRegionsRegion: changed({ ...REGION, routers: 0 }),
  adminPutRegionsRegionRoutersRouter: changed(
    { ...ROUTER, repair: true },
    { body: { driver: 'file', options: { path: '/srv/lists/edge1' } }, status: 201 },
  ),
  adminPatchRegionsRegionRoutersRouter: changed(ROUTER, { body: { repair: false, ticket: 'NET-4711' } }),
  adminGetRegionsRegionRouters: page(ROUTER),
  adminGetRegionsRegionRoutersRouter: shown(ROUTER),
  adminDeleteRegionsRegionRoutersRouter: changed({ ...ROUTER, state: 'disabled' }),
  adminPostRegionsRegionRoutersRouterTest: changed(
    { router: 'edge1', region: 'eu-west', reachable: true, code: null, because: null },
    { body: {}, meta: { changed: false } },
  ),
  adminPostRegionsRegionRoutersRouterCheck: changed(CHECKED, { body: { reason: 'somebody was on the router' } }),
  adminPostRegionsRegionRoutersRouterPrune: changed(CHECKED, { body: { ticket: 'NET-4711' } }),
  adminPostRegionsRegionRoutersRouterDisable: changed(
    { ...ROUTER, state: 'disabled' },
    { body: { reason: 'it gets new line cards' } },
  ),
  adminPostRegionsRegionRoutersRouterEnable: changed(
    { router: 'edge1', region: 'eu-west', state: 'enabled', lists: 1, changed: 0 },
    { body: { reason: 'it is back' } },
  ),
  adminPostRegionsRegionRoutersRouterDrain: changed(
    { region: 'eu-west', router: 'edge1', removed: ['Svc-ACME-CORP-BLACKHOLE'], problems: [], state: 'disabled' },
    { body: { reason: 'it goes to another site' } },
  ),
  adminPostCommitsRun: changed(
    { customer: 'Acme Corp.', region: 'eu-west', list: 'BLACKHOLE', status: 'success', outcomes: OUTCOMES },
    { body: { customer: 'Acme Corp.', region: 'eu-west' } },
  ),
  adminGetOperationsOperation: shown({
    id: '6059c1f7-8a48-403c-acf1-9ba59b403489',
    kind: 'commit',
    state: 'succeeded',
    result: { status: 'success', attempt: 1, outcomes: OUTCOMES },
    region: 'eu-west',
    router: null,
    by: 'admin:root+52dc9d38',
    commit_set_id: COMMIT_SET_ID,
    requested_at: REQUESTED_AT,
  }),
  adminGetCommits: page(COMMIT),
  adminGetCommitsCommitSet: shown(COMMIT),
  adminGetCommitsDiff: shown({
    customer: 'Acme Corp.',
    region: 'eu-west',
    list: 'Svc-ACME-CORP-BLACKHOLE',
    prefixes: 4,
    routers: [
      {
        router: 'edge1',
        added: ['203.0.113.0/30', '203.0.113.4/31', '203.0.113.6/32', '203.0.113.8/29'],
        removed: [],
      },
    ],
  }),
  adminGetEvents: { status: 200, answer: { data: [EVENT], meta: { next_after: '6' } } },
  adminGetEventsPosition: shown(EVENT),
  adminGetVerify: shown({ stream: 'region-1', events: 4, problems: [] }),
  adminGetProjections: {
    ...page(
      { name: 'customers', version: 2, position: '9', behind: '0' },
      { name: 'addresses', version: 4, position: '9', behind: '0' },
    ),
    isPart: true,
  },
};
