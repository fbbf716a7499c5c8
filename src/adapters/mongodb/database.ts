import { type Collection, type Db, type Document, MongoClient, type MongoClientOptions, type ObjectId } from 'mongodb';
import type { Clock } from '../../ports/clock.ts';
import { StoreUnavailable } from '../../ports/event-store.ts';
import { StoreRefused } from '../../ports/store-refused.ts';
import { failureOf, isLoginRefused, isNotPermitted } from './failures.ts';

/** One database, with every use of it bounded and its failures told as the ports tell them. */
export type MongoDatabase = Readonly<{
  /** For messages: the hosts. */
  name: string;
  /** A collection whose documents have a text as id, or one that the driver made. */
  collection: <T extends Document & { _id: string | ObjectId }>(name: string) => Collection<T>;
  collectionNames: () => Promise<readonly string[]>;
  drop: (name: string) => Promise<void>;
  /** Runs one command. @throws StoreUnavailable when the database is away, closed, or does not answer in time */
  use: <T>(command: () => Promise<T>, patienceMilliseconds?: number) => Promise<T>;
  close: () => Promise<void>;
}>;

export type MongoDatabaseOptions = Readonly<{
  /** `mongodb://…` or `mongodb+srv://…`; the database is the one that it names, or `edgeward`. */
  url: string;
  clock: Clock;
  /** How long one command may take, finding a server included. */
  patienceMilliseconds: number;
  /** The driver connects again when no command was answered for this long (default: 10 s). */
  freshStartMilliseconds?: number;
}>;

/** Bounds a command that writes much, and the connection of one that is not waited for any more. */
export const WRITE_MILLISECONDS = 30_000;
const POOL_MAX = 20;
const FRESH_START_MILLISECONDS = 10_000;
/** Raised when what is stored changes in a way that an older program would misread. */
const LAYOUT = 1;

type About = { _id: string; layout: number };

/** Reaches the database, and makes sure that it may be written. @throws StoreRefused */
export async function openMongoDatabase(options: MongoDatabaseOptions): Promise<MongoDatabase> {
  const { url, patienceMilliseconds } = options;
  const client = openClient(url, patienceMilliseconds);
  const hosts = client.options.hosts.map(String).join(',') || 'its hosts';
  const named = client.db(/^mongodb(?:\+srv)?:\/\/[^/]+\/[^?]/.test(url) ? undefined : 'edgeward');
  const db = databaseOver(client, named, hosts, options);
  try {
    await checkLayout(db);
    return db;
  } catch (error) {
    await db.close();
    throw refusal(hosts, error);
  }
}

function openClient(url: string, patienceMilliseconds: number): MongoClient {
  const options: MongoClientOptions = {
    appName: 'edgeward',
    // Positions are 64 bits wide and must not pass through a number.
    useBigInt64: true,
    // A little less, so that the driver is the one to say why.
    serverSelectionTimeoutMS: Math.floor(patienceMilliseconds * 0.9),
    connectTimeoutMS: patienceMilliseconds,
    waitQueueTimeoutMS: patienceMilliseconds,
    socketTimeoutMS: WRITE_MILLISECONDS,
    maxPoolSize: POOL_MAX,
    writeConcern: { w: 'majority' },
    readPreference: 'primary',
  };
  try {
    return new MongoClient(url, options);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : 'it can not be read';
    const example = 'mongodb://host:27017/edgeward';
    throw new StoreRefused('bad-url', `READ_MODEL_URL is no connection string such as ${example}: ${problem}`, {
      cause,
    });
  }
}

/** The first write: it shows that we may, and leaves a mark of what program wrote here. */
async function checkLayout(db: MongoDatabase): Promise<void> {
  const about = db.collection<About>('about');
  const _id = 'edgeward';
  await db.use(() => about.updateOne({ _id }, { $setOnInsert: { layout: LAYOUT } }, { upsert: true }));
  const found = await db.use(() => about.findOne({ _id }));
  if (found === null || found.layout <= LAYOUT) return;
  const message = `the read models were written by a newer edgeward (layout ${found.layout}, this one knows ${LAYOUT})`;
  throw new StoreRefused('unsupported', message);
}

