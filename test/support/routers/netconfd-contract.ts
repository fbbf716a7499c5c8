import {
  COMMIT,
  editCandidate,
  getConfig,
  LOCK_CANDIDATE,
  UNLOCK_CANDIDATE,
} from '../../../src/adapters/routers/netconf/operations.ts';
import { element, type XmlElement } from '../../../src/adapters/xml.ts';
import type { RouterDriver } from '../../../src/ports/routers.ts';
import { never, type RouterUnderTest } from '../../contracts/router-driver.ts';
import { type LabNetconfd, openNetconf } from './netconfd.ts';
import { waitUntil } from '../wait-until.ts';

const JUNOS = 'http://xml.juniper.net/xnm/1.1/xnm';
const OPENCONFIG = 'http://openconfig.net/yang/routing-policy';

type Content = string | readonly XmlElement[];

const junos = (name: string, content: Content): XmlElement => element(JUNOS, name, content);
const openconfig = (name: string, content: Content): XmlElement => element(OPENCONFIG, name, content);

/** A list of the junos dialect in which a prefix has host bits and others are applied from elsewhere. */
export function foreignJunos(list: string): XmlElement {
  const items = ['10.1.2.3/8', '198.51.100.0/24'].map((prefix) => junos('prefix-list-item', [junos('name', prefix)]));
  const planted = junos('prefix-list', [junos('name', list), ...items, junos('apply-path', 'interfaces <*>')]);
  return junos('configuration', [junos('policy-options', [planted])]);
}

/** A set of the openconfig dialect in which prefixes match others than themselves. */
export function foreignOpenconfig(list: string): XmlElement {
  const prefix = (text: string, range: string): XmlElement => {
    const leaves = [openconfig('ip-prefix', text), openconfig('masklength-range', range)];
    return openconfig('prefix', [...leaves, openconfig('config', leaves)]);
  };
  const prefixes = [
    prefix('10.0.0.0/8', '8..32'),
    prefix('192.0.2.0/24', '25..28'),
    prefix('198.51.100.0/24', 'exact'),
  ];
  const name = openconfig('name', list);
  const set = openconfig('prefix-set', [name, openconfig('config', [name]), openconfig('prefixes', prefixes)]);
  return openconfig('routing-policy', [openconfig('defined-sets', [openconfig('prefix-sets', [set])])]);
}

const FOREIGN = { junos: foreignJunos, openconfig: foreignOpenconfig } as const;

/** Changes what runs, by another client than the driver. */
export async function configure(netconfd: LabNetconfd, config: XmlElement): Promise<void> {
  const session = await netconfd.session();
  for (const operation of [LOCK_CANDIDATE, editCandidate(config, true), COMMIT, UNLOCK_CANDIDATE])
    await session.call(operation, never);
  await session.close();
}

/** A server of the lab for the contract of all drivers. */
export function netconfUnderTest(
  driver: 'junos' | 'openconfig',
  netconfd: LabNetconfd,
  capacity: number,
  open: () => RouterDriver = () => openNetconf(driver, netconfd),
): RouterUnderTest {
  return {
    open,
    capacity,
    runs: 4,
    plantForeign: (list) => configure(netconfd, FOREIGN[driver](list)),
    changes: netconfd.changes,
    stop: netconfd.stop,
  };
}

/** Nothing is left of changes that are over: no lock, no commit that waits, nothing in the candidate. */
export async function isSettled(netconfd: LabNetconfd): Promise<boolean> {
  const session = await netconfd.session();
  try {
    // The server sees the end of a session that was cut a moment later than its client.
    await waitUntil('the lock is free', () =>
      session.call(LOCK_CANDIDATE, never).then(
        () => true,
        () => false,
      ),
    );
    const everything = openconfig('routing-policy', []);
    const contents = [];
    for (const filter of [junos('configuration', []), everything]) {
      for (const source of ['running', 'candidate'] as const) {
        const { reply } = await session.call(getConfig(source, filter), never);
        contents.push(JSON.stringify(reply.children));
      }
    }
    await session.call(UNLOCK_CANDIDATE, never);
    return contents[0] === contents[1] && contents[2] === contents[3];
  } finally {
    await session.close();
  }
}
