import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CommandFailure } from '../../../src/cli/output.ts';
import { parseDocumentText, readDocument } from '../../../src/cli/worker-pools/documents.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function refusal(text: string): string {
  try {
    parseDocumentText('--limits', text);
  } catch (error) {
    if (error instanceof CommandFailure && error.exitCode === 2) return error.message;
    throw error;
  }
  throw new Error(`taken: ${text.slice(0, 100)}`);
}

test('YAML and JSON are read as data', () => {
  const wanted = { a: 1, b: ['x', true, null], c: { 'd e': 1.5 } };
  assert.equal(parseDocumentText('x', 'a: 1\nb:\n  - x\n  - true\n  - null\nc: {"d e": 1.5}\n'), wanted);
  assert.equal(parseDocumentText('x', JSON.stringify(wanted, undefined, '\t')), wanted);
  assert.equal(parseDocumentText('x', 'key: |\n  -----BEGIN\n\n  [[[[\n'), { key: '-----BEGIN\n\n[[[[\n' });
  assert.equal(parseDocumentText('x', 'a: &x [1]\nb: *x\n'), { a: [1], b: [1] });
});

test('words that older YAML takes for booleans and dates stay words', () => {
  assert.equal(parseDocumentText('x', 'a: yes\nb: on\nc: 2026-11-27\nd: 0o17\ne: 017\n'), {
    a: 'yes',
    b: 'on',
    c: '2026-11-27',
    d: 15,
    e: 17,
  });
});

test('a long line of many fields is not deep', () => {
  const fields = Array.from({ length: 500 }, (_, index) => `k${index}: ${index}`).join(', ');
  assert.is(Object.keys(parseDocumentText('x', `{${fields}}`) as object).length, 500);
});

test('tags are refused, whatever they mean', () => {
  assert.is(refusal('a: !!js/function "x"'), "--limits: tags such as !!js/function can't be used");
  assert.match(refusal('a: !foo 5'), "can't be used");
  assert.match(refusal('a: !!str 5'), "can't be used");
  assert.match(refusal('!!map {a: 1}'), "can't be used");
});

test('aliases that would grow without measure are refused', () => {
  let bomb = 'a0: &a0 [x,x,x,x,x,x,x,x,x]\n';
  for (let level = 1; level < 9; level += 1) {
    bomb += `a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(',')}]\n`;
  }
  assert.match(refusal(bomb), 'its aliases expand to too much');
  assert.match(refusal('a: *nowhere'), 'nowhere');
});

test('what is nested deeper than anyone writes is refused before it is built', () => {
  for (const deep of ['['.repeat(200_000), '- '.repeat(200_000), '? '.repeat(200_000), '{a: '.repeat(200_000)]) {
    assert.is(refusal(deep), '--limits: it is nested too deeply');
  }
  assert.match(refusal('- x\n'.repeat(200_000)), 'it has more than 100000 parts');
});

test('mistakes are told with their line', () => {
  assert.match(refusal('a: 1\nb: [1, 2\n'), /^--limits: line \d+, column \d+: /);
  assert.match(refusal('a: 1\n\tb: 2\n'), /^--limits: line 2, column 1: /);
  assert.is(refusal('a: 1\nb: 2\na: 3\n'), '--limits: line 3, column 1: key a is there twice');
  assert.is(refusal('{"a": 1, "a": 2}'), '--limits: line 1, column 10: key a is there twice');
  assert.match(refusal('? [1, 2]\n: x\n'), 'keys must be plain text');
  assert.match(refusal('a: 1\n---\nb: 2\n'), 'more than one document');
  assert.is(refusal(''), '--limits: there is nothing in it');
});

test('a prototype can not be reached through a key', () => {
  const value = parseDocumentText('x', '__proto__: {polluted: true}\n');
  assert.is(Object.getPrototypeOf(value), Object.prototype);
  assert.is(Reflect.get({}, 'polluted'), undefined);
});

test('files are read up to 1 MiB, as UTF-8', async () => {
  const folder = await temporaryFolder();
  try {
    const file = join(folder.path, 'limits.yaml');
    await writeFile(file, 'max_active_instances: 3\n');
    assert.equal(await readDocument('--limits', file), { max_active_instances: 3 });
    await writeFile(file, `a: "${'x'.repeat(1024 * 1024)}"`);
    await fails(file, /has more than 1 MiB$/);
    await writeFile(file, Uint8Array.from([0x61, 0x3a, 0x20, 0xff]));
    await fails(file, /is not UTF-8 text$/);
    await fails(join(folder.path, 'missing.yaml'), /can't be read: ENOENT/);
    const directory = join(folder.path, 'directory');
    await mkdir(directory);
    await fails(directory, /can't be read: EISDIR/);
  } finally {
    await folder.remove();
  }
});

async function fails(file: string, message: RegExp): Promise<void> {
  await readDocument('--limits', file).then(
    () => assert.unreachable(`${file} was read`),
    (error: unknown) => {
      assert.ok(error instanceof CommandFailure);
      assert.match(error.message, message);
    },
  );
}

test.run();
