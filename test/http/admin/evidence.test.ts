import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { evidenceHeaders } from '../../../src/http/admin/evidence.ts';

test('a file whose name has half a character, which was taken once, is still given', () => {
  const evidence = { sha256: '0'.repeat(64), bytes: 3, mediaType: 'application/pdf', fileName: '\ud83da.pdf' } as const;
  const headers = evidenceHeaders({ requestId: 'r', evidence, copy: () => Promise.resolve(undefined) });
  assert.is(headers['Content-Disposition'], "attachment; filename*=UTF-8''%EF%BF%BDa.pdf");
});

test.run();
