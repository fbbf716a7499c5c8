import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { operatorSecretEvents } from './operator-secrets.ts';
import { restoreEvents } from './restore.ts';
import { customerSettings, idNumber } from './vocabulary.ts';

/** The name and the list name belong to this customer from now on; its stream follows. */
export const CustomerNameReserved = defineEvent(
  'CustomerNameReserved',
  1,
  z.strictObject({ customerId: idNumber, name: z.string(), listName: z.string(), settings: customerSettings }),
);

/** The name belongs to this region from now on; its stream follows. */
export const RegionNameReserved = defineEvent(
  'RegionNameReserved',
  1,
  z.strictObject({ regionId: idNumber, name: z.string() }),
);

/** The region is no more, as nothing uses it: its name is free again, its number is never given twice. */
export const RegionNameReleased = defineEvent(
  'RegionNameReleased',
  1,
  z.strictObject({ regionId: idNumber, name: z.string() }),
);

/** No other customer can be given any of these addresses; the customer's stream follows. */
export const SubnetReserved = defineEvent(
  'SubnetReserved',
  1,
  z.strictObject({
    subnetId: idNumber,
    customerId: idNumber,
    cidr: z.string(),
    regionId: idNumber,
    asn: z.int(),
    metro: z.string(),
  }),
);

/** The addresses are free again; the customer's stream has let go of them before. */
export const SubnetReservationReleased = defineEvent(
  'SubnetReservationReleased',
  1,
  z.strictObject({ subnetId: idNumber }),
);

export const directoryEvents = [
  CustomerNameReserved,
  RegionNameReserved,
  RegionNameReleased,
  SubnetReserved,
  SubnetReservationReleased,
  ...restoreEvents,
  ...operatorSecretEvents,
] as const;

export type DirectoryEvent = EventOf<(typeof directoryEvents)[number]>;
