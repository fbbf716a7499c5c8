import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { idNumber } from './vocabulary.ts';

/** What a file of evidence can be, told by its content. */
export const evidenceMediaType = z.enum(['image/jpeg', 'image/png', 'application/pdf']);
export type EvidenceMediaType = z.infer<typeof evidenceMediaType>;

/** A file that was given as proof. The evidence store holds it under its customer and its SHA-256 (hex). */
export const evidence = z.strictObject({
  sha256: z.string(),
  bytes: z.int().positive(),
  mediaType: evidenceMediaType,
  /** As the client named it. */
  fileName: z.string(),
});
export type Evidence = z.infer<typeof evidence>;

/** The customer asked that traffic from these addresses be accepted in these regions; approved at once where the account is trusted. */
export const SourceWhitelistSubmitted = defineEvent(
  'SourceWhitelistSubmitted',
  1,
  z.strictObject({
    requestId: z.string(),
    /** The address, range or CIDR as it was sent. */
    input: z.string(),
    /** The minimal CIDRs of the addresses, which are neighbours. */
    prefixes: z.array(z.string()).min(1),
    regionIds: z.array(idNumber).min(1),
    evidence,
    autoApproved: z.boolean(),
  }),
);

/** An administrator found the evidence good: the addresses are to be on the routers of these regions. */
export const SourceWhitelistApproved = defineEvent(
  'SourceWhitelistApproved',
  1,
  z.strictObject({ requestId: z.string(), regionIds: z.array(idNumber).min(1) }),
);

/** An administrator declined the request; it never was on a router. */
export const SourceWhitelistRejected = defineEvent(
  'SourceWhitelistRejected',
  1,
  z.strictObject({ requestId: z.string(), reason: z.string() }),
);

/** The customer took the request back: its addresses are to leave the routers of these regions, none if it was not approved. */
export const SourceWhitelistRemoved = defineEvent(
  'SourceWhitelistRemoved',
  1,
  z.strictObject({ requestId: z.string(), regionIds: z.array(idNumber) }),
);

export const sourceWhitelistEvents = [
  SourceWhitelistSubmitted,
  SourceWhitelistApproved,
  SourceWhitelistRejected,
  SourceWhitelistRemoved,
] as const;

export type SourceWhitelistEvent = EventOf<(typeof sourceWhitelistEvents)[number]>;
