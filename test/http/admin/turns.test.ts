import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openTurns } from '../../../src/http/admin/turns.ts';

test('between two who asked at once the event loop looks after others', async () => {
  const turn = openTurns();
  const done: string[] = [];
  const work = async (name: string): Promise<void> => {
    await turn();
    done.push(name);
    setImmediate(() => done.push(`after ${name}`));
  };
  await Promise.all(['a', 'b', 'c'].map(work));
  assert.equal(done, ['a', 'after a', 'b', 'after b', 'c']);
});

test('who asks later has a turn again', async () => {
  const turn = openTurns();
  await turn();
  let isOver = false;
  setImmediate(() => (isOver = true));
  await turn();
  assert.ok(isOver);
});

test.run();
