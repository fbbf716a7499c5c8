// Durable appends of facts of 290 bytes, one at a time and a hundred at once, against bare better-sqlite3 (the fact as one
// JSON text, without hashes and checks) and emmett-sqlite.
// usage: node --import tsx bench/append/append.bench.ts   (ROUNDS, BENCH_FOLDER from the environment)
import { join } from 'node:path';
import { pairedRoundsAsync, reportSpeedUp } from '../measure.ts';
import { openBareLog } from './bare.ts';
import { openEmmett } from './emmett.ts';
import { benchFolder, createFacts, createSealer, type Fact, openStore, type ReadyAppend } from './events.ts';

const SINGLE = 50;
const AT_ONCE = 100;
const GROUPS = 5;
/** The first rounds run code that the engine has not compiled yet. */
const ROUNDS = { rounds: 41, warmups: 40 };

const folder = benchFolder();
const store = openStore(join(folder, 'ours.db'));
const bare = openBareLog(join(folder, 'bare.db'));
const emmett = await openEmmett(join(folder, 'emmett.db'));
const createFact = createFacts(1);
const sealed = createSealer();

await measureSingle('bare better-sqlite3', async (fact) => bare.append([fact]), 0.8);
await measureSingle('emmett-sqlite with one connection', emmett.append, 3.5);
await measureGroups(`bare transactions of ${AT_ONCE} rows`, async (facts) => bare.append(facts), 0.8);

emmett.close();
bare.db.close();
await store.close();

async function measureSingle(name: string, baseline: (fact: Fact) => Promise<unknown>, target: number): Promise<void> {
  const { ready, facts } = work(SINGLE);
  const contenders = {
    ours: async () => {
      for (const next of ready.splice(0, SINGLE)) await append(next);
    },
    baseline: async () => {
      for (const fact of facts.splice(0, SINGLE)) await baseline(fact);
    },
  };
  reportSpeedUp(
    `${SINGLE} durable appends one at a time, ${name}`,
    await pairedRoundsAsync(contenders, ROUNDS),
    target,
  );
}

async function measureGroups(
  name: string,
  baseline: (facts: readonly Fact[]) => Promise<unknown>,
  target: number,
): Promise<void> {
  const { ready, facts } = work(GROUPS * AT_ONCE);
  const contenders = {
    ours: async () => {
      for (let group = 0; group < GROUPS; group += 1) await Promise.all(ready.splice(0, AT_ONCE).map(append));
    },
    baseline: async () => {
      for (let group = 0; group < GROUPS; group += 1) await baseline(facts.splice(0, AT_ONCE));
    },
  };
  reportSpeedUp(
    `${GROUPS} times ${AT_ONCE} durable appends at once, ${name}`,
    await pairedRoundsAsync(contenders, ROUNDS),
    target,
  );
}

/** The facts of all rounds, for the baseline, and the appends for us: made before anything is measured, as a command would. */
function work(eachRound: number): Readonly<{ ready: ReadyAppend[]; facts: Fact[] }> {
  const rounds = Number(process.env.ROUNDS ?? ROUNDS.rounds) + ROUNDS.warmups;
  const facts = Array.from({ length: rounds * eachRound }, createFact);
  return { ready: facts.map(sealed), facts };
}

function append({ stream, expected, events }: ReadyAppend): Promise<unknown> {
  return store.append(stream, expected, events);
}
