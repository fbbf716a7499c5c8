import { createHash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, type ApiClient, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { filesBelow } from '../../support/files-below.ts';
import { formBody, jpeg, pdf, png } from '../../support/http/multipart-form.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { listedRequests, submissionOf, submissionParts, submitForm } from './source-whitelist-examples.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
await addRegion(edgeward, 'us-east');
const url = await edgeward.serve();
const clients: ApiClient[] = [];

/** A customer that may use the source whitelist, and its client. */
async function customer(name: string, ...options: readonly string[]) {
  const added = await addCustomer(edgeward, name, [], ['--allow-source-whitelist', ...options]);
  const own = {
    ...added,
    api: openApiClient(url, added.token),
    evidence: join(edgeward.dataDir, 'evidence', String(added.id)),
  };
  clients.push(own.api);
  await waitUntil('the server knows the customer', async () => (await own.api.get('/source-whitelist')).status === 200);
  return own;
}

test.after(async () => {
  for (const api of clients) await api.close();
  await edgeward.remove();
});

const evidenceCount = async (): Promise<number> => (await filesBelow(join(edgeward.dataDir, 'evidence'))).length;

function isRefused(answer: Answer, message: string): void {
  assert.is(answer.status, 422, answer.text);
  assert.equal(answer.json, { message });
}

function isInvalid(answer: Answer, errors: Readonly<Record<string, string>>): void {
  assert.is(answer.status, 422, answer.text);
  const [first = ['', '']] = Object.entries(errors);
  const lists = Object.fromEntries(Object.entries(errors).map(([field, message]) => [field, [message]]));
  assert.equal(answer.json, { message: `${first[0]}: ${first[1]}`, errors: lists });
}

// Submitting

test('a submission is answered as the specification has it, and its evidence is kept by its SHA-256', async () => {
  const { api, evidence } = await customer('Acme');
  const answer = await submitForm(api, { ip: '192.31.196.7', regions: [2, 1] });
  assert.is(answer.status, 201);
  const { data, meta } = submissionOf(answer);
  assert.equal(
    { ...data, request_id: '' },
    {
      request_id: '',
      input: '192.31.196.7',
      regions: ['us-east', 'eu-west'],
      status: 'pending_review',
      auto_approved: false,
    },
  );
  assert.equal(meta, { used: 1, limit: 100 });
  const file = join(evidence, createHash('sha256').update(pdf()).digest('hex'));
  assert.equal(await filesBelow(evidence), [file]);
  assert.equal(await readFile(file), pdf());
});

test('a trusted account’s submission needs no review', async () => {
  const { api } = await customer('Trusted', '--trusted');
  const { data } = submissionOf(await submitForm(api, { cidr: '192.31.196.0/24' }));
  assert.equal([data.status, data.auto_approved, data.input], ['pending_deploy', true, '192.31.196.0/24']);
});

test('a range is an input with both of its ends', async () => {
  const { api } = await customer('Ranges');
  const { data } = submissionOf(await submitForm(api, { range: ['192.31.196.10', '192.31.196.20'] }));
  assert.is(data.input, '192.31.196.10-192.31.196.20');
});

test('fields may come before the file, after it, and around it', async () => {
  const { api } = await customer('Orders');
  for (const [at, order] of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
    [0, 2, 1],
  ].entries()) {
    const parts = submissionParts({ ip: `192.31.196.${at}` });
    const answer = await api.send('/source-whitelist', formBody(order.map((part) => parts[part]!)));
    assert.is(answer.status, 201, answer.text);
  }
});

test('jpg, jpeg, png and pdf are taken, whatever their case and what the client calls them', async () => {
  const { api } = await customer('Types');
  for (const [at, [fileName, evidence, contentType]] of (
    [
      ['a.jpg', jpeg(), 'image/jpeg'],
      ['b.JPEG', jpeg(), 'application/pdf'],
      ['c.png', png(), 'text/plain'],
      ['Ünïcode (1).Pdf', pdf(), 'application/octet-stream'],
    ] as const
  ).entries()) {
    const parts = submissionParts({ ip: `192.31.196.${at}`, evidence, fileName });
    const answer = await api.send(
      '/source-whitelist',
      formBody(parts.map((part) => (part.file === undefined ? part : { ...part, contentType }))),
    );
    assert.is(answer.status, 201, `${fileName}: ${answer.text}`);
  }
  const names = (await edgeward.events()).flatMap(({ data }) =>
    'evidence' in data ? [JSON.stringify(data.evidence)] : [],
  );
  assert.match(names.join(), '"fileName":"Ünïcode (1).Pdf"');
});

