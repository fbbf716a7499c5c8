import { epochMilliseconds } from '../../domain/instants.ts';
import { canonicalJson } from '../../events/hash-chain.ts';
import { type ProviderAccountEvent, providerAccountEvents } from '../../events/worker-pools/provider-account.ts';
import type { Command, Decider, Decision } from '../../kernel/decider.ts';

type UnknownEnded = ProviderAccountEvent['data'];

/** What was found at a provider account beside the runs. Plain JSON, so that it is its own snapshot. */
export type ProviderAccountState = Readonly<{
  /** Instances that were ended though their run was over, or never known: a run may have had several. */
  ended: readonly string[];
}>;

export type ProviderAccountCommand = Command<'RecordUnknownInstanceEnded', Omit<UnknownEnded, 'seconds'>>;

/** What is kept of one provider account's instances that belong to no run. */
export const providerAccountDecider = {
  category: 'providerAccount',
  handles: providerAccountEvents.map(({ type }) => type),
  initial: { ended: [] } as ProviderAccountState,
  evolve: ({ ended }: ProviderAccountState, { data }: ProviderAccountEvent): ProviderAccountState => ({
    ended: [...ended, keyOf(data)],
  }),
  decide: ({ data }: ProviderAccountCommand, { ended }: ProviderAccountState): Decision<ProviderAccountEvent> => {
    if (ended.includes(keyOf(data))) return [];
    const milliseconds = epochMilliseconds(data.endedAt) - epochMilliseconds(data.accountedUntil ?? data.createdAt);
    return [{ type: 'UnknownInstanceEnded', data: { ...data, seconds: Math.max(0, Math.round(milliseconds / 1000)) } }];
  },
  snapshot: {
    version: 2,
    encode: (state: ProviderAccountState): unknown => state,
    decode: (stored: unknown) => stored as ProviderAccountState,
  },
} as const satisfies Decider<ProviderAccountCommand, ProviderAccountState, ProviderAccountEvent> &
  Readonly<{ handles: readonly ProviderAccountEvent['type'][] }>;

function keyOf({ run, instance }: Pick<UnknownEnded, 'run' | 'instance'>): string {
  return `${run} ${canonicalJson(instance)}`;
}
