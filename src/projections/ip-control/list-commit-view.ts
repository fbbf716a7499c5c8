import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/**
 * The newest commit set of a list. Keys: `customer/<number>/<region>/<list>` and `region/<number>/<customer>/<list>`, so that the lists of a
 * customer and those of a region are read in pages, by number: the number after which they come is written with 15 digits.
 */
export type ListCommitView = Readonly<{
  customerId: number;
  regionId: number;
  list: ListKind;
  commitSetId: string;
  /** The one before it: what routers hold while the newest one is on its way. */
  before: string | null;
}>;

/** Customers and regions have at most so many digits. */
const DIGITS = 15;

function inOrder(number: number): string {
  return String(number).padStart(DIGITS, '0');
}

/** Where a list is among those of its customer. */
export function listCommitKey({
  customerId,
  regionId,
  list,
}: Readonly<{ customerId: number; regionId: number; list: ListKind }>): string {
  return `customer/${customerId}/${inOrder(regionId)}/${list}`;
}

type Shown = Extract<CustomerEvent, { type: 'CommitRequested' }>;

export const listCommitProjection: Projection<Shown, ListCommitView> = {
  name: 'list-commits',
  version: 2,
  handles: ['CommitRequested'],
  keysOf: ({ stream, data: { regionId, list, attempt } }) => {
    if (attempt > 1) return [];
    const customerId = Number(streamId(stream));
    return [listCommitKey({ customerId, regionId, list }), `region/${regionId}/${inOrder(customerId)}/${list}`];
  },
  evolve: (view, { stream, data: { commitSetId, regionId, list } }) => ({
    customerId: Number(streamId(stream)),
    regionId,
    list,
    commitSetId,
    before: view?.commitSetId ?? null,
  }),
};
