import { posix } from 'node:path';
import { importsOf, maskSource } from './source-text.ts';

/** One source file, its path from the root of the repository. */
export type SourceFile = Readonly<{ path: string; text: string }>;

export type Room =
  | 'kernel'
  | 'addresses'
  | 'concurrency'
  | 'ports'
  | 'events'
  | 'domain'
  | 'commands'
  | 'projections'
  | 'processes'
  | 'application'
  | 'http'
  | 'cli'
  | 'adapters'
  | 'config'
  | 'main';

type Rule = Readonly<{
  /** Rooms that may be imported, besides the own one. */
  rooms: readonly Room[];
  /** Rooms of which only types may be imported. */
  types?: readonly Room[];
  /** Single files beyond those rooms. */
  files?: readonly string[];
  packages: readonly string[];
  /** Built-in modules; `all`, or these. */
  builtIn: 'all' | readonly string[];
}>;

const TEMPORAL = '@js-temporal/polyfill';
const XML = ['saxes', '@xmldom/xmldom'];
const SQLITE = ['better-sqlite3', 'better-sqlite3-node-20'];
const DRIVERS = [...SQLITE, 'mongodb', '@eventstore/db-client', '@grpc/grpc-js', 'ssh2', ...XML, 'aws4fetch', 'undici'];
const BELOW_COMMANDS: readonly Room[] = ['kernel', 'addresses', 'concurrency', 'ports', 'events', 'domain'];
const BELOW_USE_CASES: readonly Room[] = ['kernel', 'addresses', 'domain', 'application'];
const TYPES_FOR_USE_CASES: readonly Room[] = ['commands', 'projections', 'ports', 'events'];

/** What the pages for administrators are made with. */
const PAGES = ['preact', 'preact-render-to-string', 'uqr'];

/** Who may import what. Data flow down: nothing is imported from a room further down. */
export const IMPORT_TABLE: Readonly<Record<Room, Rule>> = {
  kernel: { rooms: [], packages: [TEMPORAL], builtIn: [] },
  addresses: { rooms: [], packages: ['netmask'], builtIn: [] },
  concurrency: { rooms: ['kernel'], files: ['src/ports/clock.ts'], packages: [], builtIn: 'all' },
  ports: { rooms: ['kernel', 'addresses'], packages: [TEMPORAL], builtIn: [] },
  events: { rooms: ['kernel'], packages: ['zod'], builtIn: ['node:crypto'] },
  domain: { rooms: ['kernel', 'addresses', 'events'], packages: ['zod', TEMPORAL], builtIn: ['node:crypto'] },
  commands: { rooms: BELOW_COMMANDS, packages: [], builtIn: 'all' },
  projections: { rooms: BELOW_COMMANDS, packages: [], builtIn: 'all' },
  processes: { rooms: [...BELOW_COMMANDS, 'commands'], packages: [TEMPORAL], builtIn: 'all' },
  application: {
    rooms: [...BELOW_COMMANDS, 'commands', 'projections'],
    packages: ['otpauth', TEMPORAL],
    builtIn: 'all',
  },
  http: {
    rooms: BELOW_USE_CASES,
    types: TYPES_FOR_USE_CASES,
    packages: [...PAGES, 'express', 'express-rate-limit', 'busboy', 'file-type', 'prom-client', 'zod', TEMPORAL],
    builtIn: 'all',
  },
  cli: {
    rooms: BELOW_USE_CASES,
    types: TYPES_FOR_USE_CASES,
    packages: ['commander', 'cli-progress', 'yaml', 'zod', TEMPORAL],
    builtIn: 'all',
  },
  adapters: {
    rooms: ['kernel', 'addresses', 'concurrency', 'ports'],
    files: [
      'src/events/codec.ts',
      // What the formats of the clouds' documents are written with.
      'src/events/worker-pools/document-checks.ts',
      'src/events/worker-pools/fields.ts',
    ],
    packages: [...DRIVERS, 'pino', 'pino-pretty', 'zod', TEMPORAL],
    builtIn: 'all',
  },
  config: { rooms: [], packages: ['zod', TEMPORAL], builtIn: [] },
  main: {
    rooms: [
      ...BELOW_COMMANDS,
      'commands',
      'projections',
      'processes',
      'application',
      'http',
      'cli',
      'adapters',
      'config',
    ],
    packages: [],
    builtIn: 'all',
  },
};

