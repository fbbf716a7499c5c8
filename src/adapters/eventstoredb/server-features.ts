import { credentials, status } from '@grpc/grpc-js';
import type { EventStoreConnection } from './connection.ts';
import { featureServices, shared } from './protocol.ts';

const BATCH_APPEND = 'event_store.client.streams.streams/batchappend';

/** Whether the server takes appends in batches, as all do since 21.10. Bounded by `milliseconds`. @throws what the call failed with */
export function takesBatches({ name, call }: EventStoreConnection, milliseconds: number): Promise<boolean> {
  return call(
    (stub, metadata) =>
      new Promise((resolve, reject) => {
        const channelOverride = stub.getChannel();
        const features = new featureServices.ServerFeaturesClient(name, credentials.createInsecure(), {
          channelOverride,
        });
        const deadline = Date.now() + milliseconds;
        features.getSupportedMethods(new shared.Empty(), metadata, { deadline }, (error, supported) => {
          if (error === null) {
            const methods = supported
              .getMethodsList()
              .map((method) => `${method.getServiceName()}/${method.getMethodName()}`);
            resolve(methods.some((method) => method.toLowerCase() === BATCH_APPEND));
          } else if (error.code === status.UNIMPLEMENTED) resolve(false);
          else reject(error);
        });
      }),
  );
}
