import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import type { SortKey } from '../../../../src/http/admin/pages/parts/table.tsx';
import { inOrder, listQueryOf, pageOfRows, ROWS_MAX } from '../../../../src/http/admin/pages/parts/list.tsx';
import { furnish } from '../../../support/browser/furnished.ts';
import { type PagesClient, openPagesClient } from '../../../support/http/pages-client.ts';
import { type Edgeward, openEdgeward } from '../../../support/servers/edgeward-server.ts';

const lists = suite<{ edgeward: Edgeward; client: PagesClient }>('lists');

lists.before(async (context) => {
  context.edgeward = await openEdgeward();
  const { edgeward } = context;
  const { password } = z.object({ password: z.string() }).parse(await edgeward.json('admin', 'create', 'ada'));
  await edgeward.json('admin', 'create', 'grace', '--role', 'reviewer');
  await furnish(edgeward);
  context.client = openPagesClient(await edgeward.serve());
  await context.client.logIn('ada', password);
});
lists.after(async ({ edgeward, client }) => {
  await client.close();
  await edgeward.remove();
});

const ORDER = [{ key: 'of', sortBy: ({ of }: { of: SortKey }) => of }];
const ordered = (sort: string, ...keys: readonly SortKey[]): readonly SortKey[] =>
  inOrder(
    keys.map((of) => ({ of })),
    ORDER,
    listQueryOf({ sort }, ''),
  ).map(({ of }) => of);

lists('numbers in names count as numbers, case for nothing', () => {
  assert.equal(ordered('of', 'edge10', 'Edge2', 'edge1'), ['edge1', 'Edge2', 'edge10']);
});

lists('large numbers are told apart, and what has no key comes last, whichever way round', () => {
  const [less, more] = [2n ** 64n, 2n ** 64n + 1n];
  assert.equal(ordered('of', more, null, less), [less, more, null]);
  assert.equal(ordered('-of', more, null, less), [more, less, null]);
});

lists('what no column is called leaves the rows as they are', () => {
  for (const sort of ['', 'colour', '__proto__']) assert.equal(ordered(sort, 2, 1, 3), [2, 1, 3]);
});

function page(of: readonly string[], after: string) {
  return pageOfRows(of, listQueryOf({ after }, ''), (row) => row);
}

lists(
  'a page begins behind the row that ended the one before, wherever that is by now, and at its place where it is gone',
  () => {
    const rows = Array.from({ length: 2 * ROWS_MAX + 1 }, (_, at) => `row ${at}`);
    const first = page(rows, '');
    assert.equal(first, { shown: rows.slice(0, ROWS_MAX), next: first.next, total: rows.length });
    const after = String(first.next);
    assert.equal(page(rows, after).shown, rows.slice(ROWS_MAX, 2 * ROWS_MAX));
    assert.equal(page(['new', ...rows], after).shown, rows.slice(ROWS_MAX, 2 * ROWS_MAX));
    const rest = rows.filter((row) => row !== `row ${ROWS_MAX - 1}`);
    assert.equal(page(rest, after).shown, rows.slice(ROWS_MAX, 2 * ROWS_MAX));
    assert.equal(page(rows, String(page(rows, after).next)), {
      shown: rows.slice(-1),
      next: undefined,
      total: rows.length,
    });
  },
);

/** The headings of a page that are links: what they are called, where they lead, and how the list is sorted. */
function headings(html: string): readonly Readonly<{ name: string; href: string; sorted: string | undefined }>[] {
  const found = html.matchAll(/<th scope="col"([^>]*)><a href="([^"]*)">([^<]*)<\/a><\/th>/g);
  return [...found].map(([, attributes = '', href = '', name = '']) => ({
    name: name.replace(/ [↑↓]$/, ''),
    href: href.replaceAll('&amp;', '&'),
    sorted: /aria-sort="(\w+)"/.exec(attributes)?.[1],
  }));
}

/** Every list whose rows are all in memory, and what it can be sorted by; those of a log are the newest first. */
const SORTED: Readonly<Record<string, readonly string[]>> = {
  '/customers': ['Name', 'List name'],
  '/customers/1/tokens': ['Label', 'Issued', 'By', 'Last used', 'Ends', 'May'],
  '/customers/1/subnets': ['Subnet', 'Region', 'AS', 'Metro', 'Addresses', 'Enabled', 'Disabled', 'Pending'],
  '/subnets': ['Subnet', 'Customer'],
  '/regions': ['Region', 'Policy', 'Routers', 'Disabled', 'Drifted lists', 'Lists of no customer'],
  '/regions/1': [
    'Router',
    'Driver',
    'State',
    'Repair',
    'Drifted lists',
    'Lists of no customer',
    'Last difference',
    'Last repair',
  ],
  '/worker-pools': ['Pool', 'State', 'Provider', 'Account', 'Architectures', 'Active', 'Hours this month'],
  '/worker-pools/small': ['Worker', 'Phase', 'Runs for', 'Task'],
  '/scopes': ['Scope', 'Pools', 'Task hours this month', 'Work that no pool takes'],
  '/accounts': ['Name', 'Role', 'State', 'Second factor', 'Last login', 'Sessions', 'Created'],
};

for (const [path, names] of Object.entries(SORTED)) {
  lists(`${path} is sorted by the links of its headings, both ways`, async ({ client }) => {
    const links = headings((await client.get(`/admin${path}`)).text);
    assert.equal(
      links.map(({ name }) => name),
      names,
    );
    for (const { name } of links) {
      const link = links.find((known) => known.name === name);
      const first = headings((await client.get(link?.href ?? '')).text).find((known) => known.name === name);
      const again = headings((await client.get(first?.href ?? '')).text).find((known) => known.name === name);
      assert.equal(new Set([first?.sorted, again?.sorted]), new Set(['ascending', 'descending']), name);
    }
  });
}

lists('rows come in the order that the address asks for, and those that the filter leaves', async ({ client }) => {
  const names = async (query: string): Promise<readonly string[]> =>
    [...(await client.get(`/admin/accounts${query}`)).text.matchAll(/href="\/admin\/accounts\/(\w+)"/g)].map(
      ([, name = '']) => name,
    );
  assert.equal(await names('?sort=name'), ['ada', 'grace']);
  assert.equal(await names('?sort=-name'), ['grace', 'ada']);
  assert.equal(await names('?sort=-sessions'), ['ada', 'grace'], 'ada is logged in');
  assert.equal(await names('?q=REVIEW'), ['grace']);
  const none = (await client.get('/admin/accounts?q=nobody&sort=-name')).text;
  assert.ok(none.includes('No account here has “nobody” in it.'));
  assert.ok(none.includes('<input type="hidden" name="sort" value="-name"'), 'a filter keeps the order');
});

lists('the live part of a list is fetched with the same filter and order', async ({ client }) => {
  const { text } = await client.get('/admin/regions?q=eu&sort=-name');
  assert.ok(text.includes('hx-get="/admin/regions?q=eu&amp;sort=-name"'));
});

lists.run();
