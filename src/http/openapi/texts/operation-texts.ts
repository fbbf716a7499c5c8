import { ADMIN_POOL_TEXTS } from './admin-pool-texts.ts';
import { ADMIN_TEXTS } from './admin-texts.ts';
import { CUSTOMER_TEXTS } from './customer-texts.ts';
import { WORKER_TEXTS } from './worker-texts.ts';
import type { OperationText, OperationTexts } from './operation-text.ts';

const TEXTS: OperationTexts = { ...CUSTOMER_TEXTS, ...ADMIN_TEXTS, ...ADMIN_POOL_TEXTS, ...WORKER_TEXTS };

/** What is said about the operation with this id; nothing where none has it. */
export function textOfOperation(id: string): OperationText | undefined {
  return TEXTS[id];
}
