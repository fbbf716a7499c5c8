import { ADMIN_EXAMPLES } from './examples/admin-examples.ts';
import { CUSTOMER_EXAMPLES } from './examples/customer-examples.ts';
import type { Examples } from './examples/example.ts';

/** Requests and answers by the operation: the tests ask each of them on a running service, in an order in which they can be asked. */
export const EXAMPLES: Examples = { ...CUSTOMER_EXAMPLES, ...ADMIN_EXAMPLES };
