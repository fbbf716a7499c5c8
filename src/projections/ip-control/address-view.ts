import {
  type AddressLedger,
  applyToLedger,
  decodeLedger,
  EMPTY_LEDGER,
  encodeLedger,
  LEDGER_EVENTS,
  type LedgerEvent,
  type LedgerJson,
  withoutLayers,
} from '../../domain/ip-control/address-ledger.ts';
import type { SubnetOfCustomer } from '../../domain/ip-control/subnet-status.ts';
import type { Batch, BatchedProjection } from '../engine/batched-projection.ts';
import type { GetPart } from '../../kernel/parts.ts';
import { streamId } from '../../kernel/stream-name.ts';
import { AddressBatch } from './address-batch.ts';

/** All subnets of one customer and the status of their addresses, as range sets. Key: the customer's number. */
export type AddressView = Readonly<{ subnets: readonly SubnetOfCustomer[]; ledger: AddressLedger }>;

export const addressProjection: BatchedProjection<LedgerEvent, AddressView> = {
  name: 'addresses',
  version: 4,
  handles: LEDGER_EVENTS,
  keysOf: (event) => [streamId(event.stream)],
  evolve: (view = { subnets: [], ledger: EMPTY_LEDGER }, event) => {
    const ledger = withoutLayers(applyToLedger(view.ledger, event));
    switch (event.type) {
      case 'SubnetAssigned': {
        const { subnetId, cidr, regionId, asn, metro } = event.data;
        const others = view.subnets.filter((subnet) => subnet.subnetId !== subnetId);
        return { ledger, subnets: [...others, { subnetId, cidr, regionId, asn, metro }] };
      }
      case 'SubnetReleased':
        return { ledger, subnets: view.subnets.filter(({ subnetId }) => subnetId !== event.data.subnetId) };
      case 'AddressesDisabled':
      case 'DisabledTermChanged':
      case 'AddressesEnabled':
      case 'CommitRequested':
      case 'CommitCompleted':
      case 'CommitFailed':
        return ledger === view.ledger ? view : { ...view, ledger };
    }
  },
  batch: (view) => batchOn(view),
  stored: {
    encode: ({ subnets, ledger }, put) => ({ subnets, regions: encodeLedger(ledger, put) }),
    decode: (json, get) => decodeView(json as StoredView, get),
  },
};

function batchOn(view: AddressView): Batch<LedgerEvent, AddressView> {
  const batch = new AddressBatch(view.ledger);
  return { take: (event) => batch.take(event), view: () => ({ ...view, ledger: withoutLayers(batch.ledger()) }) };
}

/** As this projection's own version wrote it. */
type StoredView = Readonly<{ subnets: readonly SubnetOfCustomer[]; regions: LedgerJson }>;

function decodeView({ subnets, regions }: StoredView, get: GetPart | undefined): AddressView {
  return { subnets, ledger: decodeLedger(regions, subnets, get) };
}