function refusal(hosts: string, error: unknown): StoreRefused {
  if (error instanceof StoreRefused) return error;
  const reason = error instanceof StoreUnavailable ? (error.cause ?? error) : error;
  const message = reason instanceof Error ? reason.message : String(reason);
  if (isLoginRefused(error))
    return new StoreRefused('login-refused', `MongoDB at ${hosts} refused the login`, { cause: error });
  if (isNotPermitted(error)) {
    return new StoreRefused('not-permitted', `MongoDB at ${hosts} does not let this login read and write`, {
      cause: error,
    });
  }
  return new StoreRefused('unreachable', `MongoDB at ${hosts} can't be reached: ${message}`, { cause: error });
}

function databaseOver(
  client: MongoClient,
  db: Db,
  hosts: string,
  { clock, patienceMilliseconds, freshStartMilliseconds = FRESH_START_MILLISECONDS }: MongoDatabaseOptions,
): MongoDatabase {
  const freshStart = openFreshStart(client, clock, freshStartMilliseconds);
  let closed = false;

  async function use<T>(command: () => Promise<T>, milliseconds = patienceMilliseconds): Promise<T> {
    if (closed) throw new StoreUnavailable('MongoDB is closed');
    const answered = new AbortController();
    const late = clock.wait(milliseconds, answered.signal).then(() => {
      throw new StoreUnavailable(`MongoDB did not answer within ${milliseconds} ms`);
    });
    // The promise that loses the race may reject later; that is no error.
    late.catch(() => undefined);
    try {
      const answer = await Promise.race([command(), late]);
      freshStart.answered();
      return answer;
    } catch (error) {
      const failure = closed ? new StoreUnavailable('MongoDB is closed', { cause: error }) : failureOf(error);
      if (failure instanceof StoreUnavailable) freshStart.unanswered();
      else freshStart.answered();
      throw failure;
    } finally {
      answered.abort();
    }
  }

  return {
    name: hosts,
    collection: (name) => db.collection(name),
    collectionNames: async () => {
      const found = await use(() => db.listCollections({}, { nameOnly: true }).toArray());
      return found.map(({ name }) => name);
    },
    drop: async (name) => {
      await use(() => db.dropCollection(name), WRITE_MILLISECONDS);
    },
    use,
    close: async () => {
      closed = true;
      await freshStart.close();
    },
  };
}

/** Has a driver connect again that has found no server for long. */
type FreshStart = Readonly<{
  /** A command was answered, whatever the answer. */
  answered: () => void;
  /** A command was not. */
  unanswered: () => void;
  close: () => Promise<void>;
}>;

/**
 * The driver looks for servers by itself. Under load it was seen to go on failing after the server was back, its watch over the server
 * waiting for ever. Closing and connecting makes new watches; who uses the client notices nothing.
 */
function openFreshStart(client: MongoClient, clock: Clock, afterMilliseconds: number): FreshStart {
  let unansweredSince: number | undefined;
  let starting: Promise<void> | undefined;
  let isClosed = false;

  return {
    answered: () => void (unansweredSince = undefined),
    unanswered: () => {
      const now = clock.monotonicMilliseconds();
      unansweredSince ??= now;
      if (isClosed || starting !== undefined || now - unansweredSince < afterMilliseconds) return;
      starting = restartClient().finally(() => {
        starting = undefined;
        unansweredSince = undefined;
      });
    },
    close: async () => {
      isClosed = true;
      await client.close();
      await starting;
    },
  };

  async function restartClient(): Promise<void> {
    for (const step of [() => client.close(), () => (isClosed ? undefined : client.connect())]) {
      try {
        await step();
      } catch {
        // The server is still away: calls of the client fail with it, and connecting is tried again.
      }
    }
    if (isClosed) await client.close();
  }
}
