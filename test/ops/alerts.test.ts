import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { z } from 'zod';
import { freePort } from '../support/free-port.ts';
import { addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const RULES = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['critical', 'warning', 'info']) }),
          annotations: z.object({ summary: z.string() }),
        }),
      ),
    }),
  ),
});
const DASHBOARD = z.object({
  panels: z.array(
    z.object({
      id: z.int(),
      type: z.string(),
      fieldConfig: z.object({ defaults: z.object({ unit: z.string() }) }).optional(),
      targets: z.array(z.object({ expr: z.string() })).optional(),
    }),
  ),
});
const TESTS = z.object({
  tests: z.array(
    z.object({ alert_rule_test: z.array(z.object({ alertname: z.string(), exp_alerts: z.unknown().optional() })) }),
  ),
});

const alerts = RULES.parse(parse(readFileSync('ops/alerts.yml', 'utf8'))).groups.flatMap(({ rules }) => rules);
const { panels } = DASHBOARD.parse(JSON.parse(readFileSync('ops/grafana-dashboard.json', 'utf8')));
const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

const ops = suite<{ edgeward: Edgeward; page: string }>('alerts and dashboard');
/** A test that needs promtool. */
const checked = (name: string, run: Parameters<typeof ops>[1]): void =>
  hasPromtool ? ops(name, run) : ops.skip(name, run);

ops.before(async (context) => {
  const port = await freePort();
  context.edgeward = await openEdgeward({ METRICS_PORT: String(port) });
  await addRegion(context.edgeward, 'eu-west');
  await context.edgeward.serve();
  context.page = await (await request(`http://127.0.0.1:${port}/metrics`)).body.text();
});

ops.after(async ({ edgeward }) => edgeward.remove());

ops('every metric that an alert or a panel names is on the page of a server', ({ page }) => {
  const named = [...alerts.map(({ expr }) => expr), ...shown].flatMap(
    (expr) => expr.match(/\b(?:edgeward|nodejs|process)_\w+/g) ?? [],
  );
  assert.ok(new Set(named).size > 25, 'they were found');
  const declared = new Map([...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]));
  for (const name of new Set(named)) {
    const family = name.replace(/_(?:bucket|count|sum)$/, '');
    assert.ok(declared.has(name) || declared.get(family) === 'histogram', `${name} is not on the page`);
  }
});

ops('every label that an alert or a panel names is one of the metrics on the page', () => {
  const known = new Set(
    [
      'instance',
      'job',
      'le',
      'region',
      'router',
      'list',
      'status',
      'outcome',
      'kind',
      'route',
      'check',
      'projection',
    ].concat(['pool', 'state', 'version', 'node', 'collector']),
  );
  const named = [...alerts.map(({ expr }) => expr), ...shown].flatMap((expr) =>
    [...expr.matchAll(/(?:by|on) \(([^)]*)\)|\{(\w+)[=!]/g)].flatMap(([, list, one]) =>
      (list ?? one ?? '').split(/,\s*/),
    ),
  );
  for (const label of named) assert.ok(known.has(label), label);
});

checked('the page is as Prometheus wants it', ({ page }) => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' });
  // Node's own metrics are named as dashboards expect them, which promtool finds fault with.
  const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('edgeward_'));
  assert.equal(ours, []);
  assert.ok(status === 0 || status === 3, stderr);
});

checked('the rules are valid, and each alert was made to fire', () => {
  execFileSync('promtool', ['check', 'rules', 'ops/alerts.yml'], { stdio: 'pipe' });
  execFileSync('promtool', ['test', 'rules', 'ops/alerts.test.yml'], { stdio: 'pipe' });
  const { tests } = TESTS.parse(parse(readFileSync('ops/alerts.test.yml', 'utf8')));
  const fired = tests.flatMap(({ alert_rule_test: of }) =>
    of.filter(({ exp_alerts: expected }) => expected !== undefined).map(({ alertname }) => alertname),
  );
  assert.equal(fired.toSorted(), alerts.map(({ alert }) => alert).toSorted());
});

checked('every panel has a unit and an expression that Prometheus can read', async () => {
  assert.is(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const panel of panels) if (panel.type !== 'row') assert.ok(panel.fieldConfig?.defaults.unit, String(panel.id));
  const folder = await temporaryFolder();
  const file = join(folder.path, 'panels.yml');
  const rules = shown.map((expr, index) => ({
    record: `panel:${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }));
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  execFileSync('promtool', ['check', 'rules', file], { stdio: 'pipe' });
  await folder.remove();
});

ops('what to do about each alert stands in the page for operators', () => {
  const page = readFileSync('docs/operators.md', 'utf8');
  for (const { alert } of alerts) assert.ok(page.includes(`| \`${alert}\` |`), alert);
});

ops.run();
