import { z } from 'zod';
import { createCodec, defineEvent } from '../../src/events/codec.ts';
import { seal } from '../../src/events/hash-chain.ts';
import type { Event, Sealed } from '../../src/kernel/event.ts';
import { systemIds } from '../../src/adapters/ids.ts';

const NoteTaken = defineEvent('NoteTaken', 1, z.strictObject({ text: z.string() }));
const ThingKept = defineEvent('ThingKept', 2, z.strictObject({ thing: z.unknown() }), {
  1: (data) => ({ thing: data }),
});

/** What the contracts of stores write. */
export const sampleCodec = createCodec([NoteTaken, ThingKept]);

/** Knows less: it can't read `ThingKept`. */
export const narrowCodec = createCodec([NoteTaken]);

/** Sealed events for one append. */
export function sealed(stream: string, events: readonly Event[], previousHash = ''): readonly Sealed[] {
  return seal(events, {
    stream,
    previousHash,
    actor: 'system:contract',
    at: '2026-11-27T20:50:00.123+00:00',
    correlationId: 'request-1',
    causationId: 'request-1',
    ids: systemIds,
    schemaOf: sampleCodec.schemaOf,
  });
}

/** Notes with these texts. */
export function notes(stream: string, ...texts: readonly string[]): readonly Sealed[] {
  return sealed(
    stream,
    texts.map((text) => ({ type: 'NoteTaken', data: { text } })),
  );
}

/** `count` notes, numbered from `first`. */
export function numberedNotes(stream: string, count: number, first = 0): readonly Sealed[] {
  return notes(stream, ...Array.from({ length: count }, (_, index) => String(first + index)));
}

export function thing(stream: string, kept: unknown): readonly Sealed[] {
  return sealed(stream, [{ type: 'ThingKept', data: { thing: kept } }]);
}
