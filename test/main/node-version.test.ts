import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeProblem } from '../../src/main/node-version.ts';

test('20.19, 22.14, 24 and everything later is right', () => {
  for (const version of ['20.19.0', '20.20.2', '22.14.0', '22.23.3', '24.0.0', '25.1.0', '26.10.0', '30.0.0']) {
    assert.is(nodeProblem(version), undefined, version);
  }
});

test('others are told in one line what would be right', () => {
  for (const version of ['14.21.3', '18.20.8', '20.18.3', '21.7.3', '22.13.1', '23.11.1']) {
    assert.is(
      nodeProblem(version),
      `edgeward needs Node 20.19 or a later 20, 22.14 or a later 22, or 24 or later; this is ${version}`,
    );
  }
});

test('npm is told the same', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  assert.is(engines.node, '^20.19.0 || ^22.14.0 || >=24.0.0');
});

test.run();
