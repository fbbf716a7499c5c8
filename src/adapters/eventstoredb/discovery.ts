import { type ChannelOptions, Metadata } from '@grpc/grpc-js';
import type { ConnectionSettings, Endpoint } from './connection-string.ts';
import { CallFailed } from './failures.ts';
import { gossip, gossipServices, shared } from './protocol.ts';

const { VNodeState } = gossip.MemberInfo;

/**
 * Asks the nodes of a cluster, one after the other, who leads it; one that has just failed is asked last.
 * @throws CallFailed when none tells
 */
export async function discoverLeader(
  seeds: readonly Endpoint[],
  failed: Endpoint | undefined,
  settings: ConnectionSettings,
  options: ChannelOptions,
): Promise<Endpoint> {
  let failure: unknown;
  for (const seed of failed === undefined ? seeds : [...seeds.filter((node) => !isSame(node, failed)), failed]) {
    try {
      const leader = leaderIn(await askMembers(seed, settings, options));
      if (leader !== undefined) return leader;
    } catch (error) {
      failure = error;
    }
  }
  const reason = failure instanceof Error ? failure.message : 'none leads';
  throw new CallFailed(`no leader was found among ${settings.name}: ${reason}`, false, { cause: failure });
}

function askMembers(
  { address, port }: Endpoint,
  { secured, gossipMilliseconds }: ConnectionSettings,
  options: ChannelOptions,
): Promise<gossip.ClusterInfo> {
  const { credentials, options: own } = secured({ address, port });
  const client = new gossipServices.GossipClient(`${address}:${port}`, credentials, { ...options, ...own });
  return new Promise((resolve, reject) => {
    const deadline = Date.now() + gossipMilliseconds;
    client.read(new shared.Empty(), new Metadata(), { deadline }, (error, cluster) => {
      client.close();
      if (error === null) resolve(cluster);
      else reject(error);
    });
  });
}

function leaderIn(cluster: gossip.ClusterInfo): Endpoint | undefined {
  const leader = cluster
    .getMembersList()
    .find((member) => member.getIsAlive() && member.getState() === VNodeState.LEADER);
  const endpoint = leader?.getHttpEndPoint();
  return endpoint === undefined ? undefined : { address: endpoint.getAddress(), port: endpoint.getPort() };
}

function isSame(one: Endpoint, other: Endpoint): boolean {
  return one.address === other.address && one.port === other.port;
}