test('a file of exactly the largest size is taken', async () => {
  const { api } = await customer('Exact', '--evidence-max-bytes', '100000');
  assert.is((await submitForm(api, { ip: '192.31.196.1', evidence: pdf('', 100_000) })).status, 201);
  const before = await evidenceCount();
  isInvalid(await submitForm(api, { ip: '192.31.196.2', evidence: pdf('', 100_001) }), {
    evidence: 'must not be larger than 100000 bytes.',
  });
  assert.is(await evidenceCount(), before);
});

test('a region named twice counts once', async () => {
  const { api } = await customer('Twice');
  const { data } = submissionOf(await submitForm(api, { ip: '192.31.196.1', regions: [1, 2, 1] }));
  assert.equal(data.regions, ['eu-west', 'us-east']);
});

// Replays

test('the same again is answered with 200 and what is there, and counts nothing', async () => {
  const { api } = await customer('Replay');
  const first = await submitForm(api, { cidr: '192.31.196.8/32', regions: [1, 2] });
  const files = await evidenceCount();
  const again = await submitForm(api, { ip: '192.31.196.8', regions: [2, 1], fileName: 'other-name.pdf' });
  assert.is(again.status, 200);
  assert.equal(again.json, first.json);
  assert.is(await evidenceCount(), files);
  const { data } = submissionOf(first);
  await edgeward.json('whitelist', 'approve', data.request_id);
  const replay = await submitForm(api, { cidr: '192.31.196.8/32', regions: [1, 2] });
  assert.equal([replay.status, submissionOf(replay).data.status], [200, 'pending_deploy']);
});

test('what was removed or rejected may be submitted anew', async () => {
  const { api } = await customer('Anew');
  const first = submissionOf(await submitForm(api, { ip: '192.31.196.8' })).data.request_id;
  await api.send(`/source-whitelist/${first}`, { method: 'DELETE' });
  const second = await submitForm(api, { ip: '192.31.196.8' });
  assert.is(second.status, 201);
  await edgeward.json('whitelist', 'reject', submissionOf(second).data.request_id, '--reason', 'no');
  assert.is((await submitForm(api, { ip: '192.31.196.8' })).status, 201);
});

test('two identical submissions at the same moment: one 201, one 200, one request', async () => {
  const { api } = await customer('Twins');
  for (let round = 0; round < 10; round += 1) {
    const both = await Promise.all([
      submitForm(api, { ip: `192.31.196.${round}` }),
      submitForm(api, { ip: `192.31.196.${round}` }),
    ]);
    assert.equal(
      both.map(({ status }) => status).sort((a, b) => a - b),
      [200, 201],
    );
    assert.equal(both[0].json, both[1].json);
  }
  assert.is((await listedRequests(api)).meta.used, 10);
});

test('two overlapping ones at the same moment: one 201, one 422, and no file of the refused one', async () => {
  const { api, evidence } = await customer('Rivals');
  for (let round = 0; round < 10; round += 1) {
    const both = await Promise.all([
      submitForm(api, { cidr: `192.31.196.${round * 4}/30`, evidence: pdf(`a${round}`) }),
      submitForm(api, { ip: `192.31.196.${round * 4 + 1}`, evidence: pdf(`b${round}`) }),
    ]);
    assert.equal(
      both.map(({ status }) => status).sort((a, b) => a - b),
      [201, 422],
    );
    const refusal = both.find(({ status }) => status === 422);
    assert.match(refusal?.text ?? '', 'range overlaps an existing whitelist entry (192.31.196.');
  }
  assert.is((await filesBelow(evidence)).length, 10);
});

test('many at once with the same evidence: what is refused takes nothing from what was accepted', async () => {
  const { api, evidence } = await customer('Shared', '--whitelist-limit', '3');
  const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => submitForm(api, { ip: `192.31.196.${at}` })));
  assert.is(answers.filter(({ status }) => status === 201).length, 3);
  assert.is(answers.filter(({ status }) => status === 422).length, 9);
  assert.is((await filesBelow(evidence)).length, 1);
});

// What is refused by the rules, in their order

