import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { sourceWhitelistEvents } from './source-whitelist.ts';
import { customerSettings, idNumber, listContent, listKind, rangeTexts, routerOutcome } from './vocabulary.ts';

/** The customer exists; its names were reserved in the directory before. */
export const CustomerRegistered = defineEvent(
  'CustomerRegistered',
  1,
  z.strictObject({ customerId: idNumber, name: z.string(), listName: z.string(), settings: customerSettings }),
);

/** An administrator changed what the customer may do, or where it is told; only what changed is named. */
export const CustomerSettingsChanged = defineEvent(
  'CustomerSettingsChanged',
  1,
  z.strictObject({ changes: customerSettings.partial() }),
);

/** Tokens of the customer are worth nothing until it is enabled again; what is on routers stays. */
export const CustomerDisabled = defineEvent('CustomerDisabled', 1, z.strictObject({ customerId: idNumber }));

/** A customer that was disabled may act again. */
export const CustomerEnabled = defineEvent('CustomerEnabled', 1, z.strictObject({ customerId: idNumber }));

/** The customer has nothing any more and never will; its lists are emptied by the next commits. Its name stays reserved. */
export const CustomerRemoved = defineEvent('CustomerRemoved', 1, z.strictObject({ customerId: idNumber }));

/**
 * The customer's webhooks are signed with another secret from now on; the secret store holds it under this id. The one before signs them too
 * for as long as `previous` says, unless it is retired sooner; without `previous` no earlier one does.
 */
export const WebhookSecretRotated = defineEvent(
  'WebhookSecretRotated',
  1,
  z.strictObject({
    secretId: z.string(),
    previous: z.strictObject({ secretId: z.string(), signsForSeconds: z.int().positive() }).optional(),
  }),
);

/** An earlier webhook secret, or the newest of a removed customer, signs nothing any more, and is gone from the secret store. */
export const WebhookSecretRetired = defineEvent('WebhookSecretRetired', 1, z.strictObject({ secretId: z.string() }));

/** A client that shows the token with this SHA-256 (hex) acts for the customer. */
export const ApiTokenIssued = defineEvent(
  'ApiTokenIssued',
  1,
  z.strictObject({
    tokenId: z.string(),
    label: z.string(),
    sha256: z.string(),
    /** How it begins: enough to find one that has leaked, too little to use it. */
    prefix: z.string().optional(),
    /** It is worth nothing from this instant on. */
    expiresAt: z.string().optional(),
    /** It may look, and change nothing. */
    readOnly: z.literal(true).optional(),
    /** CIDRs; requests from elsewhere are refused. */
    allowedAddresses: z.array(z.string()).min(1).optional(),
  }),
);

/** The token is worth nothing until it is enabled again. */
export const ApiTokenDisabled = defineEvent(
  'ApiTokenDisabled',
  1,
  z.strictObject({ tokenId: z.string(), sha256: z.string() }),
);

/** A token that was disabled is worth again what it was before. */
export const ApiTokenEnabled = defineEvent(
  'ApiTokenEnabled',
  1,
  z.strictObject({ tokenId: z.string(), sha256: z.string() }),
);

/** The token is worth nothing from now on. */
export const ApiTokenRevoked = defineEvent(
  'ApiTokenRevoked',
  1,
  z.strictObject({ tokenId: z.string(), sha256: z.string() }),
);

/** The customer owns these addresses in this region; all of them enabled, none pending. */
export const SubnetAssigned = defineEvent(
  'SubnetAssigned',
  1,
  z.strictObject({ subnetId: idNumber, cidr: z.string(), regionId: idNumber, asn: z.int(), metro: z.string() }),
);

/** The customer no longer owns the subnet; what was disabled in it leaves the routers with the next commit. */
export const SubnetReleased = defineEvent(
  'SubnetReleased',
  1,
  z.strictObject({
    subnetId: idNumber,
    cidr: z.string(),
    regionId: idNumber,
    /** What was disabled in it. */
    wasDisabled: z.array(z.string()),
  }),
);

/** How long addresses stay disabled; without both, until they are enabled. */
const term = {
  /** When they are enabled by themselves: ISO 8601 with offset. */
  until: z.string().optional(),
  /** The same, from this event on: what is measured, whatever is done to clocks. */
  lastsMilliseconds: z.int().positive().optional(),
};

