import type { JSX } from 'preact';

/** Strokes on 24 × 24; they stand beside words and say nothing of their own. */
const PATHS = {
  overview: 'M4 5h7v6H4zM13 5h7v14h-7zM4 13h7v6H4z',
  customers: 'M4 20V8l8-4 8 4v12M9 20v-6h6v6M9 10h.01M15 10h.01',
  subnets: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z',
  review: 'M5 4h14v16H5zM9 12l2 2 4-4M9 8h6',
  regions: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  commits: 'M12 8v8M12 8a3 3 0 1 0 0-1M12 16a3 3 0 1 0 0 1M4 12h5M15 12h5',
  pools: 'M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01',
  scopes: 'M12 12m-8 0a8 8 0 1 0 16 0 8 8 0 1 0-16 0M12 12m-3 0a3 3 0 1 0 6 0 3 3 0 1 0-6 0',
  events: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  accounts: 'M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 4-6 8-6s8 2 8 6',
  system: 'M4 12h4l2-6 4 12 2-6h4',
} as const;

export type IconName = keyof typeof PATHS;

/** One of the dozen pictures of the menu. */
export function Icon({ name }: Readonly<{ name: IconName }>): JSX.Element {
  return (
    <svg class="icon" width="16" height="16" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
