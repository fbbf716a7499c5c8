import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { regionLimits } from '../../../../src/domain/ip-control/region-limits.ts';
import { createOpenRouter, ROUTER_DRIVERS } from '../../../../src/adapters/routers/open-router.ts';
import { routerContext } from '../../../support/routers/router-context.ts';
import { fails } from '../../../contracts/router-driver.ts';

const open = createOpenRouter(routerContext());

const SSH = {
  transport: 'ssh',
  host: 'router.example.net',
  user: 'edgeward',
  key: 'secret:router-core1',
  host_key: `SHA256:${'A'.repeat(43)}`,
};

const ACCEPTED: readonly (readonly [string, string, Record<string, string>])[] = [
  ['local', 'frr', { transport: 'local' }],
  [
    'local, all',
    'frr',
    { transport: 'local', vtysh: '/usr/bin/vtysh', pathspace: 'edge-1', daemon: 'zebra', write_memory: 'false' },
  ],
  ['SSH', 'frr', SSH],
  [
    'SSH, with more',
    'frr',
    { ...SSH, port: '2222', passphrase: '/run/secrets/passphrase', command_prefix: '["sudo","-n"]' },
  ],
  ['SSH, IPv6', 'frr', { ...SSH, host: '2001:db8::1' }],
  ['a directory', 'file', { path: '/srv/lists' }],
];

for (const [what, driver, options] of ACCEPTED) {
  test(`${driver}: ${what}`, async () => {
    await open({ name: 'core1', driver, options }).close();
  });
}

const REFUSED: readonly (readonly [string, Record<string, string | undefined>, string])[] = [
  ['no transport', {}, 'option transport must be local or ssh'],
  ['another transport', { transport: 'telnet' }, 'option transport must be local or ssh'],
  [
    'SSH without a host',
    { ...SSH, host: undefined },
    'option host is missing; it must be a host name or an IP address',
  ],
  ['SSH without a user', { ...SSH, user: undefined }, 'option user is missing; it must be a user name'],
  ['no host key', { ...SSH, host_key: undefined }, 'option host_key is missing; it must be the public host key'],
  ['a host key that is none', { ...SSH, host_key: 'yes' }, 'option host_key must be the public host key'],
  [
    'no way to log in',
    { ...SSH, key: undefined },
    'option key is missing; it must be secret:<id> or the absolute path of a file',
  ],
  ['two ways to log in', { ...SSH, password: 'secret:b' }, 'option password must be left out, as key is given'],
  [
    'a passphrase without a key',
    { ...SSH, key: undefined, password: 'secret:a', passphrase: 'secret:b' },
    'option passphrase must be left out',
  ],
  [
    'a password itself',
    { ...SSH, key: undefined, password: 'hunter2' },
    'option password must be secret:<id> or the absolute path of a file',
  ],
  ['a port that is none', { ...SSH, port: '65536' }, 'option port must be a port number from 1 to 65535'],
  [
    'an option of the other transport',
    { transport: 'local', host: 'router' },
    'option host goes only with transport=ssh',
  ],
  ['an option that is unknown', { ...SSH, hots: 'router' }, 'option "hots" is unknown; the options are transport, '],
  ['an option of vtysh as its path', { ...SSH, vtysh: '-c' }, 'option vtysh must be the path of vtysh'],
  ['a pathspace that leads elsewhere', { ...SSH, pathspace: '../x' }, 'option pathspace must be a name'],
  ['a relative directory of sockets', { ...SSH, vty_socket: 'frr' }, 'option vty_socket must be an absolute path'],
  [
    'pathspace and directory of sockets',
    { ...SSH, vty_socket: '/x', pathspace: 'y' },
    'option pathspace must be left out',
  ],
  [
    'a command prefix that is no list',
    { ...SSH, command_prefix: 'sudo -n' },
    'option command_prefix must be a JSON list of words',
  ],
  ['an empty command prefix', { ...SSH, command_prefix: '[]' }, 'option command_prefix must be a JSON list of words'],
  ['a daemon that is none', { ...SSH, daemon: 'bgpd; reboot' }, 'option daemon must be the name of a daemon'],
  ['yes and no', { ...SSH, write_memory: 'yes' }, 'option write_memory must be true or false'],
];

for (const [what, given, message] of REFUSED) {
  test(`frr refuses ${what}`, async () => {
    const options = Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    const failure = await fails('bad-option', (async () => open({ name: 'core1', driver: 'frr', options }))());
    assert.ok(failure.message.startsWith('router core1 (frr): '), failure.message);
    assert.ok(failure.message.includes(message), failure.message);
    assert.not.match(failure.message, 'hunter2');
  });
}

test('all that is wrong is named at once', async () => {
  const options = { transport: 'ssh', host: '', user: 'edgeward', key: 'x' };
  const failure = await fails('bad-option', (async () => open({ name: 'core1', driver: 'frr', options }))());
  for (const option of ['host', 'key', 'host_key']) assert.match(failure.message, new RegExp(`option ${option} `));
});

test('an unknown driver: the message names those that there are', async () => {
  const failure = await fails('bad-option', (async () => open({ name: 'core1', driver: 'cisco', options: {} }))());
  assert.match(failure.message, /driver "cisco" is unknown; the drivers are file, frr/);
});

test('help texts: every option has a meaning; the secrets, the required ones, and what belongs to a choice are known', () => {
  for (const { options } of ROUTER_DRIVERS)
    for (const { name, meaning } of options) assert.ok(meaning.length > 5, name);
  const frr = ROUTER_DRIVERS.find(({ driver }) => driver === 'frr')?.options ?? [];
  const named = (filter: (option: (typeof frr)[number]) => boolean): readonly string[] =>
    frr.filter(filter).map(({ name }) => name);
  assert.equal(
    named(({ secret }) => secret),
    ['key', 'passphrase', 'password'],
  );
  assert.equal(
    named(({ required }) => required),
    ['transport', 'host', 'user', 'host_key'],
  );
  assert.equal(
    named(({ onlyWith }) => onlyWith === 'transport=ssh'),
    ['host', 'port', 'user', 'key', 'passphrase', 'password', 'host_key', 'connect_seconds', 'idle_seconds'],
  );
});

test('the limit of a region knows how long a list each driver takes when its options say nothing', () => {
  for (const { driver, options } of ROUTER_DRIVERS) {
    const meaning = options.find(({ name }) => name === 'max_entries')?.meaning ?? '';
    const byDefault = /\((\d+)\)$/.exec(meaning)?.[1];
    const limits = regionLimits([{ regionId: 1, name: 'eu-west', routers: [{ driver, options: {} }] }]);
    assert.is(limits.get(1)?.most, byDefault === undefined ? Number.POSITIVE_INFINITY : Number(byDefault), driver);
  }
});

test.run();
