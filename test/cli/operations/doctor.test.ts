import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { addRegion, type Edgeward, openEdgeward } from '../../support/servers/edgeward-server.ts';

const REPORT = z.object({
  ok: z.boolean(),
  findings: z.array(z.object({ check: z.string(), ok: z.boolean(), about: z.string(), advice: z.string().optional() })),
});

const doctor = suite<{ edgeward: Edgeward }>('doctor');

doctor.before.each(async (context) => {
  context.edgeward = await openEdgeward();
  await addRegion(context.edgeward, 'eu-west');
  await context.edgeward.serve();
});

doctor.after.each(async ({ edgeward }) => edgeward.remove());

/** What it finds, and the exit code. */
async function examined(edgeward: Edgeward) {
  const { exitCode, out } = await edgeward.command('doctor', '--json');
  const { ok, findings } = REPORT.parse(JSON.parse(out));
  return { exitCode, ok, findings, wrong: findings.filter((finding) => !finding.ok) };
}

doctor('an installation in which nothing is wrong', async ({ edgeward }) => {
  const { exitCode, ok, findings, wrong } = await examined(edgeward);
  assert.equal(wrong, []);
  assert.is(ok, true);
  assert.is(exitCode, 0);
  assert.equal(
    [...new Set(findings.map(({ check }) => check))],
    ['program', 'settings', 'files', 'stores', 'server', 'clock', 'views', 'router', 'lists', 'webhooks', 'log'],
  );
});

doctor('everything that is wrong is named at once, each with what to do', async ({ edgeward }) => {
  await edgeward.json(
    'router',
    'add',
    'eu-west',
    'lost',
    '--driver',
    'frr',
    '--option',
    'transport=local',
    '--option',
    'vtysh=/nowhere/vtysh',
  );
  await edgeward.stop();
  chmodSync(join(edgeward.dataDir, 'events.db'), 0o644);
  const { exitCode, wrong } = await examined(edgeward);
  assert.is(exitCode, 1);
  assert.equal(
    wrong.map(({ check }) => check),
    ['files', 'server', 'router'],
  );
  const [files, server, router] = wrong;
  assert.match(files?.about ?? '', /events\.db has mode 644: others may use it$/);
  assert.match(files?.advice ?? '', /^chmod go= .*events\.db$/);
  assert.is(server?.about, 'none runs on this data directory');
  assert.match(router?.about ?? '', /^lost in eu-west: [a-z-]+: .*vtysh/);
  assert.is(router?.advice, 'edgeward router test lost');
  const { out, err } = await edgeward.command('doctor');
  assert.match(out, /^WRONG {2}router {4}lost in eu-west: /m);
  assert.match(out, /^ {4}edgeward router test lost$/m);
  assert.is(err, 'edgeward: 3 things wrong\n');
});

doctor('a store that can not be opened ends the look there, and is a finding', async ({ edgeward }) => {
  await edgeward.stop();
  rmSync(join(edgeward.dataDir, 'events.db'));
  const { exitCode, wrong } = await examined(edgeward);
  assert.is(exitCode, 1);
  assert.equal(
    wrong.map(({ check }) => check),
    ['stores'],
  );
  assert.match(wrong[0]?.about ?? '', /events\.db/);
});

doctor('bad settings end the look there, and are a finding', async () => {
  const bad = await openEdgeward({ PORT: 'eighty' });
  const { exitCode, wrong } = await examined(bad);
  assert.is(exitCode, 1);
  assert.equal(
    wrong.map(({ check }) => check),
    ['settings'],
  );
  assert.match(wrong[0]?.about ?? '', /PORT/);
  await bad.remove();
});

doctor.run();
