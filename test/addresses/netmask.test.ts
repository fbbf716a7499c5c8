// IPv4 blocks by the netmask package, fed only texts that were checked: a second opinion, and what it says in the product.
import * as fc from 'fast-check';
import { Netmask } from 'netmask';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../src/addresses/address-problem.ts';
import { formatAddress } from '../../src/addresses/address.ts';
import { firstAddress, lastAddress, rangeSize } from '../../src/addresses/range.ts';
import { cidrAround, formatCidr, parseCidr, rangeOfCidr } from '../../src/addresses/cidr.ts';

const ADDRESS = fc.nat({ max: 0xffff_ffff });

test('an IPv4 block begins, ends and counts as netmask says', () => {
  fc.assert(
    fc.property(ADDRESS, fc.nat({ max: 30 }), (value, length) => {
      const text = formatCidr(cidrAround({ version: 4, value }, length));
      const cidr = parseCidr(text);
      if (isAddressProblem(cidr)) throw new Error(`${text}: ${cidr.problem}`);
      const range = rangeOfCidr(cidr);
      const other = new Netmask(text);
      assert.is(formatAddress(firstAddress(range)), other.base);
      assert.is(formatAddress(lastAddress(range)), other.broadcast);
      assert.is(Number(rangeSize(range)), other.size);
    }),
  );
});

test('the network that was probably meant is the block around the address, for every length', () => {
  fc.assert(
    fc.property(ADDRESS, fc.nat({ max: 32 }), (value, length) => {
      const around = cidrAround({ version: 4, value }, length);
      const outcome = parseCidr(`${formatAddress({ version: 4, value })}/${length}`);
      if (isAddressProblem(outcome)) assert.ok(outcome.problem.endsWith(` is probably ${formatCidr(around)}`));
      else assert.equal(outcome, around);
    }),
    { numRuns: 2_000 },
  );
});

test.run();
