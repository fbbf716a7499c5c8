import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ipv4Text } from '../../../src/addresses/address-text.ts';
import { assigned, disable, enable, ranges, registered } from '../../commands/ip-control/customer-examples.ts';
import { type DeploymentApplication, openDeploymentApplication } from './deployment-application.ts';

const test = suite('lists so long that they are deployed as one text');
const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const FIRST = 0x0a000000;
/** Every fourth address of the first so many. */
const [STEP, COUNT] = [4, 5_000];
const ADDRESSES = STEP * COUNT;
/** A list of so many ranges is one text, and one of fewer is blocks. */
const TEXT_FROM = 4_096;

/** What is disabled, address by address. */
type Model = boolean[];

async function openWithLongList(): Promise<Readonly<{ application: DeploymentApplication; model: Model }>> {
  const application = await openDeploymentApplication({ QUIET_PERIOD: 'PT5S', SCHEDULER_INTERVAL: 'PT1S' });
  await application.log.append('region-1', { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
  await application.log.append('customer-7', registered({ prefixLimit: 1_000_000 }), assigned(1, '10.0.0.0/15'));
  for (const router of ['core1', 'core2']) await application.addRouter(router);
  const model = Array.from({ length: ADDRESSES }, (_, at) => at % STEP === 0);
  await application.ask(disable(ranges(...model.flatMap((is, at) => (is ? [ipv4Text(FIRST + at)] : [])))));
  return { application, model };
}

/** The fewest blocks of a model, found by joining neighbours as long as there are any. */
function blocksOf(model: Model): string[] {
  const blocks: { first: number; length: number }[] = [];
  model.forEach((is, at) => {
    if (!is) return;
    let block = { first: at, length: 32 };
    for (let last = blocks.at(-1); last !== undefined && areHalves(last, block); last = blocks.at(-1)) {
      blocks.pop();
      block = { first: last.first, length: block.length - 1 };
    }
    blocks.push(block);
  });
  return blocks.map(({ first, length }) => `${ipv4Text(FIRST + first)}/${length}`);
}

function areHalves(a: Readonly<{ first: number; length: number }>, b: typeof a): boolean {
  const size = 2 ** (32 - a.length);
  return a.length === b.length && a.first + size === b.first && a.first % (2 * size) === 0;
}

/** Both routers hold exactly the model, and the newest commit says what they hold. */
async function assertDeployed({ log, history }: DeploymentApplication, model: Model): Promise<void> {
  const wanted = blocksOf(model)
    .map((block) => `${block}\n`)
    .join('');
  for (const router of ['core1', 'core2'])
    assert.ok(readFileSync(join(log.folder, router, LIST), 'utf8') === wanted, `${router} holds the model`);
  assert.is((await history()).filter((type) => type.startsWith('Commit')).at(-1), 'CommitCompleted');
  const settled = (await log.events('customer-7')).findLast(({ type }) => type === 'CommitCompleted');
  const sha256 = createHash('sha256').update(wanted).digest('hex');
  const { data } = settled ?? {};
  assert.equal(data !== undefined && 'content' in data && data.content, { prefixes: blocksOf(model).length, sha256 });
}

const places = fc.oneof(fc.nat(ADDRESSES - 1), fc.constantFrom(0, 1, 3, ADDRESSES - 1, ADDRESSES - STEP));
const change = fc.record({
  what: fc.constant('change' as const),
  at: places,
  length: fc.oneof(
    { weight: 4, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 2, max: 200 }) },
  ),
  disables: fc.boolean(),
});
const step = fc.oneof(
  { weight: 5, arbitrary: change },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('restart' as const, 'killed' as const) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('away' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constantFrom('lost' as const, 'cut' as const, 'more' as const, 'moved' as const),
      at: places,
    }),
  },
);

