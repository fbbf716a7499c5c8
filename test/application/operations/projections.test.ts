import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rebuildProjections } from '../../../src/application/operations/projections.ts';

const NAMES = ['customers', 'tokens', 'subnets'];
const unseen = (): void => undefined;

function recorder() {
  const rebuilt: string[] = [];
  const rebuild = (names: readonly string[]): Promise<void> => Promise.resolve(void rebuilt.push(...names));
  return { rebuilt, dependencies: { projections: { names: NAMES, rebuild } } };
}

test('those that are named are rebuilt, or all of them', async () => {
  const some = recorder();
  assert.equal(await rebuildProjections(['tokens'], unseen, some.dependencies), { rebuilt: ['tokens'] });
  assert.equal(some.rebuilt, ['tokens']);
  const all = recorder();
  assert.equal(await rebuildProjections('all', unseen, all.dependencies), { rebuilt: NAMES });
  assert.equal(all.rebuilt, NAMES);
});

test('where one is not there, none is rebuilt', async () => {
  const { rebuilt, dependencies } = recorder();
  assert.equal(await rebuildProjections(['tokens', 'moons'], unseen, dependencies), {
    refused: 'not-found',
    because: 'projection moons not found.',
    field: 'names',
  });
  assert.equal(rebuilt, []);
});

test.run();
