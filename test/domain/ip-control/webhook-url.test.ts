import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkWebhookUrl } from '../../../src/domain/ip-control/webhook-url.ts';

for (const url of [
  'https://hooks.example.com/edgeward',
  'http://hooks.example.com',
  'https://hooks.example.com:8443/a/b?tenant=1&x=%20',
  'HTTPS://HOOKS.EXAMPLE.COM/',
  'https://bücher.example/',
  'https://192.0.2.7/hook',
  'https://[2001:db8::7]:8443/hook',
  'http://localhost:3000/hook',
]) {
  test(`${url} will do`, () => assert.is(checkWebhookUrl(url), undefined));
}

for (const [url, problem] of [
  ['', /must be an absolute http: or https: URL/],
  ['hooks.example.com/edgeward', /must be an absolute http: or https: URL/],
  ['/edgeward', /must be an absolute http: or https: URL/],
  ['//hooks.example.com/', /must be an absolute http: or https: URL/],
  ['https:hooks.example.com', /must be an absolute http: or https: URL/],
  ['https:\\\\hooks.example.com', /must be an absolute http: or https: URL/],
  ['https:///hooks.example.com', /must be an absolute http: or https: URL/],
  ['https://', /must be an absolute http: or https: URL/],
  ['https://hooks.example.com:99999/', /must be an absolute http: or https: URL/],
  ['https://[::1', /must be an absolute http: or https: URL/],
  ['https://1.2.3.256/', /must be an absolute http: or https: URL/],
  ['ftp://hooks.example.com/', /must be an absolute http: or https: URL/],
  ['file:///etc/passwd', /must be an absolute http: or https: URL/],
  ['javascript:alert(1)', /must be an absolute http: or https: URL/],
  ['https://user@hooks.example.com/', /must not hold a user name or password/],
  ['https://user:word@hooks.example.com/', /must not hold a user name or password/],
  ['https://:word@hooks.example.com/', /must not hold a user name or password/],
  [' https://hooks.example.com/', /must not hold spaces/],
  ['https://hooks.example.com/a b', /must not hold spaces/],
  ['https://hooks.example.com/\r\nx: y', /must not hold spaces or control characters/],
  [`https://hooks.example.com/${'a'.repeat(2048)}`, /must have at most 2048 characters/],
] as const) {
  test(`"${url.slice(0, 60)}" will not do`, () => assert.match(checkWebhookUrl(url) ?? 'no problem', problem));
}

test('a problem never repeats the URL, which may hold a secret', () => {
  fc.assert(
    fc.property(fc.webUrl(), fc.stringMatching(/^[A-Z]{12}$/), (url, word) => {
      const problem = checkWebhookUrl(url.replace('://', `://me:${word}@`));
      assert.ok(problem !== undefined && !problem.includes(word));
    }),
  );
});

test('what passes is a URL of one of the two schemes, without credentials', () => {
  const texts = fc.oneof(
    fc.webUrl(),
    fc.string(),
    fc.webUrl().map((url) => url.slice(3)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      if (checkWebhookUrl(text) !== undefined) return;
      const url = new URL(text);
      assert.ok(['http:', 'https:'].includes(url.protocol));
      assert.is(url.username + url.password, '');
    }),
  );
});

test.run();
