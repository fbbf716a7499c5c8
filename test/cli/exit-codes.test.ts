import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { accepted, CommandFailure, EXIT, EXIT_OF_REFUSAL } from '../../src/cli/output.ts';
import { refuse } from '../../src/kernel/decider.ts';
import { filesBelow } from '../support/files-below.ts';
import { repositoryFile } from '../support/repository.ts';

const SOURCE = repositoryFile('src/');

test('every refusal code of the rules, of the use cases and of what opens them has its exit code, and no other has', async () => {
  const used = new Set<string>();
  for (const room of ['domain', 'commands', 'application', 'cli', 'main'])
    for (const file of await filesBelow(join(SOURCE, room)))
      for (const [, code] of (await readFile(file, 'utf8')).matchAll(/\brefuse\(\s*([^,\s]+)/g)) used.add(String(code));
  assert.ok(used.size > 40, 'the refusals were found');
  const listed = Object.keys(EXIT_OF_REFUSAL).map((code) => `'${code}'`);
  assert.equal([...used].toSorted(), listed.toSorted());
});

function failureOf(code: string): CommandFailure {
  try {
    accepted(refuse(code, 'because.'));
  } catch (error) {
    if (error instanceof CommandFailure) return error;
    throw error;
  }
  throw new Error(`${code} is accepted`);
}

test('a refusal ends a command with its code, its exit code and its sentence', () => {
  for (const [code, exitCode] of [
    ['worker-busy', EXIT.failed],
    ['bad-asn', EXIT.usage],
    ['token-not-found', EXIT.notFound],
    ['subnet-overlaps', EXIT.conflict],
  ] as const) {
    const { message, ...failure } = failureOf(code);
    assert.is(message, 'because.');
    assert.equal([failure.code, failure.exitCode], [code, exitCode]);
  }
});

test('what an argument can not mean is told with the name of the argument', () => {
  const failure = failureOf('bad-cidr');
  assert.equal([failure.code, failure.exitCode, failure.message], ['usage', EXIT.usage, 'cidr: because.']);
});

test('a code that is not in the table is a failure', () => {
  assert.is(failureOf('never-heard-of').exitCode, EXIT.failed);
});

test.run();
