import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A server to measure against: the one at TEST_EVENT_STORE_URL, or a stand-in, whose figures say nothing about EventStoreDB itself. */
export async function eventStoreUrl(): Promise<Readonly<{ url: string; stop: () => void }>> {
  const given = process.env.TEST_EVENT_STORE_URL;
  if (given !== undefined && given !== '') return { url: given, stop: () => undefined };
  const path = new URL('stand-in-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', path], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [said] = await once(child.stdout!, 'data');
  return { url: `esdb://127.0.0.1:${Number(String(said))}?tls=false`, stop: () => child.disconnect() };
}
