import { type AddressLedger, regionAddresses } from './address-ledger.ts';
import type { InDeployment } from './layers.ts';
import { regionWhitelist, type SourceWhitelist } from './source-whitelist-ledger.ts';
import type { ListKind } from './vocabulary.ts';

/** What the commit of a list that is under way carries. */
export function inDeployment(
  { ledger, whitelist }: Readonly<{ ledger: AddressLedger; whitelist: SourceWhitelist }>,
  regionId: number,
  list: ListKind,
): InDeployment | undefined {
  switch (list) {
    case 'BLACKHOLE':
      return regionAddresses(ledger, regionId).inDeployment;
    case 'SRC_WHITELIST':
      return regionWhitelist(whitelist, regionId).inDeployment;
  }
}
