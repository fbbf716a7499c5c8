import { epochMilliseconds } from '../../domain/instants.ts';
import { type ProviderAccountEvent, providerAccountEvents } from '../../events/worker-pools/provider-account.ts';
import type { Command, Decider, Decision } from '../../kernel/decider.ts';

type UnknownEnded = ProviderAccountEvent['data'];

/** What was found at a provider account beside the runs. Plain JSON, so that it is its own snapshot. */
export type ProviderAccountState = Readonly<{
  /** Runs whose instances were ended though the run was over, or never known. */
  endedRuns: readonly string[];
}>;

export type ProviderAccountCommand = Command<'RecordUnknownInstanceEnded', Omit<UnknownEnded, 'seconds'>>;

/** What is kept of one provider account's instances that belong to no run. */
export const providerAccountDecider = {
  category: 'providerAccount',
  handles: providerAccountEvents.map(({ type }) => type),
  initial: { endedRuns: [] } as ProviderAccountState,
  evolve: ({ endedRuns }: ProviderAccountState, { data }: ProviderAccountEvent): ProviderAccountState => ({
    endedRuns: [...endedRuns, data.run],
  }),
  decide: ({ data }: ProviderAccountCommand, { endedRuns }: ProviderAccountState): Decision<ProviderAccountEvent> => {
    if (endedRuns.includes(data.run)) return [];
    const milliseconds = epochMilliseconds(data.endedAt) - epochMilliseconds(data.accountedUntil ?? data.createdAt);
    return [{ type: 'UnknownInstanceEnded', data: { ...data, seconds: Math.max(0, Math.round(milliseconds / 1000)) } }];
  },
  snapshot: {
    version: 1,
    encode: (state: ProviderAccountState): unknown => state,
    decode: (stored: unknown) => stored as ProviderAccountState,
  },
} as const satisfies Decider<ProviderAccountCommand, ProviderAccountState, ProviderAccountEvent> &
  Readonly<{ handles: readonly ProviderAccountEvent['type'][] }>;
