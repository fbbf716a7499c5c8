import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { differenceOf } from '../../../../src/processes/ip-control/pushing/router-calls.ts';
import { ipv4Hosts } from '../../../contracts/router-driver.ts';

test('a difference names what is missing and what is extra', () => {
  const { missing, extra, difference } = differenceOf(['192.0.2.0/24', '# a remark'], ['192.0.2.0/24', '192.0.2.7/32']);
  assert.equal([missing, extra], [1, 1]);
  assert.equal(difference, { missing: ['192.0.2.7/32'], extra: ['# a remark'], more: 0 });
});

test('of a large difference the first thousand are named, what is extra first, and how many more there are', () => {
  const [held, wanted] = [ipv4Hosts(700), ipv4Hosts(900, 5000)];
  const { missing, extra, difference } = differenceOf(held, wanted);
  assert.equal([missing, extra], [900, 700]);
  assert.equal(difference, { missing: wanted.slice(0, 300), extra: held, more: 600 });
  assert.is(differenceOf(ipv4Hosts(1200), wanted).difference.missing.length, 0);
});

test('a list that a router does not have lacks all of it', () => {
  assert.equal(differenceOf('absent', ['192.0.2.7/32']).difference, { missing: ['192.0.2.7/32'], extra: [], more: 0 });
});

test('an entry in the words of a router is kept in part', () => {
  const [entry = ''] = differenceOf(['x'.repeat(5000)], []).difference.extra;
  assert.is(entry.length, 200);
});

test.run();
