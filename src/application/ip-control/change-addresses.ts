import { coverCount } from '../../addresses/cover-count.ts';
import type { Aggregate, CommandContext } from '../../commands/aggregate.ts';
import type { ChangeTarget } from '../../commands/ip-control/address-change.ts';
import { type CustomerState, evolveCustomer } from '../../commands/ip-control/customer-state.ts';
import { customerDecider, type CustomerCommand } from '../../commands/ip-control/customer.ts';
import type { RegionLimits } from '../../commands/ip-control/prefix-limit.ts';
import { regionAddresses, type AddressLedger } from '../../domain/ip-control/address-ledger.ts';
import { termFrom, type Until } from '../../domain/ip-control/disabled-term.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { Clock } from '../../ports/clock.ts';

export type ChangeAddressesDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  /** How many entries the routers of each region take. */
  regionLimits: () => Promise<RegionLimits>;
  clock: Clock;
}>;

/** What is wanted of a customer's addresses, and by which of its tokens. `until`: of what is disabled. */
export type WantedChange = Readonly<{
  tokenId: string;
  action: 'enable' | 'disable';
  synchronous: boolean;
  target: ChangeTarget;
  until: Until | undefined;
}>;

/** What is new, the customer as it is then, and a position of the log that shows it. */
export type AddressesChanged = Readonly<{ events: readonly CustomerEvent[]; state: CustomerState; position: bigint }>;

/** Disables or enables addresses of a customer; refused with `bad-until`, or as the rules say. */
export async function changeAddresses(
  customerId: number,
  wanted: WantedChange,
  context: CommandContext,
  dependencies: ChangeAddressesDependencies,
): Promise<AddressesChanged | Refusal> {
  const command = await commandFor(wanted, dependencies);
  return isRefusal(command) ? command : dependencies.customers.handle(customerId, command, context);
}

/** What `changeAddresses` would come to as things are; nothing is recorded. */
export async function tryAddressChange(
  customerId: number,
  wanted: WantedChange,
  dependencies: ChangeAddressesDependencies,
): Promise<AddressesChanged | Refusal> {
  const command = await commandFor(wanted, dependencies);
  if (isRefusal(command)) return command;
  const { state: before, revision: last, position } = await dependencies.customers.state(customerId);
  const events = customerDecider.decide(command, before);
  if (isRefusal(events)) return events;
  let [state, revision] = [before, last];
  for (const event of events) state = evolveCustomer(state, { ...event, revision: (revision += 1n) });
  return { events, state, position };
}

/** How many prefixes the blackhole list has in these regions, by the region's name. */
export async function prefixesOf(
  ledger: AddressLedger,
  regionIds: readonly number[],
  { regionLimits }: Pick<ChangeAddressesDependencies, 'regionLimits'>,
): Promise<Readonly<Record<string, number>>> {
  const regions = await regionLimits();
  return Object.fromEntries(
    regionIds.map((id) => [regions.get(id)?.name ?? String(id), coverCount(regionAddresses(ledger, id).disabled)]),
  );
}

async function commandFor(
  { until, ...change }: WantedChange,
  { regionLimits, clock }: ChangeAddressesDependencies,
): Promise<Extract<CustomerCommand, { type: 'ChangeAddresses' }> | Refusal> {
  const term = until === undefined ? undefined : termFrom(until, clock.now());
  if (term !== undefined && 'problem' in term) return refuse('bad-until', term.problem, 'until');
  return { type: 'ChangeAddresses', data: { ...change, term, limits: await regionLimits() } };
}