test('the limit, the size, reserved space and an overlap are refused word for word, and leave no file', async () => {
  const { api, evidence } = await customer('Rules', '--whitelist-limit', '2');
  await submitForm(api, { range: ['192.31.196.1', '192.31.196.9'], evidence: pdf('kept') });
  const cases = [
    [{ cidr: '8.8.0.0/16' }, 'prefix too broad: the maximum allowed size is /24.'],
    [{ range: ['8.8.8.0', '8.8.9.0'] }, 'prefix too broad: the maximum allowed size is /24.'],
    [{ ip: '10.11.12.13' }, 'address space 10.0.0.0/8 is reserved and cannot be whitelisted.'],
    [{ cidr: '224.0.0.0/24' }, 'address space 224.0.0.0/4 is reserved and cannot be whitelisted.'],
    [
      { cidr: '192.31.196.8/29' },
      'range overlaps an existing whitelist entry (192.31.196.1-192.31.196.9) in your account for region eu-west.',
    ],
  ] as const;
  for (const [form, message] of cases) isRefused(await submitForm(api, { ...form, evidence: pdf('refused') }), message);
  assert.is((await submitForm(api, { cidr: '192.31.196.8/29', regions: [2], evidence: pdf('kept') })).status, 201);
  for (const form of [{ ip: '192.31.196.99' }, { cidr: '8.8.0.0/16' }, { ip: '10.11.12.13' }])
    isRefused(
      await submitForm(api, { ...form, evidence: pdf('refused') }),
      'source whitelist limit reached (2 entries).',
    );
  assert.is((await filesBelow(evidence)).length, 1);
  assert.is((await filesBelow(join(edgeward.dataDir, 'evidence', 'incoming'))).length, 0);
});

test('two customers may whitelist the same address', async () => {
  const [one, two] = [await customer('One'), await customer('Two')];
  assert.is((await submitForm(one.api, { ip: '192.31.196.8' })).status, 201);
  assert.is((await submitForm(two.api, { ip: '192.31.196.8' })).status, 201);
});

// What is wrong with the form

test('exactly one of ip, range and cidr', async () => {
  const { api } = await customer('Modes');
  const message = 'exactly one of ip, range and cidr is required.';
  const none = { ip: message, range: message, cidr: message };
  isInvalid(await submitForm(api, {}), none);
  isInvalid(await submitForm(api, { ip: '192.31.196.1', cidr: '192.31.196.0/24' }), none);
  isInvalid(await submitForm(api, { ip: '192.31.196.1', range: ['192.31.196.0', '192.31.196.1'] }), none);
  const half = submissionParts({ range: ['192.31.196.1', '192.31.196.2'] }).filter(({ name }) => name !== 'range[end]');
  isInvalid(await api.send('/source-whitelist', formBody(half)), { 'range.end': 'is required.' });
});

test('addresses are strict IPv4', async () => {
  const { api } = await customer('Strict');
  for (const ip of [
    '192.31.196.01',
    '192.31.196',
    '0xc0.31.196.1',
    '3223307265',
    ' 192.31.196.1',
    '192.31.196.1/32',
    '',
  ]) {
    const answer = await submitForm(api, { ip });
    assert.is(answer.status, 422, ip);
    assert.match(answer.text, '"errors":{"ip":["');
  }
  isInvalid(await submitForm(api, { ip: '2001:db8::1' }), { ip: 'must be an IPv4 address.' });
  isInvalid(await submitForm(api, { ip: '::ffff:192.31.196.1' }), { ip: 'must be an IPv4 address.' });
  isInvalid(await submitForm(api, { cidr: '2001:db8::/32' }), { cidr: 'must be an IPv4 CIDR.' });
  isInvalid(await submitForm(api, { range: ['192.31.196.1', '2001:db8::1'] }), {
    'range.end': 'must be an IPv4 address.',
  });
  isInvalid(await submitForm(api, { cidr: '192.31.196.1/24' }), {
    cidr: '"192.31.196.1/24" has host bits set: the network is probably 192.31.196.0/24',
  });
  const swapped = await submitForm(api, { range: ['192.31.196.9', '192.31.196.1'] });
  assert.match(swapped.text, '"errors":{"range.end":["the start of a range must not be above its end');
});

test('a region is named by its number or its name, exactly', async () => {
  const { api } = await customer('Regions');
  const form = { ip: '192.31.196.1' };
  isInvalid(await submitForm(api, { ...form, regions: [] }), { regions: 'is required: one or more region ids.' });
  isInvalid(await submitForm(api, { ...form, regions: [1, 99] }), { 'regions.1': 'there is no region 99.' });
  for (const region of [
    'eu-wes',
    'EU-west',
    ' eu-west',
    '0',
    '-1',
    '01',
    '1.0',
    '1e0',
    ' 1',
    '',
    '99999999999999999999',
    'x'.repeat(1_000),
  ])
    isInvalid(await submitForm(api, { ...form, regions: [region] }), {
      'regions.0': 'must be the number or the name of a region.',
    });
  const named = submissionOf(await submitForm(api, { ...form, regions: ['eu-west', 1] }));
  assert.equal(named.data.regions, ['eu-west'], 'the same region twice is one');
});

