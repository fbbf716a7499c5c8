import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type ApiClient, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, type CommandOutcome, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { filesBelow } from '../../support/files-below.ts';
import { jpeg, pdf } from '../../support/http/multipart-form.ts';
import { type SubmissionForm, submissionOf, submitForm } from '../../http/customer/source-whitelist-examples.ts';

const LIST = 'Svc-ACME-SRC_WHITELIST';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
await addRegion(edgeward, 'us-east');
const acme = await addCustomer(edgeward, 'Acme', [], ['--allow-source-whitelist']);
const other = await addCustomer(edgeward, 'Other', [], ['--allow-source-whitelist', '--trusted']);

test.after(() => edgeward.remove());

/** Submits through a server that runs only for it; gives the requests' ids. */
async function submitted(token: string, ...forms: readonly SubmissionForm[]): Promise<readonly string[]> {
  return served(token, async (api) => {
    const ids: string[] = [];
    for (const form of forms) ids.push(submissionOf(await submitForm(api, form)).data.request_id);
    return ids;
  });
}

async function served<T>(token: string, work: (api: ApiClient) => Promise<T>): Promise<T> {
  const api = openApiClient(await edgeward.serve(), token);
  try {
    return await work(api);
  } finally {
    await api.close();
    await edgeward.stop();
  }
}

const row = z.strictObject({
  id: z.uuid(),
  customer: z.string(),
  input: z.string(),
  regions: z.array(z.string()),
  status: z.string(),
  auto_approved: z.boolean(),
  created_at: z.iso.datetime({ offset: true }),
});

async function list(...options: readonly string[]): Promise<readonly z.infer<typeof row>[]> {
  return z.array(row).parse(await edgeward.json('whitelist', 'list', ...options));
}

const held = (region: string): string => readFileSync(join(edgeward.folder, region, LIST), 'utf8');

function fails({ exitCode, err }: CommandOutcome, expected: number, message: string): void {
  assert.is(exitCode, expected, err);
  assert.match(err, message);
}

let ids: readonly string[] = [];

test('requests of all customers are listed, newest first, and can be narrowed', async () => {
  assert.equal(await list(), []);
  ids = await submitted(
    acme.token,
    { ip: '192.31.196.1', regions: [1, 2] },
    { ip: '192.31.196.2', evidence: jpeg(), fileName: 'Letter.JPG' },
    { ip: '192.31.196.3' },
  );
  const [own] = await submitted(other.token, { cidr: '192.31.196.0/28' });
  const listed = await list();
  assert.equal(
    listed.map(({ id, customer, input, status }) => [id, customer, input, status]),
    [
      [own, 'Other', '192.31.196.0/28', 'pending_deploy'],
      [ids[2], 'Acme', '192.31.196.3', 'pending_review'],
      [ids[1], 'Acme', '192.31.196.2', 'pending_review'],
      [ids[0], 'Acme', '192.31.196.1', 'pending_review'],
    ],
  );
  assert.equal(listed[3]?.regions, ['eu-west', 'us-east']);
  assert.equal((await list('--customer', 'Acme')).length, 3);
  assert.equal(
    (await list('--status', 'pending_deploy')).map(({ id }) => id),
    [own],
  );
  assert.equal(await list('--status', 'active'), []);
  const { out } = await edgeward.command('whitelist', 'list');
  assert.match(out, /^ID +CUSTOMER +INPUT +REGIONS +STATUS +AUTO_APPROVED +CREATED_AT\n/);
  assert.match(out, 'eu-west, us-east');
});

test('a request is shown with all that a reviewer needs', async () => {
  const shown = await edgeward.json('whitelist', 'show', ids[1]!.toUpperCase());
  assert.equal(
    { ...(shown as object), created_at: '' },
    {
      id: ids[1],
      customer: 'Acme',
      input: '192.31.196.2',
      prefixes: ['192.31.196.2/32'],
      status: 'pending_review',
      regions: [{ name: 'eu-west', deployment: null }],
      auto_approved: false,
      created_at: '',
      created_by: `token:${acme.tokenId}`,
      decided_at: null,
      decided_by: null,
      reason: null,
      removed_at: null,
      removed_by: null,
      evidence: {
        file_name: 'Letter.JPG',
        media_type: 'image/jpeg',
        bytes: jpeg().length,
        sha256: await evidenceHash(ids[1]!),
      },
    },
  );
});

