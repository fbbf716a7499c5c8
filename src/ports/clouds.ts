/** An account at a provider, credentials and all. Opened for a call, never kept. */
export type CloudAccount = Readonly<{
  name: string;
  providerType: 'aws' | 'hetzner';
  configuration: Readonly<Record<string, unknown>>;
  credentials: Readonly<Record<string, string>>;
}>;

type MinMax = Readonly<{ Min: number; Max?: number | undefined }>;

/** One launch template, checked and with its defaults; field names as the provider has them. */
export type AwsLaunchTemplate = Readonly<{
  ImageId: string;
  InstanceType?: string | undefined;
  InstanceRequirements?:
    | Readonly<{
        VCpuCount: MinMax;
        MemoryMiB: MinMax;
        MemoryGiBPerVCpu?: MinMax | undefined;
        SpotMaxPricePercentageOverLowestPrice?: number | undefined;
        MaxSpotPriceAsPercentageOfOptimalOnDemandPrice?: number | undefined;
        BurstablePerformance: 'included' | 'excluded' | 'required';
      }>
    | undefined;
  BlockStorageOptimized: boolean;
  KeyName?: string | undefined;
  NetworkInterfaces?:
    | readonly Readonly<{
        DeviceIndex: number;
        AssociatePublicIpAddress?: boolean | undefined;
        DeleteOnTermination: boolean;
        Ipv6AddressCount?: number | undefined;
        SubnetId?: string | undefined;
        Groups?: readonly string[] | undefined;
      }>[]
    | undefined;
  /** GiB */
  root_device_size?: number | undefined;
  /** GiB */
  swap_size?: number | undefined;
  tags?: Readonly<Record<string, string>> | undefined;
}>;

export type AwsInstances = Readonly<{
  provider_type: 'aws';
  launch_templates: readonly AwsLaunchTemplate[];
  instance_market_type: 'spot' | 'on-demand';
  /** USD */
  max_spot_price_per_hour?: number | undefined;
}>;

export type HetznerInstances = Readonly<{
  provider_type: 'hetzner';
  server_type: string;
  image_name: string;
  ssh_keys?: readonly string[] | undefined;
  networks?: readonly string[] | undefined;
  location?: string | undefined;
  labels?: Readonly<Record<string, string>> | undefined;
  enable_ipv4: boolean;
  enable_ipv6: boolean;
}>;

/** What a driver keeps to find an instance again: plain JSON, no secrets. Becomes `Worker.worker_pool_data`. */
export type InstanceData = Readonly<Record<string, string | number | boolean | null>>;

export type InstanceRequest = Readonly<{
  /** Names the request: asked again under the same run, a provider gives the same instance and never a second one. */
  run: string;
  worker: string;
  pool: string;
  instances: AwsInstances | HetznerInstances;
  /** First-boot user data: for AWS one for each launch template, in their order, otherwise one. */
  userData: readonly string[];
}>;

/** An instance that exists and costs. `createdAt` is ISO 8601, as the provider says. */
export type CloudInstance = Readonly<{ run: string; createdAt: string; data: InstanceData }>;

/** One account at one provider. */
export type Cloud = Readonly<{
  /** Creates the instance of a run, or finds the one that an earlier try created. @throws CloudFailure */
  create: (request: InstanceRequest, signal: AbortSignal) => Promise<CloudInstance>;
  /** Resolves when the instance costs no more; one that is gone already is a success. @throws CloudFailure */
  terminate: (data: InstanceData, signal: AbortSignal) => Promise<void>;
  /** The instances of a pool that exist now. @throws CloudFailure */
  list: (pool: string, signal: AbortSignal) => Promise<readonly CloudInstance[]>;
  /** Reachable, logged in, and allowed to create and end instances; changes nothing. @throws CloudFailure */
  check: (signal: AbortSignal) => Promise<void>;
  close: () => Promise<void>;
}>;

/** Why a provider did not do it. */
export type CloudFailureCode =
  | 'no-driver'
  | 'bad-account'
  | 'bad-specifications'
  | 'login-refused'
  | 'not-permitted'
  | 'rejected'
  | 'no-capacity'
  | 'quota-exceeded'
  | 'unreachable'
  | 'timed-out'
  | 'outcome-unknown'
  | 'unreadable-answer';

/** After these the request may still have been carried out: only asking again under the same run, or a list, tells. */
export const UNCERTAIN: ReadonlySet<CloudFailureCode> = new Set([
  'unreachable',
  'timed-out',
  'outcome-unknown',
  'unreadable-answer',
]);

/** A provider said no, or said nothing. The message is for an administrator and holds no secret. */
export class CloudFailure extends Error {
  override readonly name = 'CloudFailure';
  readonly code: CloudFailureCode;
  constructor(code: CloudFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Opens a driver for an account, or throws CloudFailure `bad-account` or `no-driver`. */
export type OpenCloud = (account: CloudAccount) => Cloud;
