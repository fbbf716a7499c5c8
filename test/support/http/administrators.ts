import { z } from 'zod';
import type { AdminRole } from '../../../src/events/ip-control/administrator.ts';
import type { Edgeward } from '../servers/edgeward-server.ts';
import { openPagesClient, type PagesClient } from './pages-client.ts';

const created = z.object({ password: z.string() });

/** Accounts of an installation, made before a server runs on it. */
export type Administrators = Readonly<{
  /** A client of a server's pages, logged in with one of them. */
  logIn: (url: string, name: string) => Promise<PagesClient>;
  /** Closes the clients. */
  close: () => Promise<void>;
}>;

export async function createAdministrators(
  edgeward: Edgeward,
  roles: Readonly<Record<string, AdminRole>>,
): Promise<Administrators> {
  const passwords = new Map<string, string>();
  for (const [name, role] of Object.entries(roles)) {
    const made = await edgeward.json('admin', 'create', name, '--role', role);
    passwords.set(name, created.parse(made).password);
  }
  const clients: PagesClient[] = [];
  return {
    logIn: async (url, name) => {
      const client = openPagesClient(url);
      clients.push(client);
      await client.logIn(name, passwords.get(name) ?? '');
      return client;
    },
    close: async () => {
      for (const client of clients) await client.close();
    },
  };
}