/** These addresses were enabled and are disabled now; not yet on routers. */
export const AddressesDisabled = defineEvent(
  'AddressesDisabled',
  1,
  z.strictObject({ regionId: idNumber, ranges: rangeTexts, ...term }),
);

/** These addresses were disabled before, and stay so until another time from now on. Nothing changes on routers. */
export const DisabledTermChanged = defineEvent(
  'DisabledTermChanged',
  1,
  z.strictObject({ regionId: idNumber, ranges: rangeTexts, ...term }),
);

/** These addresses were disabled and are enabled now; not yet off the routers. */
export const AddressesEnabled = defineEvent(
  'AddressesEnabled',
  1,
  z.strictObject({
    regionId: idNumber,
    ranges: rangeTexts,
    /** The time was over for which they were disabled. */
    because: z.literal('until').optional(),
  }),
);

/**
 * A router holds these addresses in the customer's blackhole list and keeps them, as the log was restored and does not explain them. Said
 * once for each set of them; empty when none are left.
 */
export const AddressesKept = defineEvent(
  'AddressesKept',
  1,
  z.strictObject({
    regionId: idNumber,
    router: z.string(),
    ranges: z.array(z.string()),
    /** These beside those that were told before: all at once are more than the store takes. */
    isMore: z.literal(true).optional(),
  }),
);

const commit = { commitSetId: z.string(), regionId: idNumber, list: listKind, attempt: z.int().positive() };

/** A deployment of one list is due: it carries what the list is at this event, and everything touched until here. */
export const CommitRequested = defineEvent(
  'CommitRequested',
  1,
  z.strictObject({ ...commit, reason: z.enum(['quiet', 'retry', 'synchronous', 'operator']) }),
);

/** Every router of the region was read back and holds the list as captured; what the commit carried is no longer pending. */
export const CommitCompleted = defineEvent(
  'CommitCompleted',
  1,
  z.strictObject({
    ...commit,
    outcomes: z.array(routerOutcome),
    content: listContent,
    /** When the last router confirmed. */
    completedAt: z.string(),
    /** Whether the customer is to be told. */
    notify: z.boolean(),
  }),
);

/** At least one router does not hold the list; what the commit carried is pending again and will be tried again. */
export const CommitFailed = defineEvent(
  'CommitFailed',
  1,
  z.strictObject({
    ...commit,
    outcomes: z.array(routerOutcome),
    content: listContent,
    completedAt: z.string(),
    notify: z.boolean(),
  }),
);

/** The list comes to a router in slices: so many of its blocks are there. A newer change goes with the next slice from now on. */
export const CommitSliceDeployed = defineEvent(
  'CommitSliceDeployed',
  1,
  z.strictObject({
    ...commit,
    /** Of the list's blocks, on the router that has the fewest of them. */
    done: z.int().nonnegative(),
    total: z.int().nonnegative(),
  }),
);

/** All other routers have given their outcome, and these have not. A newer change no longer waits for them. */
export const CommitHeldUp = defineEvent(
  'CommitHeldUp',
  1,
  z.strictObject({ ...commit, routers: z.array(z.string()).min(1) }),
);

export const customerEvents = [
  CustomerRegistered,
  CustomerSettingsChanged,
  CustomerDisabled,
  CustomerEnabled,
  CustomerRemoved,
  WebhookSecretRotated,
  WebhookSecretRetired,
  ApiTokenIssued,
  ApiTokenDisabled,
  ApiTokenEnabled,
  ApiTokenRevoked,
  SubnetAssigned,
  SubnetReleased,
  AddressesDisabled,
  DisabledTermChanged,
  AddressesEnabled,
  AddressesKept,
  CommitRequested,
  CommitCompleted,
  CommitFailed,
  CommitSliceDeployed,
  CommitHeldUp,
  ...sourceWhitelistEvents,
] as const;

export type CustomerEvent = EventOf<(typeof customerEvents)[number]>;
export type CommitSettled = EventOf<typeof CommitCompleted> | EventOf<typeof CommitFailed>;

const CUSTOMER_EVENT_TYPES = new Set<string>(customerEvents.map(({ type }) => type));

/** Narrows an event of the log to a customer's. */
export function isCustomerEvent(event: { type: string }): event is CustomerEvent {
  return CUSTOMER_EVENT_TYPES.has(event.type);
}
