import type { JSX } from 'preact';
import type { Topic } from '../../topics.ts';

/**
 * A part of a page that is fetched again, from `at`, when its topic changes, or one of several. It has an id of its own in the page, which the
 * page's `parts` name; it holds no field that one types in, and every button in it has an id, so that the keyboard's focus stays.
 */
export function Live({
  id,
  topic,
  at,
  children,
}: Readonly<{ id: string; topic: Topic | readonly Topic[]; at: string; children: JSX.Element }>): JSX.Element {
  const topics = [topic].flat();
  const attributes = {
    'hx-get': at,
    'hx-trigger': topics.map((one) => `live:${one} from:body`).join(', '),
    'hx-target': 'this',
    'hx-swap': 'innerHTML',
    'data-live': topics.join(' '),
  };
  return (
    <div id={id} {...attributes}>
      {children}
    </div>
  );
}
