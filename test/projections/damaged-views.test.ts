import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openSqliteReadModels } from '../../src/adapters/sqlite/read-models.ts';
import type { ReadModels } from '../../src/ports/read-models.ts';
import { openProjector } from '../../src/projections/engine/projector.ts';
import { plain } from '../specification.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../support/stores/embedded-log.ts';
import { randomFrom } from '../support/random.ts';
import { openViewCaches, type ViewCaches, storedDocuments, type Story, storyteller } from './projections-under-test.ts';

const test = suite<{ log: EmbeddedLog }>('views in a file that is damaged anyhow');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

const ROUNDS = 120;
const FILES = ['views.db', 'views.db', 'views.db-wal', 'views.db-shm'];
const PAGE = 4_096;

type Shown = Readonly<{ views: unknown; saved: unknown }>;

/** What readers see that look each view up, without any list: they find it by its key. */
async function shown(viewCaches: ViewCaches, readModels: ReadModels): Promise<Shown> {
  const views: Record<string, unknown> = {};
  for (const viewCache of Object.values(viewCaches)) {
    for (const { key } of await viewCache.list()) views[`${viewCache.name}/${key}`] = plain(await viewCache.get(key));
  }
  return { views, saved: await storedDocuments(readModels, viewCaches) };
}

/** Opens views as a server does that starts, and shows all of them; then once more, as they were saved. */
async function started(folder: string, log: EmbeddedLog): Promise<readonly Shown[]> {
  const showings: Shown[] = [];
  for (let start = 0; start < 2; start += 1) {
    const { readModels } = openSqliteReadModels({ file: join(folder, 'views.db'), log: log.log, clock: log.clock });
    try {
      const viewCaches = openViewCaches(readModels);
      const projector = openProjector(Object.values(viewCaches), { ...log, readModels, writes: true });
      await projector.open();
      await projector.catchUp();
      showings.push(await shown(viewCaches, readModels));
    } finally {
      await readModels.close();
    }
  }
  return showings;
}

function storyOf(random: () => number, length: number): Story {
  return Array.from({ length }, () => [Math.floor(random() * 8), Math.floor(random() * 256)] as const);
}

/** A folder with the files of a process that died: what it has written last is in the journal alone, some of it perhaps in both. */
async function leftBehind(log: EmbeddedLog, random: () => number): Promise<string> {
  const readModels = log.readModels();
  const viewCaches = openViewCaches(readModels);
  const projector = openProjector(Object.values(viewCaches), { ...log, readModels, writes: true });
  await projector.open();
  const { tell } = storyteller(log);
  const checkpoint = openSqlite(join(log.folder, 'views.db'));
  for (let turn = 0; turn < 6; turn += 1) {
    await tell(storyOf(random, 12));
    await projector.catchUp();
    if (turn === 1 || turn === 4) checkpoint.pragma('wal_checkpoint(PASSIVE)');
  }
  const folder = join(log.folder, 'left');
  mkdirSync(folder);
  for (const name of new Set(FILES)) copyFileSync(join(log.folder, name), join(folder, name));
  checkpoint.close();
  return folder;
}

const KINDS = ['cut', 'bit', 'noise', 'noise', 'zeros', 'other page', 'gone'] as const;

/** Damages one file at random; says how. */
function damage(folder: string, random: () => number): string {
  const pick = (limit: number): number => Math.floor(random() * limit);
  const name = FILES[pick(FILES.length)] ?? 'views.db';
  const kind = KINDS[pick(KINDS.length)] ?? 'cut';
  const file = join(folder, name);
  const content = readFileSync(file);
  const at = pick(content.length);
  const page = at - (at % PAGE);
  const what = `${kind} in ${name} at ${at}`;
  if (kind === 'cut') truncateSync(file, at);
  else if (kind === 'gone') rmSync(file);
  else {
    // The last page may be a part of one: frames of a write-ahead log are longer than pages.
    if (kind === 'bit') content[at] = (content[at] ?? 0) ^ (1 << pick(8));
    else if (kind === 'noise') for (let length = pick(PAGE); length >= 0; length -= 1) content[at + length] = pick(256);
    else if (kind === 'zeros') content.fill(0, page, Math.min(page + PAGE, content.length));
    else content.copy(content, page, pick(content.length / PAGE) * PAGE, undefined);
    writeFileSync(file, content);
  }
  return what;
}

test('it is refused by name, or put aside and made again: nothing wrong is ever shown', async ({ log }) => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  const random = randomFrom(seed);
  const left = await leftBehind(log, random);
  const sound = join(log.folder, 'sound');
  mkdirSync(sound);
  const [expected] = await started(sound, log);
  let [aside, refused] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const folder = join(log.folder, `round-${round}`);
    mkdirSync(folder);
    for (const name of readdirSync(left)) copyFileSync(join(left, name), join(folder, name));
    const what = `${damage(folder, random)} (seed ${seed}, round ${round})`;
    try {
      for (const showing of await started(folder, log)) assert.equal(showing, expected, what);
    } catch (error) {
      if (error instanceof assert.Assertion) throw error;
      assert.match(String(error), join(folder, 'views.db'), what);
      refused += 1;
    }
    if (existsSync(folder) && readdirSync(folder).some((name) => name.includes('.damaged-'))) aside += 1;
    rmSync(folder, { recursive: true });
  }
  console.log(`${aside} of ${ROUNDS} were put aside, ${refused} refused`);
  assert.ok(aside > ROUNDS / 10, 'most of the file is in use');
  assert.ok(refused < ROUNDS / 10, 'few damages make it look like the file of something else');
});

test.run();
