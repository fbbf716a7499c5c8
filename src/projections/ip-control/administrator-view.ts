import type { AdministratorEvent } from '../../events/ip-control/administrator.ts';
import type { Projection } from '../../kernel/projection.ts';

/** One administrator. Key: the name. */
export type AdministratorView = Readonly<{ name: string; secretId: string; createdAt: string }>;

export const administratorProjection: Projection<AdministratorEvent, AdministratorView> = {
  name: 'administrators',
  version: 1,
  handles: ['AdministratorCreated'],
  keysOf: (event) => [event.data.name],
  evolve: (_view, event) => ({ ...event.data, createdAt: event.metadata.at }),
};