test('a region is named by its number as well', async () => {
  const { api } = await customer('Numbered');
  assert.equal(submissionOf(await submitForm(api, { ip: '192.31.196.2', regions: ['1'] })).data.regions, ['eu-west']);
});

test('what is missing is named beside what is wrong', async () => {
  const { api } = await customer('Missing');
  const { json } = await api.send('/source-whitelist', formBody([{ name: 'ipp', value: '192.31.196.1' }]));
  assert.equal(Object.keys(Object(json).errors), ['ipp', 'ip', 'range', 'cidr', 'regions', 'evidence']);
});

test('evidence is a file of the right type by name and by content', async () => {
  const { api } = await customer('Evidence');
  const before = await evidenceCount();
  const cases = [
    [Buffer.from('GIF89a'), 'a.gif', 'must be a file of type jpg, jpeg, png or pdf.'],
    [pdf(), 'noextension', 'must be a file of type jpg, jpeg, png or pdf.'],
    [pdf(), '.pdf', 'must be a file of type jpg, jpeg, png or pdf.'],
    [Buffer.from('just text'), 'a.pdf', 'must be a jpg, png or pdf file by its content too.'],
    [Buffer.from('PK\u0003\u0004'), 'a.pdf', 'must be a jpg, png or pdf file by its content too.'],
    [png(), 'a.pdf', 'has the content of image/png, which its name denies.'],
    [pdf(), 'a.png', 'has the content of application/pdf, which its name denies.'],
    [Buffer.alloc(0), 'a.pdf', 'must not be empty.'],
    [pdf(), '../../a.pdf', 'must have a file name without a path.'],
    [pdf(), 'C:\\a.pdf', 'must have a file name without a path.'],
    [pdf(), `${'x'.repeat(252)}.pdf`, 'must have a file name of at most 255 bytes.'],
  ] as const;
  for (const [evidence, fileName, message] of cases)
    isInvalid(await submitForm(api, { ip: '192.31.196.1', evidence, fileName }), { evidence: message });
  const none = submissionParts({ ip: '192.31.196.1' }).filter(({ name }) => name !== 'evidence');
  isInvalid(await api.send('/source-whitelist', formBody(none)), { evidence: 'is required.' });
  const asText = formBody([...none, { name: 'evidence', value: '%PDF-1.7' }]);
  isInvalid(await api.send('/source-whitelist', asText), { evidence: 'must be a file, with a file name.' });
  assert.is(await evidenceCount(), before);
});

test('everything that is wrong is named at once', async () => {
  const { api } = await customer('All');
  const answer = await submitForm(api, { ip: 'x', regions: ['y'], evidence: Buffer.from('z') });
  assert.is(answer.status, 422);
  assert.match(answer.text, '"ip":[');
  assert.match(answer.text, '"regions.0":[');
  assert.match(answer.text, '"evidence":[');
});

// Who may, and how it is asked

test('without the flag every endpoint says so, before it looks at anything else', async () => {
  const closed = await addCustomer(edgeward, 'Closed');
  const api = openApiClient(url, closed.token);
  const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  for (const answer of [
    await api.get('/source-whitelist'),
    await submitForm(api, { ip: 'nonsense' }),
    await api.send('/source-whitelist', json),
    await api.send('/source-whitelist/nonsense', { method: 'DELETE' }),
  ]) {
    assert.is(answer.status, 403);
    assert.equal(answer.json, { message: 'source whitelist is not enabled for your account' });
  }
  await api.close();
});

test('without a token nothing is answered', async () => {
  const api = openApiClient(url);
  assert.is((await submitForm(api, { ip: '192.31.196.1' })).status, 401);
  assert.is((await api.get('/source-whitelist')).status, 401);
  await api.close();
});

test('another content type is refused', async () => {
  const { api } = await customer('Content');
  for (const contentType of [
    'application/json',
    'application/x-www-form-urlencoded',
    'multipart/mixed; boundary=x',
    'multipart/form-dataX; boundary=x',
  ]) {
    const { status, json } = await api.send('/source-whitelist', {
      method: 'POST',
      headers: { 'content-type': contentType },
      body: 'ip=192.31.196.1',
    });
    assert.equal([status, json], [415, { message: 'the content type must be multipart/form-data.' }], contentType);
  }
  const { status } = await api.send('/source-whitelist', { method: 'POST' });
  assert.is(status, 415);
});

test('other methods are refused with those that are there', async () => {
  const { api } = await customer('Methods');
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const { status, headers } = await api.send('/source-whitelist', { method });
    assert.equal([status, headers.allow], [405, 'GET, HEAD, POST']);
  }
  const { status, headers } = await api.send('/source-whitelist/x', { method: 'GET' });
  assert.equal([status, headers.allow], [405, 'DELETE']);
});

