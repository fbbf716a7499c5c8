export type { components, operations, paths, webhooks } from './api.ts';
export { asForm, type EdgewardClient, openEdgeward } from './client.ts';
export { EdgewardError, waitUntilDeployed } from './deployment.ts';
export { type Exact, parseExactly, type Subnets } from './exact-numbers.ts';
export { type Notification, verifyWebhook } from './webhooks.ts';
