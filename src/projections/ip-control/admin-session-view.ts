import type { AdministratorEvent } from '../../events/ip-control/administrator.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** Whose session it is. Key: the SHA-256 (hex) of the session's secret. */
export type AdminSessionView = Readonly<{
  account: string;
  sessionId: string;
  openedAt: string;
  /** When it ends at the latest. */
  until: string;
}>;

type Shown = Extract<AdministratorEvent, { type: 'AdministratorSessionOpened' | 'AdministratorSessionEnded' }>;

export const adminSessionProjection: Projection<Shown, AdminSessionView> = {
  name: 'admin-sessions',
  version: 1,
  handles: ['AdministratorSessionOpened', 'AdministratorSessionEnded'],
  keysOf: (event) => [event.data.sha256],
  evolve: (_view, event) => {
    if (event.type === 'AdministratorSessionEnded') return undefined;
    const { sessionId, until } = event.data;
    return { account: streamId(event.stream), sessionId, openedAt: event.metadata.at, until };
  },
};
