import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { SCOPES_OF_ROLE } from '../../../../../src/domain/ip-control/admin-roles.ts';
import { createAdministrators } from '../../../../support/http/administrators.ts';
import { adminToken, openAdminClient } from '../../../../support/http/admin-client.ts';
import { openApiClient } from '../../../../support/http/api-client.ts';
import { pdf, png } from '../../../../support/http/multipart-form.ts';
import { addCustomer, addRegion, openEdgeward } from '../../../../support/servers/edgeward-server.ts';
import { type SubmissionForm, submissionOf, submitForm } from '../../../customer/source-whitelist-examples.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [], ['--allow-source-whitelist', '--whitelist-limit', '20']);
const globex = await addCustomer(edgeward, 'Globex', [], ['--allow-source-whitelist', '--trusted']);
const administrators = await createAdministrators(edgeward, { grace: 'reviewer', joan: 'reviewer', otto: 'operator' });
const ada = await adminToken(edgeward, 'ada', SCOPES_OF_ROLE.administrator);
const url = await edgeward.serve({ LOOKUP_URL: 'https://registry.example/whois/{cidr}' });
const api = openAdminClient(url, ada.token);
const [asAcme, asGlobex] = [openApiClient(url, acme.token), openApiClient(url, globex.token)];

test.after(async () => {
  for (const client of [administrators, api, asAcme, asGlobex]) await client.close();
  await edgeward.remove();
});

const [grace, joan, otto] = [
  await administrators.logIn(url, 'grace'),
  await administrators.logIn(url, 'joan'),
  await administrators.logIn(url, 'otto'),
];

async function submit(form: SubmissionForm, client = asAcme): Promise<string> {
  return submissionOf(await submitForm(client, form)).data.request_id;
}

const statusOf = async (id: string): Promise<unknown> =>
  z.object({ data: z.object({ status: z.string() }) }).parse((await api.get(`/whitelist-requests/${id}`)).json).data
    .status;

test('the queue shows what waits, the oldest first, and leads to each with its evidence', async () => {
  assert.match((await grace.get('/admin/whitelist')).text, /Nothing waits for a review/);
  const first = await submit({ cidr: '192.31.196.0/28', evidence: png(), fileName: 'letter.png' });
  const second = await submit({ ip: '192.31.196.40' });
  const queue = (await grace.get('/admin/whitelist')).text;
  assert.ok(queue.indexOf(first) > 0 && queue.indexOf(first) < queue.indexOf(second));
  assert.match(queue, /2 requests/);
  assert.not.ok((await grace.get('/admin/whitelist?q=nobody')).text.includes(first));
  assert.ok((await grace.get('/admin/customers/1')).text.includes(first), 'the page of its customer leads to it, too');
  assert.is((await grace.get(`/admin/search?q=${first}`)).location, `/admin/whitelist/${first}`);
  const page = (await grace.get(`/admin/whitelist/${first}`)).text;
  for (const shown of ['192.31.196.0/28', 'Acme', 'eu-west', 'letter.png', '2 of 20', 'Next in the queue'])
    assert.ok(page.includes(shown), shown);
  assert.ok(page.includes('href="https://registry.example/whois/192.31.196.0%2F28"'));
  assert.ok(page.includes(`<img class="evidence" src="/admin/whitelist/${first}/evidence"`));
  const document = (await grace.get(`/admin/whitelist/${second}`)).text;
  assert.match(document, /<iframe class="evidence" sandbox="allow-scripts" src="\/admin\/evidence-viewer"/);
  assert.is((await grace.get('/admin/whitelist/00000000-0000-4000-8000-000000000000')).status, 404);
});

test('evidence is given as a file that browsers keep or show as an image, and never run', async () => {
  const id = await submit({ ip: '192.31.196.41', evidence: png(), fileName: "Brief “März” (d'Arc*).png" });
  const { status, headers, text } = await grace.get(`/admin/whitelist/${id}/evidence`);
  assert.is(status, 200);
  assert.is(headers['content-type'], 'image/png');
  const name = 'Brief%20%E2%80%9CM%C3%A4rz%E2%80%9D%20%28d%27Arc%2A%29.png';
  assert.is(headers['content-disposition'], `attachment; filename*=UTF-8''${name}`);
  assert.is(headers['content-security-policy'], "sandbox; default-src 'none'");
  assert.is(headers['cross-origin-resource-policy'], 'same-origin');
  assert.is(headers['x-content-type-options'], 'nosniff');
  assert.ok(text.includes('PNG'));
  const viewer = await grace.get('/admin/evidence-viewer');
  const policy = String(viewer.headers['content-security-policy']);
  assert.match(
    policy,
    /^sandbox allow-scripts; default-src 'none'; script-src http:\/\/127\.0\.0\.1:\d+\/admin\/assets\/;/,
  );
  assert.not.match(policy, /connect-src|allow-same-origin/);
  const page = (await otto.get(`/admin/whitelist/${id}`)).text;
  assert.match(page, /evidence:read/);
  assert.not.ok(
    page.includes('<img class="evidence"') || page.includes('Approve'),
    'an operator neither sees nor decides',
  );
  assert.is((await otto.get(`/admin/whitelist/${id}/evidence`)).status, 403);
});

