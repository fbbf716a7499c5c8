import { type ApiTokenEvent, apiTokenEvents } from '../../events/ip-control/api-token.ts';
import type { Command, Decider, Decision } from '../../kernel/decider.ts';

/** The last hour in which the token was used; texts of one format, so that their order is that of time. */
export type ApiTokenState = Readonly<{ hour?: string }>;

export type ApiTokenCommand = Command<
  'RecordTokenUse',
  { tokenId: string; customerId: number; sha256: string; hour: string }
>;

/** When a token was used. What it may is its customer's. */
export const apiTokenDecider = {
  category: 'apiToken',
  handles: apiTokenEvents.map(({ type }) => type),
  initial: {},
  evolve: (_state: ApiTokenState, event: ApiTokenEvent): ApiTokenState => ({ hour: event.data.hour }),
  decide: ({ data }: ApiTokenCommand, { hour }: ApiTokenState): Decision<ApiTokenEvent> =>
    hour !== undefined && data.hour <= hour ? [] : [{ type: 'ApiTokenUsed', data }],
} as const satisfies Decider<ApiTokenCommand, ApiTokenState, ApiTokenEvent> &
  Readonly<{ handles: readonly ApiTokenEvent['type'][] }>;
