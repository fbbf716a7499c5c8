import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { idNumber, listContent } from './vocabulary.ts';

const router = { regionId: idNumber, router: z.string() };

/** Whether edgeward puts right what others have changed in our lists on this router. */
export const RouterRepairChosen = defineEvent(
  'RouterRepairChosen',
  1,
  z.strictObject({ ...router, repair: z.boolean() }),
);

/** The router is spoken to with these options from now on, as its address, login or time limits are others. Options hold no secret. */
export const RouterReconfigured = defineEvent(
  'RouterReconfigured',
  1,
  z.strictObject({ ...router, options: z.record(z.string(), z.string()) }),
);

/** An operator wants every list of ours off the router; commits pass it over until it is enabled again. */
export const RouterDrainRequested = defineEvent('RouterDrainRequested', 1, z.strictObject(router));

/** These lists of ours were taken off the router, which was disabled before; what kept others there is in `problems`. */
export const RouterDrained = defineEvent(
  'RouterDrained',
  1,
  z.strictObject({ ...router, removed: z.array(z.string()), problems: z.array(z.string()) }),
);

/** Commits pass this router over, and are complete without it, until it is enabled again. */
export const RouterDisabled = defineEvent('RouterDisabled', 1, z.strictObject(router));

/** The router is brought up to date; then commits count it again. */
export const RouterEnabled = defineEvent('RouterEnabled', 1, z.strictObject(router));

/** The router holds every list of its region as it should; no commit is complete without it from now on. */
export const RouterCaughtUp = defineEvent(
  'RouterCaughtUp',
  1,
  z.strictObject({
    ...router,
    /** How many lists were compared, and how many of them had to be changed. */
    lists: z.int().nonnegative(),
    changed: z.int().nonnegative(),
  }),
);

/** An operator wants the router compared now; with `prune`, lists that belong to no customer are to go. */
export const RouterCheckRequested = defineEvent(
  'RouterCheckRequested',
  1,
  z.strictObject({ ...router, checkId: z.string(), prune: z.boolean() }),
);

/** What a check that was asked for has found and done. */
export const routerCheckResult = z.strictObject({
  /** Lists that were compared. */
  lists: z.int().nonnegative(),
  /** Lists that a commit is about to change, or has failed to: the commit compares them. */
  underWay: z.int().nonnegative(),
  /** Names of the lists that were not as they should be, and of those that are right now. */
  drifted: z.array(z.string()),
  repaired: z.array(z.string()),
  /** Names with our prefix that belong to no customer, and those of them that were removed. */
  unowned: z.array(z.string()),
  removed: z.array(z.string()),
  /** What kept it from seeing or doing more, for an operator. */
  problems: z.array(z.string()),
});
export type RouterCheckResult = z.infer<typeof routerCheckResult>;

/** The check that was asked for is over. */
export const RouterChecked = defineEvent(
  'RouterChecked',
  1,
  z.strictObject({ ...router, checkId: z.string(), ...routerCheckResult.shape }),
);

/** What a list on a router has too little and too much of. */
export const drift = z.strictObject({
  missing: z.array(z.string()),
  extra: z.array(z.string()),
  more: z.int().nonnegative(),
});
export type Drift = z.infer<typeof drift>;

/** A list on the router is not what the last commit put there. Said once for each content that is found. */
export const DriftDetected = defineEvent(
  'DriftDetected',
  1,
  z.strictObject({
    ...router,
    list: z.string(),
    /** How many blocks the router lacks, and how many entries it has too many. */
    missing: z.int().nonnegative(),
    extra: z.int().nonnegative(),
    held: listContent,
    /** Which blocks and entries these are, up to 1,000 in all, the entries first; and how many more. Absent in events of old. */
    difference: drift.optional(),
  }),
);

/** The list is right again: edgeward has put it right, or it was found so. */
export const DriftRepaired = defineEvent(
  'DriftRepaired',
  1,
  z.strictObject({ ...router, list: z.string(), how: z.enum(['pushed', 'found-right']) }),
);

/** The router has these lists with our prefix that belong to no customer. Said once for each set of them; empty when they are gone. */
export const UnownedListsSeen = defineEvent(
  'UnownedListsSeen',
  1,
  z.strictObject({ ...router, lists: z.array(z.string()) }),
);

/** What edgeward has put on the router is in force, and the router could not save it: a restart loses it. Said once until it is saved. */
export const RouterNotSaved = defineEvent('RouterNotSaved', 1, z.strictObject({ ...router, because: z.string() }));

/** All that edgeward has put on the router is saved again. */
export const RouterSaved = defineEvent('RouterSaved', 1, z.strictObject(router));

export const routerUpkeepEvents = [
  RouterRepairChosen,
  RouterReconfigured,
  RouterDrainRequested,
  RouterDrained,
  RouterDisabled,
  RouterEnabled,
  RouterCaughtUp,
  RouterCheckRequested,
  RouterChecked,
  DriftDetected,
  DriftRepaired,
  UnownedListsSeen,
  RouterNotSaved,
  RouterSaved,
] as const;

export type RouterUpkeepEvent = EventOf<(typeof routerUpkeepEvents)[number]>;
