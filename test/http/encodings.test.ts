import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { takesGzip } from '../../src/http/problems.ts';

function isTaken(accepted: string): boolean {
  const request = new IncomingMessage(new Socket());
  request.headers['accept-encoding'] = accepted;
  return takesGzip(new ServerResponse(request), 100_000);
}

for (const accepted of ['gzip', 'x-gzip', 'br , GZIP', 'gzip;q=1', 'gzip; q=1.000', 'gzip;q=0.5', 'gzip ;q = 0.010,br'])
  test(`${accepted} takes gzip`, () => assert.ok(isTaken(accepted)));

for (const accepted of ['', 'identity', 'gzipped', 'gzip;q=0', 'gzip;q=0.', 'gzip;q=0.000', 'gzip;q=2', 'gzip;q=0.5x'])
  test(`${accepted === '' ? 'nothing' : accepted} does not`, () => assert.not.ok(isTaken(accepted)));

// Read in more than one way, it takes hours.
test('a weight that is no end of digits long is read at once', () => {
  const digits = '9'.repeat(2_000_000);
  assert.equal([isTaken(`gzip;q=0.${digits}`), isTaken(`gzip;q=0.${digits}x`)], [true, false]);
});

test.run();