const CONTEXTS = ['ip-control', 'worker-pools'];
/** Rooms that are handed time and randomness, and never fetch them. */
const PURE: readonly Room[] = [
  'kernel',
  'addresses',
  'events',
  'domain',
  'commands',
  'projections',
  'processes',
  'application',
];
/** The chunked boundary lists stand behind one door: the range sets. */
const BEHIND_A_DOOR = { folder: 'src/addresses/boundaries/', door: 'src/addresses/' };
const IMPURE =
  /(?<![.\w$])(?:Date(?![\w$])|Math\s*\.\s*random|Temporal\s*\.\s*Now|performance\s*\.\s*now|randomUUID|randomBytes|randomInt|getRandomValues)|\.\s*(?:randomUUID|randomBytes|randomInt|getRandomValues)(?![\w$])/g;

/** Everything in these files that the import table does not allow, as `path: what`. */
export function breachesOf(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => breachesOfFile(file).map((breach) => `${file.path}: ${breach}`));
}

/** Test files that would pass without running what they say: no run, or tests after the last one. */
export function unrunTests(files: readonly SourceFile[]): readonly string[] {
  return files.filter(({ text }) => !runsItsTests(text)).map(({ path }) => path);
}

function runsItsTests(text: string): boolean {
  const { code } = maskSource(text);
  // A contract is a suite of its own: it runs itself over what it is given.
  const isContract =
    importsOf(text).specifiers.some((name) => name.includes('/contracts/')) && /\w+Contract\(/.test(code);
  const lastRun = lastIndexOf(code, /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*\.run\(\)/gm);
  const lastTest = lastIndexOf(code, /^\s*(?!\w+Contract\()[A-Za-z_$][\w$]*(?:\.(?:skip|only))?\("#\w+".*=>/gm);
  return lastRun < 0 ? isContract && lastTest < 0 : lastTest < lastRun;
}

function lastIndexOf(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].at(-1)?.index ?? -1;
}

function breachesOfFile({ path, text }: SourceFile): readonly string[] {
  const room = roomOf(path);
  if (room === undefined) return ['is in no room of src'];
  const { specifiers, typeOnly, computed } = importsOf(text);
  const imports = specifiers.flatMap(
    (specifier) => importBreach(path, room, specifier, typeOnly.includes(specifier)) ?? [],
  );
  const unreadable = computed > 0 ? ['imports something that is computed'] : [];
  const impure = PURE.includes(room) ? [...maskSource(text).code.matchAll(IMPURE)].map(([word]) => `uses ${word}`) : [];
  return [...imports, ...unreadable, ...impure];
}

function importBreach(path: string, room: Room, specifier: string, isTypeOnly: boolean): string | undefined {
  const rule = IMPORT_TABLE[room];
  if (specifier.startsWith('node:')) {
    const isAllowed = rule.builtIn === 'all' || rule.builtIn.includes(specifier);
    return isAllowed ? undefined : `${room} imports ${specifier}`;
  }
  if (!specifier.startsWith('.')) {
    return rule.packages.includes(packageOf(specifier)) ? undefined : `${room} imports the package ${specifier}`;
  }
  const target = posix.join(posix.dirname(path), specifier);
  const [from, to] = [contextOf(path), contextOf(target)];
  if (from !== undefined && to !== undefined && from !== to) return `${from} imports ${target}, which is ${to}`;
  const targetRoom = roomOf(target);
  if (targetRoom === undefined) return `imports ${target}, which is in no room of src`;
  if (target === 'src/main.ts') return 'imports the composition root';
  if (target.startsWith(BEHIND_A_DOOR.folder) && !path.startsWith(BEHIND_A_DOOR.door))
    return `imports ${target}, which stands behind ${BEHIND_A_DOOR.door}`;
  if (targetRoom === room || rule.rooms.includes(targetRoom) || rule.files?.includes(target) === true) return undefined;
  if (rule.types?.includes(targetRoom) === true) {
    return isTypeOnly ? undefined : `${room} imports more than types of ${target}`;
  }
  return `${room} imports ${target}`;
}

function roomOf(path: string): Room | undefined {
  const [root, first, ...rest] = path.split('/');
  if (root !== 'src' || first === undefined) return undefined;
  if (rest.length === 0) return first === 'main.ts' ? 'main' : first === 'config.ts' ? 'config' : undefined;
  return Object.keys(IMPORT_TABLE).find((room): room is Room => room === first && room !== 'config');
}

function contextOf(path: string): string | undefined {
  return path.split(/[/.]/).find((part) => CONTEXTS.includes(part));
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}
