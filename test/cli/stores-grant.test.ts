import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ownAuthority } from '../adapters/eventstoredb/own-authority.ts';
import { openEdgeward } from '../support/servers/edgeward-server.ts';
import { startEventStoreStandIn } from '../support/stores/eventstoredb-stand-in/stand-in.ts';

const test = suite('stores grant');

test('a login that may not read $all is told of it, is given the right once, and keeps what others have', async () => {
  const { ca, tls, remove } = await ownAuthority();
  const users = [
    { user: 'root', password: 'secret-r', groups: ['$admins'] },
    { user: 'edge', password: 'secret-e', groups: ['$ops'] },
    { user: 'other', password: 'secret-o', groups: [] },
  ];
  const server = await startEventStoreStandIn({ tls, users });
  const url = (login: string) => `esdb://${login}@localhost:${server.port}?tlsCaFile=${encodeURIComponent(ca)}`;
  const edgeward = await openEdgeward({ EVENT_STORE_URL: url('edge:secret-e') });
  const grant = (login: string, as: string) => edgeward.command('stores', 'grant', login, '--as', as, '--json');
  try {
    const refused = await edgeward.command('region', 'list');
    assert.is(refused.exitCode, 78);
    assert.match(refused.err, 'edgeward stores grant');

    const poor = await grant('edge', url('edge:secret-e'));
    assert.is(poor.exitCode, 78);
    assert.match(poor.err, '$admins');
    assert.equal(JSON.parse((await grant('other', url('root:secret-r'))).out), {
      login: 'other',
      changed: true,
      readers: ['$admins', 'other'],
    });
    const first = await grant('edge', url('root:secret-r'));
    assert.equal(JSON.parse(first.out), { login: 'edge', changed: true, readers: ['$admins', 'other', 'edge'] });
    const second = await grant('edge', url('root:secret-r'));
    assert.equal(JSON.parse(second.out), { login: 'edge', changed: false, readers: ['$admins', 'other', 'edge'] });
    assert.is(server.log.stream('$$$all').length, 2);

    assert.is((await edgeward.command('region', 'list')).exitCode, 0);
    for (const bad of ['http://host', 'sqlite:']) assert.is((await grant('edge', bad)).exitCode, 2);
    assert.is((await grant('two words', url('root:secret-r'))).exitCode, 2);
    for (const { out, err } of [refused, poor, first, second]) assert.not.match(out + err, /secret-/);
  } finally {
    await edgeward.remove();
    await server.stop();
    await remove();
  }
});

test.run();