test('whatever changes, is stopped, killed, away or tampered with: routers hold the fewest blocks of what is disabled, and commits say so', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
      const { application, model } = await openWithLongList();
      try {
        let processes = await application.start();
        await processes.pass(7);
        await assertDeployed(application, model);
        for (const next of steps) {
          const toggled = 'at' in next ? next.at : 1;
          if (next.what === 'restart' || next.what === 'killed') {
            if (next.what === 'killed') await changeOne(application, model, 1);
            await processes.stop(next.what === 'restart');
            processes = await application.start();
          } else if (next.what === 'change') await changeRun(application, model, next);
          else {
            // What routers hold is looked at with the next commit.
            if (next.what === 'away') application.behave('core2', 'refusing');
            else tamper(join(application.log.folder, 'core1', LIST), next.what, toggled);
            await changeOne(application, model, toggled);
          }
          await processes.pass(7);
          if (next.what === 'away') {
            assert.is((await application.history()).at(-1), 'CommitFailed');
            application.behave('core2', 'fine');
            await processes.pass(65);
          }
          await assertDeployed(application, model);
        }
        await processes.stop();
      } finally {
        await application.close();
      }
    }),
    { numRuns: 8 },
  );
});

async function changeRun(
  application: DeploymentApplication,
  model: Model,
  { at: from, length, disables }: Readonly<{ at: number; length: number; disables: boolean }>,
): Promise<void> {
  const last = Math.min(from + length, ADDRESSES) - 1;
  const run = ranges(`${ipv4Text(FIRST + from)}-${ipv4Text(FIRST + last)}`);
  await application.ask(disables ? disable(run) : enable(run));
  model.fill(disables, from, last + 1);
}

/** So that there is something to commit. */
async function changeOne(application: DeploymentApplication, model: Model, at: number): Promise<void> {
  await changeRun(application, model, { at, length: 1, disables: model[at] !== true });
}

function tamper(file: string, how: 'lost' | 'cut' | 'more' | 'moved', at: number): void {
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  const [line = ''] = lines.splice(at % (lines.length - 1), 1);
  if (how === 'lost') rmSync(file);
  else if (how === 'cut') writeFileSync(file, text.slice(0, text.length - 3));
  else if (how === 'more') writeFileSync(file, `${line}\n${text}`);
  else writeFileSync(file, `${line}\n${lines.join('\n')}`);
}

test('a file whose lines are in another order is right, and is not written again', async () => {
  const { application, model } = await openWithLongList();
  for (const router of ['core1', 'core2']) {
    mkdirSync(join(application.log.folder, router), { recursive: true });
    const lines = blocksOf(model).toReversed().join('\n');
    writeFileSync(join(application.log.folder, router, LIST), `${lines}\n`);
  }
  const processes = await application.start();
  await processes.pass(7);
  assert.equal(application.changes, []);
  const settled = (await application.log.events('customer-7')).findLast(({ type }) => type === 'CommitCompleted');
  assert.match(
    JSON.stringify(settled?.data),
    /"result":"confirmed","untouched":true.*"result":"confirmed","untouched":true/,
  );
  await processes.stop();
  await application.close();
});

/** So many ranges are left. */
function toRanges(count: number): Readonly<{ at: number; length: number; disables: boolean }> {
  return { at: 0, length: STEP * (COUNT - count), disables: false };
}

test('a list that becomes too short for a text, and long enough again, is whole on either side, with what others did to its file between', async () => {
  const { application, model } = await openWithLongList();
  const processes = await application.start();
  const file = join(application.log.folder, 'core1', LIST);
  const lengths: number[] = [];
  for (const [run, how] of [
    [toRanges(TEXT_FROM), undefined],
    [toRanges(TEXT_FROM - 1), 'more'],
    [{ at: 1, length: 1, disables: true }, 'cut'],
    [{ at: 3, length: 1, disables: true }, 'moved'],
    [{ at: 1, length: 1, disables: false }, 'lost'],
  ] as const) {
    if (how !== undefined) tamper(file, how, 1);
    await changeRun(application, model, run);
    await processes.pass(7);
    await assertDeployed(application, model);
    lengths.push(blocksOf(model).length);
  }
  assert.equal(lengths, [TEXT_FROM, TEXT_FROM - 1, TEXT_FROM, TEXT_FROM + 1, TEXT_FROM]);
  await processes.stop();
  await application.close();
});

test('a router that hangs fails its commit, and holds the list when it is tried again', async () => {
  const { application, model } = await openWithLongList();
  const processes = await application.start();
  await processes.pass(7);
  await assertDeployed(application, model);
  application.behave('core2', 'silent');
  await changeOne(application, model, 1);
  await processes.pass(40);
  assert.is((await application.history()).filter((type) => type === 'CommitFailed').length, 1);
  application.behave('core2', 'fine');
  await processes.pass(65);
  await assertDeployed(application, model);
  await processes.stop();
  await application.close();
});

test.run();
