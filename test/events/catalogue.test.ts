import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ipControlEvents } from '../../src/application/ip-control/registration.ts';
import { workerPoolsEvents } from '../../src/application/worker-pools/registration.ts';
import { EVENT_CATALOGUE, STREAM_CATEGORIES } from '../../src/main/contexts.ts';
import { repositoryFile } from '../support/repository.ts';

const page = readFileSync(repositoryFile('docs/events.md'), 'utf8');
const ROW = /^\| `(?<type>\w+)` \| `(?<category>\w+)-[^`]+` \| (?<schema>\d+) \| (?<meaning>[^|]+) \|$/gm;
const rows = [...page.matchAll(ROW)].map(({ groups }) => ({ ...groups }));

test('docs/events.md has a row for every event of the catalogue, with its schema number, and no other', () => {
  assert.equal(
    rows.map(({ type, schema }) => `${type} ${schema}`).sort(),
    EVENT_CATALOGUE.map(({ type, schema }) => `${type} ${schema}`).sort(),
  );
});

test('each row of docs/events.md can be read, and names the stream category of its event and a meaning in a sentence', () => {
  const eventLines = page.split('\n').filter((line) => /^\| `[A-Z]\w+` \|/.test(line));
  assert.is(rows.length, eventLines.length);
  const categoryOf = new Map(
    Object.entries({ ...ipControlEvents, ...workerPoolsEvents }).flatMap(([category, events]) =>
      events.map(({ type }): [string, string] => [type, category]),
    ),
  );
  for (const { type, category, meaning = '' } of rows) {
    assert.is(category, categoryOf.get(type ?? ''), type);
    assert.match(meaning, /^[A-Z].*\.$/, type);
  }
});

test('the categories of the deciders are the ones under which events are registered', () => {
  const commands = repositoryFile('src/commands/');
  const files = readdirSync(commands, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const decided = files.flatMap((name) => [
    ...readFileSync(commands + name, 'utf8').matchAll(/^ {2}category: '(?<category>[^']+)',$/gm),
  ]);
  assert.equal(decided.map(({ groups }) => `${groups?.['category']}`).sort(), STREAM_CATEGORIES.toSorted());
});

test.run();
