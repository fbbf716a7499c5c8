import { Temporal } from '@js-temporal/polyfill';
import { coverTexts } from '../../addresses/cidr-cover.ts';
import {
  applyToHistory,
  type CustomerHistory,
  NO_HISTORY,
  regionsAt,
} from '../../domain/ip-control/customer-history.ts';
import { applyToGrounds, type DisabledGrounds, type GivenGrounds } from '../../domain/ip-control/disabled-grounds.ts';
import { type WhitelistStatus, whitelistStatus } from '../../domain/ip-control/source-whitelist-ledger.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { writtenText } from '../../domain/instants.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import type { Archive } from '../application.ts';
import { findAnyCustomer } from './lookups.ts';

type StateDependencies = Pick<Archive, 'store' | 'clock' | 'customers' | 'regions' | 'directory' | 'isCustomerEvent'>;

type Prefixes = readonly string[];

/** What was so in one region, as the fewest blocks. */
export type RegionThen = Readonly<{
  region: string;
  disabled: Prefixes;
  pending: Prefixes;
  deployed: Prefixes;
  disabledUntil: readonly Readonly<{ until: string; prefixes: Prefixes }>[];
  because: readonly (GivenGrounds & Readonly<{ prefixes: Prefixes }>)[];
  sourceWhitelist: Readonly<{ live: Prefixes; pending: Prefixes; deployed: Prefixes }>;
}>;

/** A whitelist request that was not removed then. */
export type RequestThen = Readonly<{
  requestId: string;
  input: string;
  regions: readonly string[];
  status: WhitelistStatus;
}>;

export type CustomerStateAt = Readonly<{
  customer: string;
  at: string;
  regions: readonly RegionThen[];
  requests: readonly RequestThen[];
}>;

/** What was disabled, whitelisted, pending and deployed for a customer at a moment, now where none is given, by the log alone. */
export async function customerStateAt(
  { customer: nameOrNumber, at: moment }: Readonly<{ customer: string; at?: Temporal.Instant | undefined }>,
  dependencies: StateDependencies,
): Promise<CustomerStateAt | Refusal> {
  const customer = await findAnyCustomer(nameOrNumber, dependencies);
  if (isRefusal(customer)) return customer;
  const at = moment ?? dependencies.clock.now();
  const { history, grounds } = await historyAt(customer.customerId, at, dependencies);
  const regions = await Promise.all(
    regionsAt(history).map(async ({ regionId, disabled, pending, deployed, terms, whitelist }) => ({
      region: await regionName(regionId, dependencies),
      disabled: coverTexts(disabled),
      pending: coverTexts(pending),
      deployed: coverTexts(deployed),
      disabledUntil: [...terms.byValue()]
        .map(([until, addresses]) => ({ until, prefixes: coverTexts(addresses) }))
        .sort((a, b) => (a.until < b.until ? -1 : 1)),
      because: [...(grounds.get(regionId)?.byValue() ?? [])]
        .map(([given, addresses]) => ({ ...given, prefixes: coverTexts(addresses) }))
        .sort((a, b) => (a.at < b.at ? -1 : 1)),
      sourceWhitelist: {
        live: coverTexts(whitelist.live),
        pending: coverTexts(whitelist.pending),
        deployed: coverTexts(whitelist.deployed),
      },
    })),
  );
  const requests = await Promise.all(
    [...history.whitelist.requests.values()].map(async (request) => ({
      requestId: request.requestId,
      input: request.input,
      regions: await Promise.all(request.regionIds.map((regionId) => regionName(regionId, dependencies))),
      status: whitelistStatus(request),
    })),
  );
  return { customer: customer.name, at: writtenText(at), regions, requests };
}

async function regionName(regionId: number, { regions }: StateDependencies): Promise<string> {
  const { state } = await regions.state(regionId);
  return state.phase === 'created' ? state.name : String(regionId);
}

async function historyAt(
  customerId: number,
  at: Temporal.Instant,
  { store, isCustomerEvent }: StateDependencies,
): Promise<Readonly<{ history: CustomerHistory; grounds: DisabledGrounds }>> {
  const isCustomers = (event: RecordedEvent): event is RecordedEvent<CustomerEvent> => isCustomerEvent(event);
  let history = NO_HISTORY;
  let grounds: DisabledGrounds = new Map();
  for await (const page of store.read(streamName('customer', customerId))) {
    for (const event of page) {
      // A stream's instants never run backwards: the first later one ends it.
      if (Temporal.Instant.compare(Temporal.Instant.from(event.metadata.at), at) > 0) return { history, grounds };
      if (!isCustomers(event)) continue;
      history = applyToHistory(history, event);
      grounds = applyToGrounds(grounds, event);
    }
  }
  return { history, grounds };
}
