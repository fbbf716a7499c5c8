// Pages that are left open: as in a browser, a stream rings, and each part of its topic is fetched.
import { setMaxListeners } from 'node:events';
import type { Installation } from './installation.ts';

type Part = Readonly<{ id: string; at: string; topic: string }>;

export type LivePages = Readonly<{
  /** Resolves when a part of this id comes the next time. */
  nextPart: (id: string) => Promise<void>;
  fetched: () => number;
  close: () => Promise<void>;
}>;

/** Opens pages in turn in these sessions, and waits until all are live. */
export async function openLivePages(
  installation: Pick<Installation, 'url' | 'agent' | 'send'>,
  paths: readonly string[],
  sessions: readonly string[],
): Promise<LivePages> {
  const over = new AbortController();
  setMaxListeners(paths.length + 1, over.signal);
  const waiting = new Map<string, () => void>();
  let fetched = 0;
  const fetchPart = async ({ id, at }: Part, cookie: string): Promise<void> => {
    const headers = { cookie, 'hx-request': 'true', 'hx-target': id };
    await installation.send({ path: at, headers }).catch((error: unknown) => {
      if (!over.signal.aborted) throw error;
    });
    fetched += 1;
    waiting.get(id)?.();
    waiting.delete(id);
  };
  const running = await Promise.all(
    paths.map(async (path, at) => {
      const cookie = sessions[at % sessions.length] ?? '';
      const parts = partsOf((await installation.send({ path: `/admin${path}`, headers: { cookie } })).text);
      const topics = new URLSearchParams(
        [...new Set(parts.map(({ topic }) => topic))].map((topic) => ['topic', topic]),
      );
      const { body } = await installation.agent.request({
        origin: installation.url,
        path: `/admin/live?${topics.toString()}`,
        method: 'GET',
        headers: { cookie },
        signal: over.signal,
      });
      const page = follow(body, async (topic) => {
        await Promise.all(parts.filter((part) => part.topic === topic).map((part) => fetchPart(part, cookie)));
      });
      // What ended because the pages were closed is no error; anything else is told when they are.
      const ended = page.then(
        () => undefined,
        (error: unknown) => (over.signal.aborted ? undefined : error),
      );
      return { ended };
    }),
  );
  return {
    nextPart: (id) => new Promise((resolve) => waiting.set(id, resolve)),
    fetched: () => fetched,
    close: async () => {
      over.abort();
      for (const { ended } of running) {
        const error = await ended;
        if (error !== undefined) throw error;
      }
    },
  };
}

function partsOf(html: string): readonly Part[] {
  const found = html.matchAll(/<div id="([^"]+)" hx-get="([^"]+)"[^>]* data-live="([^"]+)">/g);
  return [...found].map(([, id = '', at = '', topic = '']) => ({ id, at: at.replaceAll('&amp;', '&'), topic }));
}

/** Told of each topic that is rung, until the stream ends. */
async function follow(body: AsyncIterable<Buffer>, rung: (topic: string) => Promise<void>): Promise<void> {
  for await (const chunk of body) {
    const topics = [...chunk.toString().matchAll(/event: changed\ndata: (\S+)/g)];
    await Promise.all(topics.map(([, topic = '']) => rung(topic)));
  }
}
