import { EventStoreDBClient } from '@eventstore/db-client';
import services from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { CallOptions, Metadata } from '@grpc/grpc-js';
import type { ConnectionSettings } from './connection-string.ts';

type Action<T> = (stub: services.StreamsClient, metadata: Metadata, options: Partial<CallOptions>) => Promise<T>;

/**
 * The official client's connection: it finds the leader, logs in, and looks for another node when one fails.
 * Calls are made on its stubs, since its own methods can neither read `$all` through a filter, nor survive a broken connection
 * while appends queue (see docs/adr).
 */
export class EventStoreConnection extends EventStoreDBClient {
  readonly name: string;
  #stub: services.StreamsClient | undefined;

  constructor({ nodes, channel, login, name }: ConnectionSettings) {
    // The client's constructor has one overload for each kind of nodes, and takes any of them at run time.
    super(nodes as ConstructorParameters<typeof EventStoreDBClient>[0], channel, login);
    this.name = name;
  }

  /** One call on the leader. What it rejects with tells the client whether to look for another node. */
  call<T>(action: Action<T>): Promise<T> {
    return this.execute(services.StreamsClient, 'Streams', (stub) => {
      this.#stub = stub;
      return action(stub, ...this.callArguments({ requiresLeader: true }, { deadline: Number.POSITIVE_INFINITY }));
    });
  }

  /** Whether the server takes appends in batches, as every server since 21.10 does. */
  batches(): Promise<boolean> {
    return this.supports(services.StreamsService.batchAppend);
  }

  async close(): Promise<void> {
    await this.dispose();
    this.#stub?.close();
  }
}
