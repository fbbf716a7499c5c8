import type { JSX } from 'preact';

/** What one thing is, name by name. */
export function Facts({
  facts,
}: Readonly<{ facts: readonly (readonly [name: string, value: JSX.Element | string])[] }>): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}