test('approved, and on to the next; another person who comes later hears who and when', async () => {
  const [first, second] = [await submit({ ip: '192.31.196.50' }), await submit({ ip: '192.31.196.51' })];
  const answer = await grace.post(`/admin/whitelist/${first}/approve`, {});
  assert.is(answer.status, 303, answer.text);
  assert.is(answer.location, `/admin/whitelist/${second}`);
  assert.match((await grace.get(answer.location)).text, /192\.31\.196\.50 of Acme is approved/);
  assert.is(await statusOf(first), 'pending_deploy');
  const [decided] = (await edgeward.events()).slice(-1);
  assert.equal([decided?.type, decided?.metadata.actor], ['SourceWhitelistApproved', 'admin:grace']);
  const end = await edgeward.end();
  for (const [path, form] of [
    ['approve', {}],
    ['reject', { reason: 'not yours' }],
  ] as const) {
    const late = await joan.post(`/admin/whitelist/${first}/${path}`, form);
    assert.is(late.status, 409);
    assert.match(late.text, /This request was approved by admin:grace at \d{4}-\d\d-\d\d .* came too late/);
  }
  assert.is((await grace.post(`/admin/whitelist/${first}/approve`, {})).status, 303, 'sent twice by the same person');
  assert.is(await edgeward.end(), end);
});

test('rejected with a reason, which is asked for and kept', async () => {
  const id = await submit({ ip: '192.31.196.60' });
  for (const reason of ['', '  ', 'x'.repeat(501)]) {
    const wrong = await grace.post(`/admin/whitelist/${id}/reject`, { reason });
    assert.is(wrong.status, 422);
    assert.match(wrong.text, /id="reason-error"/);
  }
  assert.is(await statusOf(id), 'pending_review');
  const answer = await grace.post(`/admin/whitelist/${id}/reject`, { reason: 'It is out of <date>.' });
  assert.is(answer.status, 303, answer.text);
  assert.is(await statusOf(id), 'rejected');
  assert.match((await joan.get(`/admin/whitelist/${id}`)).text, /It is out of &lt;date>/);
  assert.match((await joan.get('/admin/whitelist?stage=rejected')).text, new RegExp(id));
});

test('who else has the addresses, and what became of earlier requests for them', async () => {
  await submit({ cidr: '192.31.196.128/29' }, asGlobex);
  const before = await submit({ ip: '192.31.196.130', evidence: pdf('before') });
  await grace.post(`/admin/whitelist/${before}/reject`, { reason: 'not yours' });
  const page = (await grace.get(`/admin/whitelist/${await submit({ ip: '192.31.196.130' })}`)).text;
  const [others = '', same = ''] = page
    .slice(page.indexOf('The same addresses with other'))
    .split('<h2>Other requests of');
  assert.match(others, /Globex/);
  assert.ok(same.includes(before) && /rejected/.test(same));
});

test('what its customer has removed can not be decided any more', async () => {
  const id = await submit({ ip: '192.31.196.70' });
  assert.is((await asAcme.send(`/source-whitelist/${id}`, { method: 'DELETE' })).status, 200);
  const late = await grace.post(`/admin/whitelist/${id}/approve`, {});
  assert.is(late.status, 409);
  assert.match(late.text, /This request was removed by /);
});

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('the API approves, rejects, says who was faster, and gives the very bytes of the evidence', async () => {
  const evidence = pdf('of the API');
  const [first, second] = [await submit({ ip: '192.31.196.80', evidence }), await submit({ ip: '192.31.196.81' })];
  const file = await fetch(`${url}/api/admin/v1/whitelist-requests/${first}/evidence`, {
    headers: { authorization: `Bearer ${ada.token}` },
  });
  assert.is(file.status, 200);
  assert.is(file.headers.get('content-type'), 'application/pdf');
  assert.is(sha256(new Uint8Array(await file.arrayBuffer())), sha256(evidence));
  const answers = z.object({ data: z.object({ status: z.string() }), meta: z.object({ changed: z.boolean() }) });
  const approve = `/whitelist-requests/${first}/approve`;
  assert.equal(answers.parse((await api.post(approve)).json), {
    data: { status: 'pending_deploy' },
    meta: { changed: true },
  });
  assert.is(answers.parse((await api.post(approve)).json).meta.changed, false);
  const reject = `/whitelist-requests/${second}/reject`;
  assert.is((await api.post(reject, {})).status, 422);
  assert.equal(answers.parse((await api.post(reject, { reason: 'not yours' })).json), {
    data: { status: 'rejected' },
    meta: { changed: true },
  });
  const late = await api.post(`/whitelist-requests/${second}/approve`);
  assert.is(late.status, 409);
  assert.match(late.text, /It was decided by admin:ada\+\w{8} at \d{4}-/);
});

test('a program that decides the requests of a page asks for those behind them, which have left the list', async () => {
  for (const ip of ['192.31.196.90', '192.31.196.91', '192.31.196.92']) await submit({ ip });
  const pages = z.object({
    data: z.array(z.object({ id: z.string(), input: z.string() })),
    meta: z.object({ next_after: z.string().nullable() }),
  });
  const seen: string[] = [];
  let after: string | null = '';
  while (after !== null) {
    const behind: string = after === '' ? '' : `&after=${after}`;
    const answer = await api.get(`/whitelist-requests?customer=Acme&status=pending_review&limit=2${behind}`);
    assert.is(answer.status, 200, answer.text);
    const { data, meta } = pages.parse(answer.json);
    for (const { id, input } of data) {
      seen.push(input);
      assert.is((await api.post(`/whitelist-requests/${id}/approve`)).status, 200);
    }
    after = meta.next_after;
  }
  assert.equal(seen.slice(0, 3), ['192.31.196.92', '192.31.196.91', '192.31.196.90']);
});

test.run();
