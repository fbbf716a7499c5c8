import { isAddressProblem } from '../../addresses/address-problem.ts';
import { type Address, formatAddress, parseAddress } from '../../addresses/address.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import {
  changedAddresses,
  changedTexts,
  type RegionAddresses,
  regionAddresses,
} from '../../domain/ip-control/address-ledger.ts';
import type { DisabledTerm } from '../../domain/ip-control/disabled-term.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { CustomerSettings } from '../../events/ip-control/vocabulary.ts';
import { type Decision, type Refusal, refuse } from '../../kernel/decider.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Registered } from './customer-state.ts';
import { keptIn } from './kept-addresses.ts';
import { prefixLimitRefusal, type RegionLimits } from './prefix-limit.ts';

/** `limits`: what the regions' routers take. `tokenId`: of the token that asks. */
export type AddressChange = Readonly<{
  action: 'enable' | 'disable';
  synchronous: boolean;
  target: ChangeTarget;
  limits?: RegionLimits;
  tokenId?: string | undefined;
  /** Of what is disabled; without it, it stays so until it is enabled. */
  term?: DisabledTerm | undefined;
}>;

/** The end of a term has come for addresses of a region. */
export type EndedTerm = Readonly<{ regionId: number; until: string; addresses: RangeSet; limits?: RegionLimits }>;

/** Which addresses a change is about. `one` and `list` must be the customer's own; of a `block`, what is not its own is passed over. */
export type ChangeTarget =
  | Readonly<{ mode: 'one'; address: Address; text: string }>
  | Readonly<{ mode: 'list'; set: RangeSet; texts: () => readonly string[] }>
  | Readonly<{ mode: 'block'; set: RangeSet; field?: 'range' | 'cidr' }>;

/** What of a change is new: the addresses that it disables or enables, and those that are disabled already and stay so until another time now. */
export function decideAddressChange(change: AddressChange, state: Registered): Decision<CustomerEvent> {
  const { action, synchronous, target, limits, term } = change;
  if (synchronous && !state.settings.allowSynchronous) {
    return refuse('synchronous-not-allowed', 'synchronous mode is not enabled for your account');
  }
  const stranger = firstStranger(target, state);
  if (stranger !== undefined) return stranger;
  const events: CustomerEvent[] = [];
  for (const [regionId, known] of state.ledger) {
    const region = action === 'enable' ? withKept(regionId, known, state) : known;
    const ranges = target.mode === 'one' ? changedOne(action, target, region) : changedMany(action, target, region);
    if (ranges.length > 0) {
      const refusal = limitRefusal(
        { regionId, action, ranges, field: fieldOf(target) },
        region,
        state.settings,
        limits,
      );
      if (refusal !== undefined) return refusal;
      if (action === 'enable') events.push({ type: 'AddressesEnabled', data: { regionId, ranges } });
      else events.push({ type: 'AddressesDisabled', data: { regionId, ranges, ...termOf(term) } });
    }
    if (action === 'disable') events.push(...withAnotherTerm(regionId, known, target, term));
  }
  return events;
}

/** What of the addresses is disabled until this instant, as no later call says otherwise, is enabled. No limit of the customer's own holds it up: a router's does. */
export function endDisabledTerm(
  { regionId, until, addresses, limits }: EndedTerm,
  state: Registered,
): Decision<CustomerEvent> {
  const region = regionAddresses(state.ledger, regionId);
  const ranges = changedTexts(region.terms.addressesWithin(addresses, (other) => other === until));
  if (ranges.length === 0) return [];
  const settings = { prefixLimit: Number.POSITIVE_INFINITY };
  const refusal = limitRefusal({ regionId, action: 'enable', ranges, field: 'until' }, region, settings, limits);
  return refusal ?? [{ type: 'AddressesEnabled', data: { regionId, ranges, because: 'until' } }];
}

