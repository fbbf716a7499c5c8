import { ADMIN_CUSTOMER_EXAMPLES } from './examples/admin-customer-examples.ts';
import { ADMIN_NETWORK_EXAMPLES } from './examples/admin-network-examples.ts';
import { ADMIN_POOL_EXAMPLES } from './examples/admin-pool-examples.ts';
import { CUSTOMER_EXAMPLES } from './examples/customer-examples.ts';
import type { Examples } from './examples/example.ts';
import { WORKER_EXAMPLES } from './examples/worker-examples.ts';

/** Requests and answers by the operation, one for each: the tests ask them on a running service, in an order in which they can be asked. */
export const EXAMPLES: Examples = {
  ...CUSTOMER_EXAMPLES,
  ...ADMIN_CUSTOMER_EXAMPLES,
  ...ADMIN_NETWORK_EXAMPLES,
  ...ADMIN_POOL_EXAMPLES,
  ...WORKER_EXAMPLES,
};
