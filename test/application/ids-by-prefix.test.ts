import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isNamedBy, severalBegin } from '../../src/application/ids-by-prefix.ts';

test('an id is named by its beginning, in letters of either size; by nothing none is', () => {
  assert.ok(isNamedBy('4f0c-1', '4F'));
  assert.ok(isNamedBy('4f0c-1', '4f0c-1'));
  assert.not(isNamedBy('4f0c-1', 'f0'));
  assert.not(isNamedBy('4f0c-1', ''));
});

test('candidates are listed, the first ten of many', () => {
  const candidates = Array.from({ length: 12 }, (_, at) => ({ id: `4f${at}`, about: 'acme' }));
  assert.is(
    severalBegin('4f', 'tokens', candidates.slice(0, 2)),
    '2 tokens begin with 4f: 4f0 (acme), 4f1 (acme); give more of the id.',
  );
  const said = severalBegin('4f', 'tokens', candidates);
  assert.match(said, /^12 tokens begin with 4f: .*4f9 \(acme\), 2 more; give more of the id\.$/);
});

test.run();
