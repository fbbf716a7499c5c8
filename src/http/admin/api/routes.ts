import type { Route } from '../../route.ts';
import { ACCOUNT_OPERATIONS, accountRoutes } from './accounts.ts';
import { ASSET_OPERATIONS, assetRoutes } from './assets.ts';
import type { AdminApi, AdminOperation } from './call.ts';
import { COMMIT_OPERATIONS, commitRoutes } from './commits.ts';
import { CUSTOMER_OPERATIONS, customerRoutes } from './customers.ts';
import { TOKEN_OPERATIONS, tokenRoutes } from './customer-tokens.ts';
import { EVENT_OPERATIONS, eventRoutes } from './events.ts';
import { REGION_OPERATIONS, regionRoutes } from './regions.ts';
import { ROUTER_ACTION_OPERATIONS, routerActionRoutes } from './router-actions.ts';
import { ROUTER_OPERATIONS, routerRoutes } from './routers.ts';
import { SCOPE_OPERATIONS, scopeRoutes } from './scopes.ts';
import { ADMIN_SUBNET_OPERATIONS, adminSubnetRoutes } from './subnets.ts';
import { WEBHOOK_OPERATIONS, webhookRoutes } from './webhooks.ts';
import { WHITELIST_OPERATIONS, whitelistRoutes } from './whitelist.ts';
import { POOL_OPERATIONS, poolRoutes } from './worker-pools.ts';
import { WORK_REQUEST_OPERATIONS, workRequestRoutes } from './work-requests.ts';
import { WORKER_OPERATIONS, workerRoutes } from './workers.ts';

/** The whole administration API. @public what describes the API is made from it */
export const ADMIN_OPERATIONS: readonly AdminOperation[] = [
  ...CUSTOMER_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...ADMIN_SUBNET_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...WHITELIST_OPERATIONS,
  ...REGION_OPERATIONS,
  ...ROUTER_OPERATIONS,
  ...ROUTER_ACTION_OPERATIONS,
  ...COMMIT_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...POOL_OPERATIONS,
  ...SCOPE_OPERATIONS,
  ...ASSET_OPERATIONS,
  ...WORKER_OPERATIONS,
  ...WORK_REQUEST_OPERATIONS,
];

/** The whole administration API, carried out. */
export function adminRoutes(api: AdminApi): readonly Route[] {
  return [
    ...customerRoutes(api),
    ...tokenRoutes(api),
    ...adminSubnetRoutes(api),
    ...webhookRoutes(api),
    ...whitelistRoutes(api),
    ...regionRoutes(api),
    ...routerRoutes(api),
    ...routerActionRoutes(api),
    ...commitRoutes(api),
    ...eventRoutes(api),
    ...accountRoutes(api),
    ...poolRoutes(api),
    ...scopeRoutes(api),
    ...assetRoutes(api),
    ...workerRoutes(api),
    ...workRequestRoutes(api),
  ];
}
