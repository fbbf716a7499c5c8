import { test } from 'uvu';
import { administratorDecider } from '../../../src/commands/ip-control/administrator.ts';
import type { AdministratorEvent } from '../../../src/events/ip-control/administrator.ts';
import { specify } from '../../specification.ts';

const { given } = specify(administratorDecider);

const create = (name: string) =>
  ({ type: 'CreateAdministrator', data: { name, secretId: `administrator-${name}` } }) as const;
const created = (name: string): AdministratorEvent => ({
  type: 'AdministratorCreated',
  data: { name, secretId: `administrator-${name}` },
});

test('an administrator is created; the event names the secret and does not hold it', () => {
  given().when(create('ada')).yields(created('ada'));
});

test('a name is taken once', () => {
  given(created('ada')).when(create('ada')).isRefused('administrator-exists', 'administrator ada exists already.');
});

test('names keep to characters that every store takes', () => {
  for (const name of ['', 'Ada', 'a b', '-a', '.a', 'a/b', 'a\n', 'ü', 'a'.repeat(65)]) {
    given().when(create(name)).isRefused('bad-administrator-name');
  }
  for (const name of ['a', '0', 'ada.l_2-x', 'a'.repeat(64)]) given().when(create(name)).yields(created(name));
});

test.run();
