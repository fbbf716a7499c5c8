import * as assert from 'uvu/assert';
import { createAdministrator } from '../../../src/application/ip-control/administrators.ts';
import type { AdminRole } from '../../../src/events/ip-control/administrator.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { type PagesClient, openPagesClient } from './pages-client.ts';
import { openPagesUnderTest } from './pages-under-test.ts';

/** The pages under test, and who has logged in to them. */
export type PagesOfAdministrator = Awaited<ReturnType<typeof openPagesUnderTest>> &
  Readonly<{
    client: PagesClient;
    /** Another account, logged in. */
    logIn: (name: string, role: AdminRole) => Promise<PagesClient>;
  }>;

/** Opens the pages and logs ada in, an administrator. */
export async function openPagesOfAdministrator(
  settings: Parameters<typeof openPagesUnderTest>[0] = {},
): Promise<PagesOfAdministrator> {
  const opened = await openPagesUnderTest(settings);
  const { application, url } = opened;
  const clients: PagesClient[] = [];
  const logIn = async (name: string, role: AdminRole): Promise<PagesClient> => {
    const created = await createAdministrator({ name, role }, application.context, application);
    await application.catchUp();
    const client = openPagesClient(url);
    clients.push(client);
    assert.not(isRefusal(created));
    if (!isRefusal(created)) await client.logIn(name, created.password);
    return client;
  };
  return {
    ...opened,
    client: await logIn('ada', 'administrator'),
    logIn,
    close: async () => {
      for (const client of clients) await client.close();
      await opened.close();
    },
  };
}
