import { accountPages, type AccountPagesDependencies } from './ip-control/accounts.ts';
import { commitPages, type CommitPagesDependencies } from './ip-control/commits.ts';
import { customerStandingPages } from './ip-control/customer-standing.ts';
import { customerTokenPages, type TokenPagesDependencies } from './ip-control/customer-tokens.ts';
import { customerPages, type CustomerPagesDependencies } from './ip-control/customers.ts';
import { eventPages, type EventPagesDependencies } from './ip-control/events.ts';
import { overviewPages, type OverviewPageDependencies } from './ip-control/overview.ts';
import { ownAccountPages, type OwnAccountDependencies } from './ip-control/own-account.ts';
import { regionPages } from './ip-control/regions.ts';
import { routerPages, type RouterPagesDependencies } from './ip-control/routers.ts';
import { ownTokenPages, type OwnTokensDependencies } from './ip-control/own-tokens.tsx';
import { searchPages } from './ip-control/search.tsx';
import { whitelistPages, type WhitelistPagesDependencies } from './ip-control/whitelist.ts';
import { subnetPages, type SubnetPagesDependencies } from './ip-control/subnets.ts';
import { webhookPages, type WebhookPagesDependencies } from './ip-control/webhooks.ts';
import { poolPages, type PoolPagesDependencies } from './worker-pools/pools.ts';
import { scopePages, type ScopePagesDependencies } from './worker-pools/scopes.ts';
import { systemPages, type SystemPageDependencies } from './operations/system.tsx';
import type { PageRoute } from './page.ts';
import type { SearchDependencies } from '../../../application/ip-control/search.ts';

export type PagesDependencies = AccountPagesDependencies &
  CommitPagesDependencies &
  CustomerPagesDependencies &
  EventPagesDependencies &
  OverviewPageDependencies &
  OwnAccountDependencies &
  OwnTokensDependencies &
  RouterPagesDependencies &
  PoolPagesDependencies &
  ScopePagesDependencies &
  SearchDependencies &
  SubnetPagesDependencies &
  SystemPageDependencies &
  TokenPagesDependencies &
  WebhookPagesDependencies &
  WhitelistPagesDependencies;

/** Every page behind the login. What is not here is not served, and is in no menu. */
export function allPages(application: PagesDependencies): readonly PageRoute[] {
  return [
    ...overviewPages(application),
    ...searchPages(application),
    ...customerPages(application),
    ...customerStandingPages(application),
    ...customerTokenPages(application),
    ...webhookPages(application),
    ...whitelistPages(application),
    ...subnetPages(application),
    ...regionPages(application),
    ...routerPages(application),
    ...commitPages(application),
    ...poolPages(application),
    ...scopePages(application),
    ...eventPages(application),
    ...accountPages(application),
    ...ownAccountPages(application),
    ...ownTokenPages(application),
    ...systemPages(application),
  ];
}
