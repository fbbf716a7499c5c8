import { type Aggregate, openAggregate } from '../../src/commands/aggregate.ts';
import { customerDecider, type CustomerCommand } from '../../src/commands/ip-control/customer.ts';
import { commitKey, type CustomerState } from '../../src/commands/ip-control/customer-state.ts';
import type { CustomerEvent } from '../../src/events/ip-control/customer.ts';
import { isRefusal } from '../../src/kernel/decider.ts';
import type { ReadModels } from '../../src/ports/read-models.ts';
import { addressProjection } from '../../src/projections/ip-control/address-view.ts';
import { commitLogProjection } from '../../src/projections/ip-control/commit-log-view.ts';
import { commitProjection } from '../../src/projections/ip-control/commit-view.ts';
import { customerProjection } from '../../src/projections/ip-control/customer-view.ts';
import { listCommitProjection } from '../../src/projections/ip-control/list-commit-view.ts';
import { subnetProjection } from '../../src/projections/ip-control/subnet-view.ts';
import { removedCustomerProjection } from '../../src/projections/ip-control/removed-customer-view.ts';
import { tokenProjection } from '../../src/projections/ip-control/token-view.ts';
import {
  webhookDeliveryLogProjection,
  webhookDeliveryProjection,
} from '../../src/projections/ip-control/webhook-delivery-view.ts';
import { workProjection } from '../../src/projections/ip-control/work-view.ts';
import { viewCacheOf } from '../../src/projections/engine/view-cache.ts';
import { deliverWebhook } from '../../src/processes/ip-control/deliver-webhook.ts';
import { deployCommit } from '../../src/processes/ip-control/deploy-commit.ts';
import { quietPeriod } from '../../src/processes/ip-control/quiet-period.ts';
import { statesOf } from '../../src/processes/process-manager.ts';
import type { EmbeddedLog } from '../support/stores/embedded-log.ts';
import {
  address,
  block,
  disable,
  enable,
  recordCompleted,
  recordFailed,
  SETTINGS,
} from '../commands/ip-control/customer-examples.ts';

/** Views and process states that customers' events feed, on these read models. */
export function openViewCaches(readModels: ReadModels) {
  return {
    customers: viewCacheOf(customerProjection, readModels),
    removedCustomers: viewCacheOf(removedCustomerProjection, readModels),
    tokens: viewCacheOf(tokenProjection, readModels),
    subnets: viewCacheOf(subnetProjection, readModels),
    addresses: viewCacheOf(addressProjection, readModels),
    commits: viewCacheOf(commitProjection, readModels),
    commitLog: viewCacheOf(commitLogProjection, readModels),
    listCommits: viewCacheOf(listCommitProjection, readModels),
    work: viewCacheOf(workProjection, readModels),
    webhookDeliveries: viewCacheOf(webhookDeliveryProjection, readModels),
    webhookDeliveryLog: viewCacheOf(webhookDeliveryLogProjection, readModels),
    quiet: viewCacheOf(statesOf(quietPeriod({ quietMilliseconds: 120_000, retryMilliseconds: [60_000] })), readModels),
    deploy: viewCacheOf(statesOf(deployCommit), readModels),
    deliver: viewCacheOf(statesOf(deliverWebhook(30_000)), readModels),
  };
}

export type ViewCaches = ReturnType<typeof openViewCaches>;

/** Every document of the active generations, as the read models hold them: `<projection>/<key>` → JSON. */
export async function storedDocuments(
  readModels: ReadModels,
  viewCaches: ViewCaches,
): Promise<Readonly<Record<string, string>>> {
  const documents: Record<string, string> = {};
  for (const { name } of Object.values(viewCaches)) {
    const active = await readModels.active(name);
    if (active === undefined) continue;
    for (const { key, json } of await readModels.list(active, { prefix: '', limit: 100_000 }))
      documents[`${name}/${key}`] = json;
  }
  return documents;
}

/** What happens to customers, by numbers: the same numbers always tell the same story. */
export type Story = readonly (readonly [what: number, which: number])[];

export type Customers = Aggregate<CustomerCommand, CustomerState, CustomerEvent>;

/** Customers that do what a story tells, through the real rules into the real log. */
export function storyteller(
  log: EmbeddedLog,
): Readonly<{ customers: Customers; tell: (story: Story) => Promise<void> }> {
  const customers = openAggregate(customerDecider, log.dependencies());
  const context = { actor: 'token:t', requestId: 'story' };
  let told = 0;
  return {
    customers,
    tell: async (story) => {
      for (const [what, which] of story) {
        told += 1;
        const id = 1 + (which % 3);
        for (const command of await commandsOf(customers, id, what, which, told)) {
          const answer = await customers.handle(id, command, context);
          if (isRefusal(answer) && command.type !== 'RevokeApiToken') throw new Error(answer.because);
        }
      }
    },
  };
}

async function commandsOf(
  customers: Customers,
  id: number,
  what: number,
  which: number,
  told: number,
): Promise<readonly CustomerCommand[]> {
  const { state } = await customers.state(id);
  if (state.phase === 'unregistered') {
    const settings = { ...SETTINGS, webhookUrl: 'https://hooks.example/' };
    return [
      { type: 'RegisterCustomer', data: { customerId: id, name: `c${id}`, listName: `C${id}`, settings } },
      { type: 'AssignSubnet', data: { subnetId: id, cidr: `10.${id}.0.0/16`, regionId: 1, asn: 1, metro: 'AMS' } },
    ];
  }
  const open = state.commits.get(commitKey(1, 'BLACKHOLE'));
  const commit = { commitSetId: open?.commitSetId ?? 'none', attempt: open?.attempt ?? 1 };
  switch (what % 8) {
    case 0:
      return [disable({ mode: 'one', address: address(`10.${id}.0.${which % 256}`), text: '' })];
    case 1:
      return [disable(block(`10.${id}.${which % 256}.0/25`))];
    case 2:
      return [enable(block(`10.${id}.${which % 256}.0/26`))];
    case 3:
      return [
        { type: 'RequestCommit', data: { regionId: 1, list: 'BLACKHOLE', commitSetId: `s${told}`, reason: 'quiet' } },
      ];
    case 4:
      return [recordCompleted(commit)];
    case 5:
      return [recordFailed(commit)];
    case 6:
      return [
        { type: 'IssueApiToken', data: { tokenId: `t${which % 4}`, label: '', sha256: `hash-${id}-${which % 4}` } },
      ];
    default:
      return [{ type: 'RevokeApiToken', data: { tokenId: `t${which % 4}` } }];
  }
}
