import type { JSX } from 'preact';
import type { Topic } from '../../topics.ts';

/**
 * A part of a page that is fetched again, from `at`, when its topic changes. It has an id of its own in the page, which the page's `parts` name; it
 * holds no field that one types in, and every button in it has an id, so that the keyboard's focus stays.
 */
export function Live({
  id,
  topic,
  at,
  children,
}: Readonly<{ id: string; topic: Topic; at: string; children: JSX.Element }>): JSX.Element {
  const attributes = {
    'hx-get': at,
    'hx-trigger': `live:${topic} from:body`,
    'hx-target': 'this',
    'hx-swap': 'innerHTML',
    'data-live': topic,
  };
  return (
    <div id={id} {...attributes}>
      {children}
    </div>
  );
}
