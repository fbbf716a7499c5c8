import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openEvidenceFiles } from '../../../src/adapters/files/evidence.ts';
import { putEvidence } from '../../contracts/evidence.ts';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { filesBelow } from '../../support/files-below.ts';
import { BOUNDARY, formBody, pdf } from '../../support/http/multipart-form.ts';
import { openRawConnection } from '../../support/http/raw-http.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { listedRequests, submissionOf, submissionParts, submitForm } from './source-whitelist-examples.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [], ['--allow-source-whitelist']);
const evidence = join(edgeward.dataDir, 'evidence');

test.after(() => edgeward.remove());

test('a server that is killed in the middle of an upload cleans up at its next start, and lost nothing that it answered', async () => {
  const first = await edgeward.spawn(['serve']);
  const url = await first.listening();
  const api = openApiClient(url, acme.token);
  const kept = submissionOf(await submitForm(api, { ip: '192.31.196.1', evidence: pdf('kept') })).data;
  const { body } = formBody(submissionParts({ ip: '192.31.196.2', evidence: pdf('lost', 100_000) }));
  const connection = await openRawConnection(url);
  connection.send(
    `POST /api/v1/source-whitelist HTTP/1.1\r\nHost: edgeward\r\nAuthorization: Bearer ${acme.token}\r\n` +
      `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  connection.send(body.subarray(0, 50_000));
  await waitUntil('a part of it is on disk', async () => (await filesBelow(join(evidence, 'incoming'))).length > 0);
  first.child.kill('SIGKILL');
  await first.ended;
  await connection.closed;
  await api.close();
  assert.is((await filesBelow(evidence)).length, 2);

  const second = await edgeward.spawn(['serve']);
  const again = openApiClient(await second.listening(), acme.token);
  assert.equal((await filesBelow(evidence)).length, 1);
  assert.equal(
    (await listedRequests(again)).data.map(({ request_id: id }) => id),
    [kept.request_id],
  );
  await again.close();
  second.child.kill('SIGTERM');
  assert.is(await second.ended, 0);
});

test('of evidence that was stored when the process died, what an event names is kept, and nothing else', async () => {
  const api = openApiClient(await edgeward.serve(), acme.token);
  const named = pdf('named');
  assert.is((await submitForm(api, { ip: '192.31.196.9', evidence: named })).status, 201);
  await api.close();
  await edgeward.stop();
  const before = await filesBelow(evidence);
  // As a process leaves them that dies after the event, or before it.
  const store = openEvidenceFiles(evidence);
  await putEvidence(store, acme.id, named);
  await putEvidence(store, acme.id, pdf('never recorded'));
  assert.is((await filesBelow(evidence)).length, before.length + 3);
  await edgeward.serve();
  assert.equal(await filesBelow(evidence), before);
  assert.match(JSON.stringify(await edgeward.json('verify')), '"ok":true');
  await edgeward.stop();
});

test.run();
