import type { Aggregate } from '../../commands/aggregate.ts';
import type { ApiTokenCommand, ApiTokenState } from '../../commands/ip-control/api-token.ts';
import type { ApiTokenEvent } from '../../events/ip-control/api-token.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { TokenView } from '../../projections/ip-control/token-view.ts';

const REMEMBERED_MAX = 100_000;
/** `2026-11-27T20` */
const HOUR_LENGTH = 13;

/** Keeps for each token in which hour it was last used: one event an hour at most, however many requests there are. No request waits for it, or fails with it. */
export function openTokenUse(
  tokenUses: Aggregate<ApiTokenCommand, ApiTokenState, ApiTokenEvent>,
  { clock, log }: Readonly<{ clock: Clock; log: Log }>,
): (sha256: string, token: TokenView) => void {
  const noted = new BoundedMap<string, string>(REMEMBERED_MAX);
  return (sha256, { tokenId, customerId, lastUsedHour }) => {
    const hour = `${clock.nowText().slice(0, HOUR_LENGTH)}:00:00.000+00:00`;
    if ((lastUsedHour !== null && lastUsedHour >= hour) || noted.get(tokenId) === hour) return;
    noted.set(tokenId, hour);
    const command = { type: 'RecordTokenUse', data: { tokenId, customerId, sha256, hour } } as const;
    tokenUses
      .handle(tokenId, command, { actor: 'system:token-use', requestId: `${tokenId}/${hour}` })
      .catch((error: unknown) => {
        noted.delete(tokenId);
        log.warn({ tokenId, error }, 'the last use of a token could not be kept; the next request tries again');
      });
  };
}
