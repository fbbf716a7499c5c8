import { type ListKind, prefixListName } from '../../events/ip-control/vocabulary.ts';

/** What a customer is told about: a list in a region, by the names that customers know, and how its commit ended. */
export type Told = Readonly<{
  commitSetId: string;
  customer: Readonly<{ name: string; listName: string }>;
  list: ListKind;
  region: string;
  status: 'success' | 'failed';
  completedAt: string;
}>;

/** The body of a notification: the specification's seven fields, and nothing else. */
export function notificationBody(event: 'commit_completed' | 'test', told: Told): string {
  return JSON.stringify({
    event,
    commit_set_id: told.commitSetId,
    customer: told.customer.name,
    prefix_list_name: prefixListName(told.customer.listName, told.list),
    region: told.region,
    status: told.status,
    completed_at: told.completedAt,
  });
}

/** The `webhook-id` of a notification, the same for every try: receivers know it again by it, and it is how a delivery is named. */
export function deliveryId(commitSetId: string, status: 'success' | 'failed' | 'test'): string {
  return `msg_${commitSetId}_${status}`;
}

/** What a `webhook-id` of a commit's notification names; undefined for any other text. */
export function deliveryNamed(id: string): Readonly<{ commitSetId: string; status: 'success' | 'failed' }> | undefined {
  const [, commitSetId, status] = /^msg_([^_]{1,64})_(success|failed)$/.exec(id) ?? [];
  if (commitSetId === undefined || (status !== 'success' && status !== 'failed')) return undefined;
  return { commitSetId, status };
}
