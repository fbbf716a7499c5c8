import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import { randomUUID } from 'node:crypto';
import { uuidMessage } from './messages.ts';

/** A member of the cluster as gossip tells of it. */
export type Member = Readonly<{ host: string; port: number; leader: boolean; alive: boolean }>;

/** `ServerFeatures/GetSupportedMethods`: whether appends may be batched. */
export function supportedMethodsCall(batchAppend: boolean) {
  return (
    _call: ServerUnaryCall<unknown, features.SupportedMethods>,
    answer: sendUnaryData<features.SupportedMethods>,
  ) => {
    const supported = new features.SupportedMethods().setEventStoreServerVersion('24.10.0');
    for (const name of ['read', 'append', ...(batchAppend ? ['batchappend'] : [])]) {
      const method = new features.SupportedMethod();
      method.setServiceName('event_store.client.streams.streams');
      method.setMethodName(name);
      if (name === 'read') method.setFeaturesList(['stream', 'all', 'position', 'events']);
      supported.addMethods(method);
    }
    answer(null, supported);
  };
}

/** `Gossip/Read`: who is in the cluster, and who leads it. */
export function gossipCall(members: () => readonly Member[]) {
  return (_call: ServerUnaryCall<unknown, gossip.ClusterInfo>, answer: sendUnaryData<gossip.ClusterInfo>) => {
    const cluster = new gossip.ClusterInfo();
    for (const { host, port, leader, alive } of members()) {
      const member = new gossip.MemberInfo();
      const endpoint = new gossip.EndPoint();
      endpoint.setAddress(host);
      endpoint.setPort(port);
      member.setInstanceId(uuidMessage(randomUUID()));
      member.setTimeStamp('0');
      member.setState(leader ? gossip.MemberInfo.VNodeState.LEADER : gossip.MemberInfo.VNodeState.FOLLOWER);
      member.setIsAlive(alive);
      member.setHttpEndPoint(endpoint);
      cluster.addMembers(member);
    }
    answer(null, cluster);
  };
}
