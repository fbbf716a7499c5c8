import { RangeSet } from '../../kernel/addresses/range-set.ts';
import { parseRangeTexts, rangeTexts } from '../../kernel/addresses/range-text.ts';
import { decodeWaiting, encodeWaiting, type WaitingJson } from './layers.ts';
import { type AddressLedger, type RegionAddresses, subnetRange } from './address-ledger.ts';

type RegionJson = Readonly<{
  regionId: number;
  disabled: readonly string[];
  touched: readonly string[];
}> &
  WaitingJson;

/** A ledger as JSON. What is owned is not in it: the subnets say it. */
export type LedgerJson = readonly RegionJson[];

type OwnedSubnet = Readonly<{ cidr: string; regionId: number }>;

/** A ledger as JSON. */
export function encodeLedger(ledger: AddressLedger): LedgerJson {
  return [...ledger].map(([regionId, { disabled, touched, layers, inDeployment }]) => ({
    regionId,
    disabled: rangeTexts(disabled),
    touched: rangeTexts(touched),
    ...encodeWaiting(layers, inDeployment),
  }));
}

/** The ledger that was encoded, given the subnets that the customer had then. */
export function decodeLedger(regions: LedgerJson, subnets: readonly OwnedSubnet[]): AddressLedger {
  const ledger = new Map<number, RegionAddresses>();
  for (const { regionId, disabled, touched, ...waiting } of regions) {
    const own = subnets.filter((subnet) => subnet.regionId === regionId);
    ledger.set(regionId, {
      owned: RangeSet.of(...own.map(({ cidr }) => subnetRange(cidr))),
      disabled: parseRangeTexts(disabled),
      touched: parseRangeTexts(touched),
      ...decodeWaiting(waiting),
    });
  }
  return ledger;
}
