import type { JSX } from 'preact';
import type { AdminScope } from '../../../events/ip-control/administrator.ts';
import { type AdminPrincipal, mayDo } from '../access.ts';
import { Icon, type IconName } from './parts/icon.tsx';
import { Note } from './parts/badge.tsx';
import type { Message, Page } from './page.ts';

/** Where a page's style sheet and scripts are. */
export type AssetAddresses = Readonly<
  Record<'style' | 'htmx' | 'script' | 'logo' | 'viewer' | 'pdf' | 'pdfWorker', string>
>;

/** What surrounds a page. */
export type Frame = Readonly<{
  assets: AssetAddresses;
  /** Undefined: no account is logged in. */
  principal: AdminPrincipal | undefined;
  path: string;
  message: Message | undefined;
  /** The position up to which the page shows the log at least; its stream rings for what has changed after it. */
  since: bigint | undefined;
  /** The addresses that there are; the menu names no other. */
  addresses: ReadonlySet<string>;
}>;

type MenuItem = Readonly<{ path: string; name: string; icon: IconName; key: string; scope?: AdminScope }>;

const MENU: readonly Readonly<{ group: string; items: readonly MenuItem[] }>[] = [
  { group: '', items: [{ path: '/', name: 'Overview', icon: 'overview', key: 'o' }] },
  {
    group: 'Customers',
    items: [
      { path: '/customers', name: 'Customers', icon: 'customers', key: 'c' },
      { path: '/subnets', name: 'Subnets', icon: 'subnets', key: 's' },
      { path: '/whitelist', name: 'Whitelist review', icon: 'review', key: 'w' },
    ],
  },
  {
    group: 'Network',
    items: [
      { path: '/regions', name: 'Regions', icon: 'regions', key: 'r' },
      { path: '/commits', name: 'Commits', icon: 'commits', key: 'm' },
    ],
  },
  {
    group: 'Workers',
    items: [
      { path: '/worker-pools', name: 'Worker pools', icon: 'pools', key: 'p' },
      { path: '/scopes', name: 'Scopes', icon: 'scopes', key: 'k' },
    ],
  },
  {
    group: 'Service',
    items: [
      { path: '/events', name: 'Events', icon: 'events', key: 'e' },
      { path: '/accounts', name: 'Accounts', icon: 'accounts', key: 'a' },
      { path: '/system', name: 'System', icon: 'system', key: 'y' },
    ],
  },
];

/** What browsers are told of htmx: nothing inline, nothing evaluated, nothing kept. */
const HTMX = JSON.stringify({
  includeIndicatorStyles: false,
  allowEval: false,
  allowScriptTags: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
});

/** A page in its frame: the menu, the way to it, its title, and a message of what was done before. */
export function Layout({ frame, page }: Readonly<{ frame: Frame; page: Page }>): JSX.Element {
  const { assets, principal, message } = frame;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <meta name="htmx-config" content={HTMX} />
        <title>{titleOf(page)}</title>
        <link rel="icon" href={assets.logo} type="image/svg+xml" />
        <link rel="stylesheet" href={assets.style} />
        {principal === undefined ? null : <script src={assets.htmx} defer />}
        {principal === undefined ? null : <script src={assets.script} defer />}
      </head>
      <body
        class={principal === undefined ? 'alone' : undefined}
        data-live-at="/admin/live"
        data-live-since={frame.since === undefined ? undefined : String(frame.since)}
      >
        <a class="skip" href="#main">
          To the content
        </a>
        {principal === undefined ? null : <Head principal={principal} logo={assets.logo} />}
        {principal === undefined ? null : <Menu frame={frame} principal={principal} crumbs={page.crumbs} />}
        <main id="main" tabIndex={-1}>
          <Crumbs page={page} />
          <h1>{page.title}</h1>
          {message === undefined ? null : <Note state={message.kind}>{message.text}</Note>}
          {page.body}
        </main>
      </body>
    </html>
  );
}

/** What tells the tabs of a browser apart: the page, and the thing that it is a part of. */
function titleOf({ title, crumbs }: Page): string {
  const thing = crumbs?.at(-1)?.name;
  return thing === undefined ? `${title} · edgeward` : `${title} · ${thing} · edgeward`;
}

function Head({ principal, logo }: Readonly<{ principal: AdminPrincipal; logo: string }>): JSX.Element {
  return (
    <header>
      <a class="brand" href="/admin/">
        <img src={logo} alt="" width={20} height={20} /> edgeward
      </a>
      <form class="search" method="get" action="/admin/search" role="search" aria-label="Everything">
        <label class="hidden" for="search">
          Search
        </label>
        <input
          id="search"
          name="q"
          type="search"
          placeholder="Address, CIDR, customer, list"
          autocomplete="off"
          data-press="/"
        />
      </form>
      <span id="live" class="live" role="status" hidden />
      <span class="who">
        <a href="/admin/account">{principal.account}</a> <span class="dim">{principal.role}</span>
      </span>
      <form class="inline" method="post" action="/admin/logout">
        <button class="quiet">Log out</button>
      </form>
    </header>
  );
}

function Menu({
  frame,
  principal,
  crumbs,
}: Readonly<{ frame: Frame; principal: AdminPrincipal; crumbs: Page['crumbs'] }>): JSX.Element {
  const shown = MENU.map(({ group, items }) => ({
    group,
    items: items.filter(({ path, scope }) => frame.addresses.has(path) && mayDo(principal, scope ?? 'read')),
  }));
  return (
    <nav aria-label="Pages">
      {shown
        .filter(({ items }) => items.length > 0)
        .map(({ group, items }) => (
          <ul key={group} aria-label={group === '' ? undefined : group}>
            {group === '' ? null : (
              <li class="group" aria-hidden="true">
                {group}
              </li>
            )}
            {items.map(({ path, name, icon, key }) => (
              <li key={path}>
                <a
                  href={`/admin${path}`}
                  aria-current={
                    isWithin(frame.path, path) || crumbs?.[0]?.href === `/admin${path}` ? 'page' : undefined
                  }
                  data-press={`g ${key}`}
                  title={`g ${key}`}
                >
                  <Icon name={icon} /> {name}
                </a>
              </li>
            ))}
          </ul>
        ))}
    </nav>
  );
}

function isWithin(path: string, menuPath: string): boolean {
  return menuPath === '/' ? path === '/' : path === menuPath || path.startsWith(`${menuPath}/`);
}

function Crumbs({ page: { crumbs, title } }: Readonly<{ page: Page }>): JSX.Element | null {
  if (crumbs === undefined) return null;
  return (
    <nav class="crumbs" aria-label="The way here">
      <ol>
        {crumbs.map(({ name, href }) => (
          <li key={name}>{href === undefined ? name : <a href={href}>{name}</a>}</li>
        ))}
        <li aria-current="page">{title}</li>
      </ol>
    </nav>
  );
}

/** The parts of one thing, one of which is shown. */
export function Tabs({
  label,
  tabs,
  path,
}: Readonly<{ label: string; tabs: readonly Readonly<{ href: string; name: string }>[]; path: string }>): JSX.Element {
  return (
    <nav class="tabs" aria-label={label}>
      <ul>
        {tabs.map(({ href, name }) => (
          <li key={href}>
            <a href={href} aria-current={href === path ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
