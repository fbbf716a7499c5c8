import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { repeatedFields } from '../../../src/http/middleware/repeated-fields.ts';

/** JSON before it is written: an object may have a field more than once. */
type Node = Readonly<{ members: readonly (readonly [string, Node])[] }> | readonly Node[] | string | number | null;

const name = fc.constantFrom('a', 'b', 'c', '', '"', '\\', '}', '\u00e9', '__proto__');
const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(name, fc.integer(), fc.constant(null)),
    fc.array(tie('node'), { maxLength: 4 }),
    fc.record({ members: fc.array(fc.tuple(name, tie('node')), { maxLength: 4 }) }),
  ),
}));

function textOf(value: Node, escapes: boolean): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (!('members' in value)) return `[${value.map((entry) => textOf(entry, escapes)).join(',\n')} ]`;
  const members = value.members.map(([key, member], at) => {
    const field = escapes && at % 2 === 1 ? escaped(key) : JSON.stringify(key);
    return `${field}: ${textOf(member, escapes)}`;
  });
  return `{ ${members.join(' ,')}}`;
}

function escaped(text: string): string {
  const units = text.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${units.join('')}"`;
}

function givenTwice(value: Node, path: readonly string[] = []): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (!('members' in value)) return value.flatMap((entry, at) => givenTwice(entry, [...path, String(at)]));
  return value.members.flatMap(([key, member], at) => {
    const isRepeated = value.members.findIndex(([other]) => other === key) < at;
    return [...(isRepeated ? [[...path, key].join('.')] : []), ...givenTwice(member, [...path, key])];
  });
}

function sorted(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].sort();
}

test('of any JSON the fields that are given twice are exactly those that are', () => {
  fc.assert(
    fc.property(node, fc.boolean(), (value, escapes) => {
      const text = textOf(value, escapes);
      JSON.parse(text);
      assert.equal(sorted(repeatedFields(text)), sorted(givenTwice(value)), text);
    }),
    { numRuns: 5_000 },
  );
});

test('a field that is named is named once, and only so many are', () => {
  assert.equal(repeatedFields('{"a":1,"a":2,"a":3}'), ['a']);
  const many = Array.from({ length: 1_000 }, (_, at) => `"k${at % 500}":0`).join(',');
  assert.is(repeatedFields(`{${many}}`).length, 100);
});

test('nesting of any depth is followed, and its path is cut off', () => {
  const depth = 200_000;
  const [path = ''] = repeatedFields(`${'{"a":['.repeat(depth)}{"b":1,"b":2}${']}'.repeat(depth)}`);
  assert.match(path, /^a\.0\.a\.0\./);
  assert.ok(path.length < 300);
});

test.run();
