import { setMaxListeners } from 'node:events';
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { appendCall, batchAppendCall } from './append-calls.ts';
import { gossipCall, type Member, supportedMethodsCall } from './cluster-calls.ts';
import { createEventLog, type EventLog } from './event-log.ts';
import { type Faults, noFaults } from './faults.ts';
import { type FrontDoor, openFrontDoor } from './front-door.ts';
import type { User } from './access.ts';
import type { Call } from './node.ts';
import { readCall } from './read-calls.ts';

export type StandInOptions = Readonly<{
  log?: EventLog;
  /** PEM texts; with them the server speaks TLS. */
  tls?: Readonly<{ key: string; certificate: string }>;
  /** Only over TLS: the client sends no login without it. */
  users?: readonly User[];
  maxAppendBytes?: number;
  /** As `Node` has it; a real one takes 2.2 to 2.6 s. */
  commitMilliseconds?: number;
  /** `false`: as an old server, that knows no batches. */
  batchAppend?: boolean;
  /** Hears that it dies of itself, as 'dies-after-append' makes it. */
  dies?: () => void;
  /** What gossip answers; default: this server alone, leading. */
  members?: () => readonly Member[];
}>;

/** A stand-in for an EventStoreDB server: its gRPC protocol over a log in memory. It is no EventStoreDB. */
export type EventStoreStandIn = Readonly<{
  port: number;
  log: EventLog;
  faults: Faults;
  /** What clients have asked, in order. */
  calls: readonly Call[];
  /** How many records of others all filtered looks together have passed over. */
  passedOver: () => number;
  /** Breaks every connection; the server stays. */
  cut: () => void;
  stop: () => Promise<void>;
  /** Its connections stand and nothing passes, as with a process that is stopped. */
  freeze: () => void;
  thaw: () => void;
  /** Starts again on the same port with the same log. */
  start: () => Promise<void>;
}>;

const COMMIT_MILLISECONDS = 2_400;

/** Starts a stand-in on a free port of the loopback interface. */
export async function startEventStoreStandIn(options: StandInOptions = {}): Promise<EventStoreStandIn> {
  const log = options.log ?? createEventLog();
  const faults = noFaults();
  const calls: Call[] = [];
  let passedOver = 0;
  let running = await run(0);
  const { port } = running.door;

  return {
    port,
    log,
    faults,
    calls,
    passedOver: () => passedOver,
    cut: () => running.door.cut(),
    freeze: () => running.door.freeze(),
    thaw: () => running.door.thaw(),
    stop: () => running.stop(),
    start: async () => {
      running = await run(port);
    },
  };

  async function run(outerPort: number): Promise<Readonly<{ door: FrontDoor; stop: () => Promise<void> }>> {
    const stopping = new AbortController();
    // Each subscription listens to it.
    setMaxListeners(0, stopping.signal);
    let door: FrontDoor | undefined;
    const node = {
      log,
      faults,
      users: options.users,
      maxAppendBytes: options.maxAppendBytes ?? 1024 * 1024,
      commitMilliseconds: options.commitMilliseconds ?? COMMIT_MILLISECONDS,
      record: (call: Call) => void calls.push(call),
      passedOver: () => void (passedOver += 1),
      cut: () => door?.cut(),
      die: () => {
        door?.cut();
        options.dies?.();
      },
      stopped: stopping.signal,
    };
    const server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 });
    server.addService(streams.StreamsService, {
      read: readCall(node),
      append: appendCall(node),
      batchAppend: batchAppendCall(node),
    });
    server.addService(features.ServerFeaturesService, {
      getSupportedMethods: supportedMethodsCall(options.batchAppend ?? true),
    });
    server.addService(gossip.GossipService, { read: gossipCall(options.members ?? (() => [alone()])) });
    const innerPort = await bind(server, options.tls);
    const opened = await openFrontDoor(outerPort, innerPort);
    door = opened;
    return {
      door: opened,
      stop: async () => {
        stopping.abort();
        await opened.close();
        server.forceShutdown();
      },
    };
  }

  function alone(): Member {
    return { host: '127.0.0.1', port, leader: true, alive: true };
  }
}

function bind(server: Server, tls: StandInOptions['tls']): Promise<number> {
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [
          { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.certificate) },
        ]);
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
}