function limitRefusal(
  change: Readonly<{ regionId: number; action: 'enable' | 'disable'; ranges: readonly string[]; field: string }>,
  { disabled: before }: RegionAddresses,
  settings: Pick<CustomerSettings, 'prefixLimit'>,
  limits: RegionLimits | undefined,
): Refusal | undefined {
  const { regionId, action, ranges, field } = change;
  const changed = changedAddresses(ranges);
  const after = (): RangeSet => (action === 'disable' ? before.union(changed) : before.difference(changed));
  return prefixLimitRefusal({ regionId, before, changed, after, field }, settings, limits);
}

function termOf(term: DisabledTerm | undefined): Readonly<{ until?: string; lastsMilliseconds?: number }> {
  return term === undefined ? {} : { until: term.until, lastsMilliseconds: term.milliseconds };
}

/** Of addresses that are disabled already, the later call says how long. */
function withAnotherTerm(
  regionId: number,
  { disabled, terms }: RegionAddresses,
  target: ChangeTarget,
  term: DisabledTerm | undefined,
): readonly CustomerEvent[] {
  if (term === undefined && terms.isEmpty) return [];
  const set = target.mode === 'one' ? RangeSet.ofAddress(target.address) : target.set;
  const others =
    term === undefined
      ? terms.addressesWithin(set, () => true)
      : set.intersection(disabled).difference(terms.addressesWithin(set, (until) => until === term.until));
  if (others.isEmpty) return [];
  return [{ type: 'DisabledTermChanged', data: { regionId, ranges: changedTexts(others), ...termOf(term) } }];
}

/** What routers keep is disabled there, though a restored log does not know why. */
function withKept(regionId: number, region: RegionAddresses, { kept }: Registered): RegionAddresses {
  if (kept.size === 0) return region;
  return { ...region, disabled: region.disabled.union(keptIn(kept, regionId).intersection(region.owned)) };
}

function fieldOf(target: ChangeTarget): string {
  switch (target.mode) {
    case 'one':
      return 'ip';
    case 'list':
      return 'ips';
    case 'block':
      return target.field ?? 'cidr';
  }
}

/** The text of the address, where the change does something to it. Most changes are of one address: it needs no sets. */
function changedOne(
  action: 'enable' | 'disable',
  { address }: Extract<ChangeTarget, { mode: 'one' }>,
  { owned, disabled }: RegionAddresses,
): string[] {
  const isChanged =
    action === 'disable' ? owned.contains(address) && !disabled.contains(address) : disabled.contains(address);
  return isChanged ? [formatAddress(address)] : [];
}

/** The range texts of those addresses that the change does something to. */
function changedMany(
  action: 'enable' | 'disable',
  { set }: Exclude<ChangeTarget, { mode: 'one' }>,
  { owned, disabled }: RegionAddresses,
): string[] {
  // What is disabled is owned, so that enabling need not look at the subnets.
  const changed = action === 'disable' ? set.intersection(owned).difference(disabled) : set.intersection(disabled);
  return changedTexts(changed);
}

/** The refusal for the first address that must be the customer's own and is not, named as it was sent. */
function firstStranger(target: ChangeTarget, { ledger }: Registered): ReturnType<typeof refuse> | undefined {
  const isOwned = (address: Address): boolean => [...ledger.values()].some(({ owned }) => owned.contains(address));
  switch (target.mode) {
    case 'block':
      return undefined;
    case 'one':
      if (isOwned(target.address)) return undefined;
      return refuse('address-not-found', `IP ${target.text} not found in your account.`, 'ip');
    case 'list': {
      let strangers = target.set;
      for (const { owned } of ledger.values()) strangers = strangers.difference(owned);
      if (strangers.isEmpty) return undefined;
      const texts = target.texts();
      const at = texts.findIndex((text) => strangers.contains(addressOf(text)));
      return refuse('address-not-owned', `IP ${texts[at]} does not belong to your account.`, `ips.${at}`);
    }
  }
}

function addressOf(text: string): Address {
  const address = parseAddress(text);
  invariant(!isAddressProblem(address), `${text} of a list that was read`);
  return address;
}