test('for people it is a line each, without what is not there', async () => {
  const { out } = await edgeward.command('whitelist', 'show', ids[0]!);
  assert.match(out, `id: ${ids[0]}\ncustomer: Acme\ninput: 192.31.196.1\nprefixes: 192.31.196.1/32\n`);
  assert.match(out, '\nregions: eu-west, us-east\n');
  assert.match(out, `\nevidence: evidence.pdf (application/pdf, ${pdf().length} bytes, SHA-256 `);
  assert.not.match(out, 'decided');
});

async function evidenceHash(id: string): Promise<string> {
  const { evidence } = z
    .object({ evidence: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }) })
    .parse(await edgeward.json('whitelist', 'show', id));
  return evidence.sha256;
}

test('the evidence of a request is got as it was given, into a file that was not there', async () => {
  const output = join(edgeward.folder, 'letter.jpg');
  const { exitCode, out } = await edgeward.command('whitelist', 'evidence', ids[1]!, '--output', output);
  assert.is(exitCode, 0);
  assert.match(out, `image/jpeg, ${jpeg().length} bytes, SHA-256 ${await evidenceHash(ids[1]!)}`);
  assert.equal(readFileSync(output), jpeg());
  assert.is(statSync(output).mode & 0o777, 0o600);
  fails(await edgeward.command('whitelist', 'evidence', ids[1]!, '--output', output), 4, 'exists already.');
});

test('approving and rejecting are recorded once, and what was decided stays decided', async () => {
  const before = (await edgeward.events()).length;
  assert.equal(await edgeward.json('whitelist', 'approve', ids[0]!), { id: ids[0], status: 'pending_deploy' });
  const again = await edgeward.command('whitelist', 'approve', ids[0]!);
  assert.equal([again.exitCode, again.out], [0, `request ${ids[0]}: pending_deploy, as before\n`]);
  assert.equal(await edgeward.json('whitelist', 'reject', ids[1]!, '--reason', 'no contract'), {
    id: ids[1],
    status: 'rejected',
  });
  fails(await edgeward.command('whitelist', 'approve', ids[1]!), 4, 'was rejected: it has to be submitted anew.');
  fails(await edgeward.command('whitelist', 'reject', ids[0]!, '--reason', 'x'), 4, 'was approved');
  assert.equal(
    (await edgeward.events()).slice(before).map(({ type, metadata }) => [type, metadata.actor.replace(/:.*/, '')]),
    [
      ['SourceWhitelistApproved', 'admin'],
      ['SourceWhitelistRejected', 'admin'],
    ],
  );
  assert.match(JSON.stringify(await edgeward.json('whitelist', 'show', ids[1]!)), '"reason":"no contract"');
});

test('what can’t be meant is refused with its exit code', async () => {
  const nobody = '00000000-0000-4000-8000-000000000000';
  fails(await edgeward.command('whitelist', 'approve', nobody), 3, `source whitelist request ${nobody} not found.`);
  fails(await edgeward.command('whitelist', 'show', 'x'), 3, 'not found.');
  fails(await edgeward.command('whitelist', 'evidence', nobody, '--output', 'x'), 3, 'not found.');
  fails(await edgeward.command('whitelist', 'reject', ids[2]!, '--reason', ' '), 2, 'a reason has 1 to 500 characters');
  fails(await edgeward.command('whitelist', 'reject', ids[2]!), 2, '--reason');
  fails(await edgeward.command('whitelist', 'list', '--status', 'done'), 2, 'pending_review');
  fails(await edgeward.command('whitelist', 'list', '--customer', 'Nobody'), 3, 'customer Nobody not found.');
  fails(await edgeward.command('commit', 'diff', 'Acme', 'eu-west', '--list', 'OTHER'), 2, 'SRC_WHITELIST');
});

test('a commit of the whitelist is shown and run by the name of its list', async () => {
  const diff = await edgeward.command('commit', 'diff', 'Acme', 'eu-west', '--list', 'SRC_WHITELIST');
  assert.is(diff.out, `${LIST} in eu-west: 1 block\neu-west-edge1: 1 added, 0 removed\n  + 192.31.196.1/32\n`);
  const run = await edgeward.command('commit', 'run', 'Acme', 'eu-west', '--list', 'SRC_WHITELIST');
  assert.equal([run.exitCode, run.out], [0, 'SRC_WHITELIST of Acme in eu-west: success\n']);
  assert.is(held('eu-west'), '192.31.196.1/32\n');
  assert.is((await list('--customer', 'Acme'))[2]?.status, 'pending_deploy', 'the other region has not got it');
  const shown = z
    .object({ regions: z.array(z.object({ name: z.string(), deployment: z.string() })) })
    .parse(await edgeward.json('whitelist', 'show', ids[0]!));
  assert.equal(shown.regions, [
    { name: 'eu-west', deployment: 'active' },
    { name: 'us-east', deployment: 'waiting' },
  ]);
  await edgeward.json('commit', 'run', 'Acme', 'us-east', '--list', 'SRC_WHITELIST');
  assert.is((await list('--customer', 'Acme'))[2]?.status, 'active');
  const after = await edgeward.command('commit', 'diff', 'Acme', 'eu-west', '--list', 'SRC_WHITELIST');
  assert.is(after.out, `${LIST} in eu-west: 1 block\neu-west-edge1: 0 added, 0 removed\n`);
});

