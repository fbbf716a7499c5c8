import { createEventLog, type EventLog } from './event-log.ts';
import { type EventStoreStandIn, type StandInOptions, startEventStoreStandIn } from './stand-in.ts';

/** A stand-in for a cluster of EventStoreDB: nodes on ports of their own over one log, as if it were replicated; one leads. */
export type EventStoreCluster = Readonly<{
  nodes: readonly EventStoreStandIn[];
  log: EventLog;
  /** A connection string with all nodes. */
  url: string;
  /** Who leads; `undefined` while one is elected. */
  leader: () => EventStoreStandIn | undefined;
  /** Makes a node the leader, as at the end of an election. */
  lead: (node: EventStoreStandIn) => void;
  /** The leader ends, as by a crash; the others elect one of them. Gives the node that is no more. */
  killLeader: () => Promise<EventStoreStandIn>;
  /** A node that has ended comes back, as a follower; one whose log is ahead of the leader's drops what is too much and ends again. */
  restart: (node: EventStoreStandIn) => Promise<'follows' | 'ended itself'>;
  /** The leader is stopped as by SIGSTOP; the others elect one of them. Gives what lets it go on, as a follower. */
  freezeLeader: () => () => void;
  /** The followers are gone, the leader stays: what it writes comes into effect with `regainQuorum`, unless it dies and they go on without it. */
  loseQuorum: () => void;
  regainQuorum: () => void;
  stop: () => Promise<void>;
}>;

export type ClusterOptions = Pick<StandInOptions, 'commitMilliseconds' | 'maxAppendBytes'> &
  Readonly<{
    size?: number;
    /** Real ones took 0.4 to 5 s. */
    electionMilliseconds?: number;
    /** Until the others notice that a leader stands still. */
    silenceMilliseconds?: number;
  }>;

export async function startEventStoreCluster(options: ClusterOptions = {}): Promise<EventStoreCluster> {
  const { size = 3, electionMilliseconds = 400, silenceMilliseconds = 1_000, ...nodeOptions } = options;
  const log = createEventLog();
  const nodes: EventStoreStandIn[] = [];
  const away = new Set<EventStoreStandIn>();
  const ahead = new Set<EventStoreStandIn>();
  const timers = new Set<NodeJS.Timeout>();
  let leader: EventStoreStandIn | undefined;
  const members = () =>
    nodes.map((node) => ({ host: '127.0.0.1', port: node.port, leader: node === leader, alive: !away.has(node) }));
  while (nodes.length < size) {
    const index = nodes.length;
    const dies = (): void => {
      const node = nodes[index];
      if (node !== undefined) void kill(node);
    };
    nodes.push(await startEventStoreStandIn({ ...nodeOptions, log, members, dies }));
  }
  lead(nodes[0]);

  return {
    nodes,
    log,
    url: `esdb://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}?tls=false&gossipTimeout=1`,
    leader: () => leader,
    lead,
    killLeader: async () => {
      const killed = standing(leader);
      await kill(killed);
      return killed;
    },
    restart: async (node) => {
      if (ahead.delete(node)) return 'ended itself';
      await node.start();
      away.delete(node);
      if (leader === undefined) elect(electionMilliseconds);
      return 'follows';
    },
    freezeLeader: () => {
      const frozen = standing(leader);
      frozen.freeze();
      later(silenceMilliseconds, () => {
        leave(frozen);
        elect(electionMilliseconds);
      });
      return () => {
        frozen.thaw();
        away.delete(frozen);
      };
    },
    loseQuorum: log.loseQuorum,
    regainQuorum: log.regainQuorum,
    stop: async () => {
      for (const timer of timers) clearTimeout(timer);
      for (const node of nodes) if (!away.has(node)) await node.stop();
    },
  };

  async function kill(node: EventStoreStandIn): Promise<void> {
    const led = node === leader;
    leave(node);
    if (led && !log.hasQuorum() && log.goOnWithout()) ahead.add(node);
    if (led) elect(electionMilliseconds);
    await node.stop();
  }

  function leave(node: EventStoreStandIn): void {
    away.add(node);
    if (node === leader) lead(undefined);
  }

  function elect(milliseconds: number): void {
    later(milliseconds, () => {
      const alive = nodes.filter((node) => !away.has(node));
      if (leader === undefined && alive.length > nodes.length / 2) lead(alive[0]);
    });
  }

  function lead(chosen: EventStoreStandIn | undefined): void {
    leader = chosen;
    for (const { port, faults } of nodes) {
      faults.noLeader = chosen === undefined;
      faults.notLeader =
        chosen === undefined || chosen.port === port ? undefined : { host: '127.0.0.1', port: chosen.port };
    }
  }

  function later(milliseconds: number, work: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, milliseconds);
    timers.add(timer);
  }
}

function standing(leader: EventStoreStandIn | undefined): EventStoreStandIn {
  if (leader === undefined) throw new Error('nobody leads');
  return leader;
}
