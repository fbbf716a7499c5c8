import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { customersApiAddress, type PageRequest } from '../../../src/http/admin/customers-api.ts';

function asked(url: string): PageRequest {
  const { protocol, hostname, host } = new URL(url);
  return { protocol: protocol.slice(0, -1), secure: protocol === 'https:', hostname, host };
}

/** Where customers are likely to be served, when the pages have a port of their own. */
function likely(page: string, host: string): string {
  const address = customersApiAddress(asked(page), { publicUrl: undefined, apart: { host, port: 8080 } });
  assert.is(address.isSure, false);
  return address.url;
}

const PUBLIC = 'https://edgeward.example/';

test('where it is set, that is where customers are served', () => {
  for (const apart of [undefined, { host: '127.0.0.1', port: 8080 }])
    assert.equal(customersApiAddress(asked('http://127.0.0.1:9465/'), { publicUrl: PUBLIC, apart }), {
      url: 'https://edgeward.example/api/v1',
      isSure: true,
    });
});

test('on one port, customers are served where the pages are', () => {
  const api = { publicUrl: undefined, apart: undefined };
  assert.equal(customersApiAddress(asked('https://pages.example/'), api), {
    url: 'https://pages.example/api/v1',
    isSure: true,
  });
});

test('where the pages have a port of their own, customers are served on the other one, and that is no more than likely', () => {
  assert.is(likely('http://10.0.0.7:9465/', '0.0.0.0'), 'http://10.0.0.7:8080/api/v1');
  assert.is(likely('http://localhost:9465/', '127.0.0.1'), 'http://localhost:8080/api/v1');
  assert.is(likely('http://[::1]:9465/', '::'), 'http://[::1]:8080/api/v1');
  assert.is(likely('https://pages.example/', '10.0.0.7'), 'http://10.0.0.7:8080/api/v1', 'behind a proxy of the pages');
  assert.is(likely('https://pages.example/', 'fd00::7'), 'http://[fd00::7]:8080/api/v1');
  assert.is(likely('https://pages.example/', '::'), 'http://pages.example:8080/api/v1');
});

test.run();
