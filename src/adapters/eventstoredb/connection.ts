import { convertToCommandError, NotLeaderError } from '@eventstore/db-client';
import { type CallOptions, Channel, type ChannelOptions, Metadata } from '@grpc/grpc-js';
import type { ConnectionSettings, Endpoint } from './connection-string.ts';
import { discoverLeader } from './discovery.ts';
import { CallFailed, failureOf } from './failures.ts';
import { streamServices } from './protocol.ts';

type Action<T> = (stub: streamServices.StreamsClient, metadata: Metadata, options: Partial<CallOptions>) => Promise<T>;

/** The way to the leader, whichever node that is at the moment. */
export type EventStoreConnection = Readonly<{
  /** For messages: the hosts. */
  name: string;
  /** One call on the leader. What it rejects with says whether the next call should look for another node. */
  call: <T>(action: Action<T>) => Promise<T>;
  /** An answer has come: the server is there. */
  gotThrough: () => void;
  /** Resolves at the next answer to any call. */
  nextAnswer: () => Promise<void>;
  close: () => void;
}>;

type Opened = Readonly<{ endpoint: Endpoint; channel: Channel; stub: streamServices.StreamsClient }>;

/**
 * Connects when it is first used. The protocol's messages, its errors and its connection string are the official client's;
 * its connection is not used, since it waits up to two minutes for a server that is back (see docs/adr).
 */
export function openConnection(settings: ConnectionSettings): EventStoreConnection {
  const { nodes, secured, name } = settings;
  const options = channelOptions(settings);
  const metadata = callMetadata(settings);
  let current: Promise<Opened> | undefined;
  let next: Endpoint | undefined;
  let failed: Endpoint | undefined;
  let waiting: (() => void)[] = [];

  return {
    name,
    gotThrough: () => {
      if (waiting.length === 0) return;
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    nextAnswer: () => new Promise((resolve) => void waiting.push(resolve)),
    call: async (action) => {
      const opening = (current ??= open());
      const opened = await opening.catch((error: unknown) => {
        if (current === opening) current = undefined;
        throw failureOf(error);
      });
      try {
        return await action(opened.stub, metadata, { deadline: Number.POSITIVE_INFINITY });
      } catch (error) {
        if (current === opening) leaveIfBroken(opened, error);
        throw error;
      }
    },
    close: () => {
      current?.then(({ channel }) => channel.close()).catch(() => undefined);
    },
  };

  async function open(): Promise<Opened> {
    const endpoint =
      next ?? ('only' in nodes ? nodes.only : await discoverLeader(nodes.seeds, failed, settings, options));
    next = undefined;
    const { credentials, options: own } = secured(endpoint);
    const channel = new Channel(`${endpoint.address}:${endpoint.port}`, credentials, { ...options, ...own });
    return {
      endpoint,
      channel,
      stub: new streamServices.StreamsClient(name, credentials, { channelOverride: channel }),
    };
  }

  /** Calls that are under way on the old channel come to their own end. */
  function leaveIfBroken({ endpoint, channel }: Opened, error: unknown): void {
    const failure = error instanceof Error ? convertToCommandError(error) : error;
    if (failure instanceof NotLeaderError) next = failure.leader;
    else if (!(failureOf(error) instanceof CallFailed)) return;
    failed = endpoint;
    current = undefined;
    channel.close();
  }
}

function channelOptions({ keepAliveMilliseconds, keepAliveTimeoutMilliseconds }: ConnectionSettings): ChannelOptions {
  return {
    'grpc.keepalive_time_ms': keepAliveMilliseconds,
    'grpc.keepalive_timeout_ms': keepAliveTimeoutMilliseconds,
    // The server writes events of up to 16 MiB by other ways than this one.
    'grpc.max_receive_message_length': 17 * 1024 * 1024,
    // A new channel is a new connection: one that is shared would wait for longer and longer before it tries again.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
  };
}

function callMetadata({ authorization, connectionName }: ConnectionSettings): Metadata {
  const metadata = new Metadata();
  metadata.set('connection-name', connectionName);
  metadata.set('requires-leader', 'true');
  if (authorization !== undefined) metadata.set('authorization', authorization);
  return metadata;
}
