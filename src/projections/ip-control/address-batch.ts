import { type AddressLedger, regionAddresses, touch } from '../../domain/ip-control/address-ledger.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { AddressMarks } from '../../addresses/address-marks.ts';

/** Changes of single IPv4 addresses, of which most logs are full, on their way into a ledger: all of a region at once. */
export class AddressBatch {
  readonly #ledger: AddressLedger;
  /** In the order in which the regions changed first, which is theirs in the ledger. */
  readonly #regions = new Map<number, AddressMarks>();

  constructor(ledger: AddressLedger) {
    this.#ledger = ledger;
  }

  /** `false`, and nothing done, for any other event. */
  take({ type, data }: CustomerEvent): boolean {
    if (type !== 'AddressesDisabled' && type !== 'AddressesEnabled') return false;
    const [only] = data.ranges;
    if (only === undefined || data.ranges.length > 1) return false;
    // What is disabled for a time has more to say than that it is.
    if ('until' in data || !regionAddresses(this.#ledger, data.regionId).terms.isEmpty) return false;
    const known = this.#regions.get(data.regionId);
    const marks = known ?? new AddressMarks();
    if (!marks.mark(only, type === 'AddressesDisabled')) return false;
    if (known === undefined) this.#regions.set(data.regionId, marks);
    return true;
  }

  /** The ledger as all these events leave it, one after the other. */
  ledger(): AddressLedger {
    const ledger = new Map(this.#ledger);
    for (const [regionId, marks] of this.#regions) {
      const region = regionAddresses(ledger, regionId);
      const { set, cleared, either } = marks.marked();
      ledger.set(regionId, {
        ...touch(region, either),
        disabled: region.disabled.union(set).difference(cleared),
      });
    }
    return ledger;
  }
}
