import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { beyondReach } from '../../../src/application/ip-control/router-reach.ts';
import type { RouterDriverReach } from '../../../src/ports/routers.ts';

const PROGRAM = { name: 'program', reach: 'machine' } as const;

function refusedOptions(here: RouterDriverReach['here'], options: Readonly<Record<string, string>>): readonly string[] {
  const drivers = [{ driver: 'shell', options: [{ name: 'transport', reach: undefined }, PROGRAM], here }];
  return Object.keys(beyondReach({ driver: 'shell', options }, { drivers, root: undefined }));
}

test('a program may be named where commands run on the router, and not where they run on the server', () => {
  const here = { option: 'transport', value: 'local' };
  assert.equal(refusedOptions(here, { transport: 'ssh', program: '/bin/sh' }), []);
  assert.equal(refusedOptions(here, { transport: 'local', program: '/bin/sh' }), ['program']);
});

test('a driver that does not say where its commands run may have none named', () => {
  assert.equal(refusedOptions(undefined, { program: '/bin/sh' }), ['program']);
});

test.run();
