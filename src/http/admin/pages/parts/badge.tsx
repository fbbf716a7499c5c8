import type { JSX } from 'preact';

/** How something stands: fine, under way, to be looked at, wrong, switched off. */
export type State = 'ok' | 'busy' | 'warn' | 'bad' | 'off';

const SIGN: Readonly<Record<State, string>> = { ok: '✓', busy: '●', warn: '▲', bad: '✕', off: '○' };

/** A state: sign, word and colour, never the colour alone. */
export function Badge({ state, children }: Readonly<{ state: State; children: JSX.Element | string }>): JSX.Element {
  return (
    <span class={`badge ${state}`}>
      <span aria-hidden="true">{SIGN[state]}</span> {children}
    </span>
  );
}

/** A message after an action, or about the page. */
export function Note({ state, children }: Readonly<{ state: State; children: JSX.Element | string }>): JSX.Element {
  return (
    <p class={`note ${state}`} role={state === 'bad' ? 'alert' : 'status'}>
      <span aria-hidden="true">{SIGN[state]}</span> {children}
    </p>
  );
}