test('when evidence can’t be stored the answer is 503, nothing is recorded, and later it works again', async () => {
  const { api, evidence } = await customer('Unlucky');
  const incoming = join(edgeward.dataDir, 'evidence', 'incoming');
  await rm(incoming, { recursive: true });
  const { status, headers, json } = await submitForm(api, { ip: '192.31.196.1', evidence: pdf('', 300_000) });
  assert.equal([status, json], [503, { message: 'the service is temporarily unavailable.' }]);
  assert.match(String(headers['retry-after']), /^\d+$/);
  assert.equal((await listedRequests(api)).data, []);
  await mkdir(incoming);
  assert.is((await submitForm(api, { ip: '192.31.196.1', evidence: pdf('', 300_000) })).status, 201);
  assert.is((await filesBelow(evidence)).length, 1);
});

// Listing and removing

test('the list shows what is there, newest first, rejected ones too, removed ones not', async () => {
  const { api } = await customer('Lists', '--whitelist-limit', '7');
  assert.equal(await listedRequests(api), { data: [], meta: { used: 0, limit: 7 } });
  const ids: string[] = [];
  for (let at = 0; at < 4; at += 1)
    ids.push(submissionOf(await submitForm(api, { ip: `192.31.196.${at}`, regions: [1, 2] })).data.request_id);
  await edgeward.json('whitelist', 'reject', ids[1]!, '--reason', 'no contract');
  await api.send(`/source-whitelist/${ids[2]}`, { method: 'DELETE' });
  const { data, meta } = await listedRequests(api);
  assert.equal(
    data.map(({ request_id: id, status, input, regions, auto_approved: auto }) => [id, status, input, regions, auto]),
    [
      [ids[3], 'pending_review', '192.31.196.3', ['eu-west', 'us-east'], false],
      [ids[1], 'rejected', '192.31.196.1', ['eu-west', 'us-east'], false],
      [ids[0], 'pending_review', '192.31.196.0', ['eu-west', 'us-east'], false],
    ],
  );
  assert.equal(meta, { used: 2, limit: 7 });
  for (const { created_at: at } of data) assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
  assert.not.match((await api.get('/source-whitelist')).text, 'no contract');
});

test('a removed request is answered, and the second time it is not found', async () => {
  const { api, evidence } = await customer('Removes');
  const { request_id: id } = submissionOf(await submitForm(api, { ip: '192.31.196.1' })).data;
  const answer = await api.send(`/source-whitelist/${id}`, { method: 'DELETE' });
  assert.equal([answer.status, answer.json], [200, { data: { request_id: id, status: 'removed' } }]);
  assert.equal((await listedRequests(api)).data, []);
  const again = await api.send(`/source-whitelist/${id}`, { method: 'DELETE' });
  assert.equal([again.status, again.json], [404, { message: 'source whitelist request not found.' }]);
  assert.is((await filesBelow(evidence)).length, 1, 'the evidence is kept for audit');
});

test('nobody can remove another customer’s request, or see it', async () => {
  const [owner, other] = [await customer('Owner'), await customer('Stranger')];
  const { request_id: id } = submissionOf(await submitForm(owner.api, { ip: '192.31.196.1' })).data;
  for (const path of [id, 'x', '00000000-0000-4000-8000-000000000000', '%00', '..%2f']) {
    const { status, json } = await other.api.send(`/source-whitelist/${path}`, { method: 'DELETE' });
    assert.equal([status, json], [404, { message: 'source whitelist request not found.' }], path);
  }
  assert.equal((await listedRequests(other.api)).data, []);
  assert.is((await listedRequests(owner.api)).data.length, 1);
});

test('an event tells who submitted and who removed', async () => {
  const { api, tokenId } = await customer('Audit');
  const { request_id: id } = submissionOf(await submitForm(api, { ip: '192.31.196.1' })).data;
  await api.send(`/source-whitelist/${id}`, { method: 'DELETE', headers: { 'x-request-id': 'ticket-42' } });
  const events = (await edgeward.events()).filter(({ data }) => 'requestId' in data && data.requestId === id);
  assert.equal(
    events.map(({ type, metadata }) => [type, metadata.actor]),
    [
      ['SourceWhitelistSubmitted', `token:${tokenId}`],
      ['SourceWhitelistRemoved', `token:${tokenId}`],
    ],
  );
  assert.is(events[1]?.metadata.$correlationId, 'ticket-42');
});

test.run();
