import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { STREAM_CATEGORIES } from '../../src/kernel/stream-name.ts';
import { EVENT_CATALOGUE } from '../../src/main/event-catalogue.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/events.md', import.meta.url)), 'utf8');
const ROW = /^\| `(?<type>\w+)` \| `(?<category>\w+)-[^`]+` \| (?<schema>\d+) \| (?<meaning>[^|]+) \|$/gm;
const rows = [...page.matchAll(ROW)].map(({ groups }) => ({ ...groups }));

test('docs/events.md has a row for every event of the catalogue, with its schema number, and no other', () => {
  assert.equal(
    rows.map(({ type, schema }) => `${type} ${schema}`).sort(),
    EVENT_CATALOGUE.map(({ type, schema }) => `${type} ${schema}`).sort(),
  );
});

test('each row of docs/events.md can be read, and names a stream category and a meaning in a sentence', () => {
  const eventLines = page.split('\n').filter((line) => /^\| `[A-Z]\w+` \|/.test(line));
  assert.is(rows.length, eventLines.length);
  const categories: readonly (string | undefined)[] = STREAM_CATEGORIES;
  for (const { type, category, meaning = '' } of rows) {
    assert.ok(categories.includes(category), `${type}: ${category}`);
    assert.match(meaning, /^[A-Z].*\.$/, type);
  }
});

test.run();
