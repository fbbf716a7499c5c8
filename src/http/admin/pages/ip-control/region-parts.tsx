import type { JSX } from 'preact';
import { Tabs } from '../layout.tsx';
import type { Crumb } from '../page.ts';

export const PATH = '/admin/regions';
export const REGIONS: Crumb = { name: 'Regions', href: PATH };

/** The pages of one region. */
export function RegionTabs({ regionId, path }: Readonly<{ regionId: number; path: string }>): JSX.Element {
  const base = `${PATH}/${regionId}`;
  const tabs = [
    { href: base, name: 'Region' },
    { href: `${base}/lists`, name: 'Lists' },
  ];
  return <Tabs label="Of this region" tabs={tabs} path={path} />;
}
