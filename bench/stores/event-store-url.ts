import { spawn } from 'node:child_process';
import { once } from 'node:events';

type EventStoreUrl = Readonly<{
  url: string;
  /** The same log, whose long answers come from memory once they were given, so that the server is not what is measured. */
  rememberingUrl: string;
  stop: () => void;
}>;

/** A server to measure against: the one at TEST_EVENT_STORE_URL, or a stand-in, whose figures say nothing about EventStoreDB itself. */
export async function eventStoreUrl(): Promise<EventStoreUrl> {
  const given = process.env.TEST_EVENT_STORE_URL;
  if (given !== undefined && given !== '') return { url: given, rememberingUrl: given, stop: () => undefined };
  const path = new URL('stand-in-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', path], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [said] = await once(child.stdout!, 'data');
  const [url = '', rememberingUrl = ''] = String(said)
    .trim()
    .split(' ')
    .map((port) => `esdb://127.0.0.1:${Number(port)}?tls=false`);
  return { url, rememberingUrl, stop: () => child.disconnect() };
}
