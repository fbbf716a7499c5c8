import { test } from 'uvu';
import { customerDecider } from '../../../src/commands/ip-control/customer.ts';
import type { CustomerCommand } from '../../../src/commands/ip-control/customer.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { specify } from '../../specification.ts';
import { assigned, block, disabled, disable, enable, enabled, list, one, registered } from './customer-examples.ts';

const { given } = specify(customerDecider);

const EVERY_SECOND = Array.from({ length: 100 }, (_, at) => `192.0.2.${at * 2}`);
const limits = new Map([
  [1, { name: 'eu-west', most: 100 }],
  [2, { name: 'us-east', most: Number.POSITIVE_INFINITY }],
]);
const owner = (prefixLimit?: number): readonly CustomerEvent[] => [
  registered(prefixLimit === undefined ? {} : { prefixLimit }),
  assigned(1, '192.0.2.0/24'),
  assigned(2, '198.51.100.0/24', 2),
];
/** As it comes over the API, with what the routers take. */
const within = (command: CustomerCommand): CustomerCommand =>
  command.type === 'ChangeAddresses' ? { ...command, data: { ...command.data, limits } } : command;
const message = (needed: number, most: number): string =>
  `this change needs ${needed} prefixes in eu-west; at most ${most} are possible.`;

test("what needs more prefixes than the region's routers take is refused, by the field that was sent", () => {
  given(...owner(), disabled(EVERY_SECOND))
    .when(within(disable(one('192.0.2.250'))))
    .isRefused('too-many-prefixes', message(101, 100));
  given(...owner(), disabled(EVERY_SECOND.slice(1)))
    .when(within(disable(list('192.0.2.0', '192.0.2.252'))))
    .isRefused('too-many-prefixes', message(101, 100));
  given(...owner(), disabled(EVERY_SECOND.slice(1)))
    .when(within(disable(one('192.0.2.0'))))
    .yields(disabled(['192.0.2.0']));
});

test("the customer's own limit counts where it is smaller, 10,000 where none was set", () => {
  given(...owner(60), disabled(EVERY_SECOND.slice(0, 60)))
    .when(within(disable(one('192.0.2.250'))))
    .isRefused('too-many-prefixes', message(61, 60));
  given(...owner(), disabled(EVERY_SECOND))
    .when(disable(one('192.0.2.250')))
    .yields(disabled(['192.0.2.250']));
});

test('a change in several regions is refused as a whole', () => {
  given(...owner(), disabled(EVERY_SECOND))
    .when(within(disable(list('192.0.2.250', '198.51.100.1'))))
    .isRefused('too-many-prefixes', message(101, 100));
});

test('a list that is too long already may shrink, or stay as long as it is', () => {
  const long = [...owner(50), disabled(EVERY_SECOND)];
  given(...long)
    .when(within(enable(one('192.0.2.0'))))
    .yields(enabled(['192.0.2.0']));
  given(...long)
    .when(within(disable(one('192.0.2.1'))))
    .yields(disabled(['192.0.2.1']));
  given(...long)
    .when(within(disable(block('192.0.2.0/24'))))
    .yields(
      disabled(
        Array.from({ length: 128 }, (_, at) => (at < 99 ? `192.0.2.${at * 2 + 1}` : ''))
          .filter(Boolean)
          .concat('192.0.2.199-192.0.2.255'),
      ),
    );
});

test('enabling is refused where the cover grows beyond the limit by it, and only there', () => {
  const whole = [...owner(60), disabled(['192.0.2.0-192.0.2.255'])];
  given(...whole)
    .when(within(enable(list(...EVERY_SECOND))))
    .isRefused('too-many-prefixes', message(103, 60));
  given(...whole)
    .when(within(enable(one('192.0.2.1'))))
    .yields(enabled(['192.0.2.1']));
});

test.run();
