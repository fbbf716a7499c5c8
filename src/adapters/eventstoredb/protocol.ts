/**
 * The one door to the client's inner files: the protocol's messages and services, and how the client reads connection strings
 * and ids. None of them is the client's public face, and a later one may move them: test/adapters/eventstoredb/protocol.test.ts
 * names each that is gone.
 */
export { default as connectionStrings } from '@eventstore/db-client/dist/Client/parseConnectionString.js';
export { default as uuids } from '@eventstore/db-client/dist/utils/grpcUUID.js';
export { default as gossipServices } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
export { default as gossip } from '@eventstore/db-client/generated/gossip_pb.js';
export { default as featureServices } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
export { default as shared } from '@eventstore/db-client/generated/shared_pb.js';
export type { default as statuses } from '@eventstore/db-client/generated/status_pb.js';
export { default as streamServices } from '@eventstore/db-client/generated/streams_grpc_pb.js';
export { default as streams } from '@eventstore/db-client/generated/streams_pb.js';