test('without a name it is the blackhole list', async () => {
  const { out } = await edgeward.command('commit', 'diff', 'Acme', 'eu-west');
  assert.match(out, 'Svc-ACME-BLACKHOLE in eu-west: 0 blocks');
  const listed = z
    .array(z.object({ id: z.string().nullable(), list: z.string() }))
    .parse(await edgeward.json('commit', 'list'))
    .filter(({ id }) => id !== null);
  assert.equal(
    listed.map((commit) => commit.list),
    ['SRC_WHITELIST', 'SRC_WHITELIST'],
  );
  assert.equal(await edgeward.json('commit', 'list', '--list', 'BLACKHOLE'), []);
});

test('how it was at a moment shows the whitelist, and each request’s status', async () => {
  const events = await edgeward.events();
  const at = (type: string): string => events.find((event) => event.type === type)?.metadata.at ?? '';
  const stateAt = async (instant: string): Promise<string> =>
    JSON.stringify(await edgeward.json('state', 'Acme', '--at', instant));
  const approved = await stateAt(at('SourceWhitelistApproved'));
  assert.match(approved, '"source_whitelist":{"live":["192.31.196.1/32"],"pending":["192.31.196.1/32"],"deployed":[]}');
  assert.match(
    approved,
    `{"id":"${ids[0]}","input":"192.31.196.1","regions":["eu-west","us-east"],"status":"pending_deploy"}`,
  );
  const now = await edgeward.command('state', 'Acme');
  assert.match(now.out, '  source whitelist\n    live (1 block)\n      192.31.196.1/32\n    pending (0 blocks)\n');
  assert.match(now.out, `whitelist request ${ids[0]}: 192.31.196.1 in eu-west, us-east: active\n`);
});

test('a removed request is still shown, and its evidence is still there', async () => {
  await served(acme.token, (api) => api.send(`/source-whitelist/${ids[0]}`, { method: 'DELETE' }));
  assert.equal(
    (await list('--customer', 'Acme')).map(({ id }) => id),
    [ids[2], ids[1]],
  );
  const shown = JSON.stringify(await edgeward.json('whitelist', 'show', ids[0]!));
  assert.match(shown, '"status":"removed"');
  assert.match(shown, `"removed_by":"token:${acme.tokenId}"`);
  const output = join(edgeward.folder, 'removed.pdf');
  await edgeward.json('whitelist', 'evidence', ids[0]!, '--output', output);
  assert.equal(readFileSync(output), pdf());
  fails(await edgeward.command('whitelist', 'approve', ids[0]!), 3, 'source whitelist request not found.');
});

test('verify finds evidence that was altered, or that is missing, and getting it fails', async () => {
  const clean = await edgeward.command('verify');
  assert.is(clean.exitCode, 0);
  assert.match(clean.out, ' 2 commits and 4 files of evidence checked: 0 problems');
  const hash = await evidenceHash(ids[1]!);
  const file = (await filesBelow(join(edgeward.dataDir, 'evidence'))).find((path) => path.endsWith(hash));
  writeFileSync(file!, 'something else');
  const altered = await edgeward.command('verify');
  assert.is(altered.exitCode, 1);
  assert.match(altered.out, `customer-${acme.id} revision 3: its evidence was altered`);
  const output = join(edgeward.folder, 'altered.jpg');
  fails(await edgeward.command('whitelist', 'evidence', ids[1]!, '--output', output), 1, 'was altered.');
  rmSync(file!);
  assert.match((await edgeward.command('verify')).out, `customer-${acme.id} revision 3: its evidence is missing`);
  fails(await edgeward.command('whitelist', 'evidence', ids[1]!, '--output', output), 1, 'is missing.');
  assert.not((await filesBelow(edgeward.folder)).includes(output));
});

test.run();
