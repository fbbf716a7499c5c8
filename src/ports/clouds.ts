/** An account at a provider, credentials and all. Opened for a call, never kept. */
export type CloudAccount = Readonly<{
  name: string;
  /** The `providerType` of the driver that opens it. */
  providerType: string;
  configuration: Readonly<Record<string, unknown>>;
  credentials: Readonly<Record<string, string>>;
}>;

/** A pool's specifications: the fields are those of the provider that `provider_type` names, and its driver's alone to read. */
export type CloudSpecifications = Readonly<{ provider_type: string } & Record<string, unknown>>;

/** What a driver keeps to find an instance again: plain JSON, no secrets. Becomes `Worker.worker_pool_data`. */
export type InstanceData = Readonly<Record<string, string | number | boolean | null>>;

/**
 * The service's own marks on all that it makes at a provider. `installation` tells one data directory's instances from those of
 * every other installation that uses the same account: each takes what carries another's mark for none of its business.
 * `run` (at most 57 characters of `A-Z a-z 0-9 - _`, a UUID fits) is the key by which a launch is idempotent.
 */
export type OwnMarks = Readonly<{ installation: string; pool: string; worker: string; run: string }>;

/**
 * Everything that makes up one launch. It is frozen when the place is reserved: asked again under the same run, it must be the same
 * to the byte, since a provider refuses the same token with another request and then tells nothing of the instance it has.
 */
export type InstanceRequest = OwnMarks &
  Readonly<{
    specifications: CloudSpecifications;
    /** First-boot user data: one text for each entry of the driver's `firstBoots`, in their order. */
    userData: readonly string[];
  }>;

/**
 * An instance as the provider shows it. `ended` costs no more (a provider that is shutting it down bills nothing from there on); until
 * then it costs, whether it has booted or not. Instants are ISO 8601, the provider's own; EC2's and Hetzner's have whole seconds and
 * may lie a little before the request.
 */
export type CloudInstance = OwnMarks &
  Readonly<{
    data: InstanceData;
    createdAt: string;
    state: 'starting' | 'running' | 'ended';
    /** When it ended; null while it costs, and where the provider does not say. */
    endedAt: string | null;
    /** Why the provider ended it or is about to, such as an interrupted spot instance; null where it did nothing of its own. */
    because: string | null;
  }>;

/**
 * `ending`: the provider has taken the order, and the instance costs no more. `unknown-to-provider`: there is no such instance any more,
 * or it is so new that the provider's reads do not show it yet: within five minutes of its creation ask again, later it is gone.
 * `endedAt` is the provider's instant of the end, null where it says none (then now is as good).
 */
export type Termination = Readonly<{ outcome: 'ending' | 'unknown-to-provider'; endedAt: string | null }>;

/** What runs are over, so that what their launches left behind may go. `createdAt` is the left-over's own age: a run that the log does not know may be one that was reserved a moment ago. */
export type IsRunOver = (left: Readonly<{ run: string; createdAt: string }>) => boolean | Promise<boolean>;

/**
 * One account at one provider. Every call is bounded in time and throws CloudFailure; the signal ends it sooner. No message, event or
 * log of a driver holds a credential or the user data.
 */
export type Cloud = Readonly<{
  /**
   * Creates the instance of a run, or finds the one that an earlier try created, by the run's mark and the provider's own means of
   * idempotency; it may have `ended` meanwhile, and as long as the provider shows it the run gets no second one. Killed between any
   * two of its calls and asked again there is one instance.
   */
  create: (request: InstanceRequest, signal: AbortSignal) => Promise<CloudInstance>;
  /** Has an instance ended; one that is ending or gone already is a success. `end-refused`: the provider protects it. */
  terminate: (data: InstanceData, signal: AbortSignal) => Promise<Termination>;
  /**
   * All instances with the installation's mark, of every pool of the account; also those that have ended, as long as the provider
   * shows them. Reads may lag behind: one that is missing counts as gone only when it is older than five minutes, in two listings.
   * Either everything is listed or it throws; a part is never given for the whole.
   */
  list: (installation: string, signal: AbortSignal) => Promise<readonly CloudInstance[]>;
  /** One instance as it is now; undefined where the provider does not show it (see `list`). */
  inspect: (data: InstanceData, signal: AbortSignal) => Promise<CloudInstance | undefined>;
  /** Removes what launches of runs that are over left behind beside instances (stored launch templates, which hold user data). Gives how many. */
  removeLeftovers: (installation: string, isOver: IsRunOver, signal: AbortSignal) => Promise<number>;
  /** Reachable, logged in, and allowed to create and end instances; changes nothing. */
  check: (signal: AbortSignal) => Promise<void>;
  close: () => Promise<void>;
}>;

/**
 * What a failed call says of what was asked for. `refused`: it was not done, and asking again is of no use before something changes.
 * `later`: this call did nothing; ask again after a while, it counts as no failure. `uncertain`: it may have been done; only asking
 * again under the same run, or a list, tells. A refusal speaks of its own call alone: after an uncertain try of the same run it does not
 * say that there is no instance.
 */
export type CloudFailureKind = 'refused' | 'later' | 'uncertain';

/** Why a provider did not do it. */
export const CLOUD_FAILURES = {
  'no-driver': 'refused',
  'bad-account': 'refused',
  /** Until the pool is edited. */
  'bad-specifications': 'refused',
  /** Until the account is edited. */
  'login-refused': 'refused',
  'not-permitted': 'refused',
  rejected: 'refused',
  'no-capacity': 'refused',
  'quota-exceeded': 'refused',
  /** The run had its instance, which is gone so long that the provider shows it no more. There is none now, and will be none in this run. */
  'instance-gone': 'refused',
  /** An instance that the provider protects from being ended: told to people, tried again slowly, in the way of nothing else. */
  'end-refused': 'refused',
  throttled: 'later',
  unreachable: 'uncertain',
  'timed-out': 'uncertain',
  'outcome-unknown': 'uncertain',
  'unreadable-answer': 'uncertain',
} as const satisfies Readonly<Record<string, CloudFailureKind>>;

export type CloudFailureCode = keyof typeof CLOUD_FAILURES;

/** A provider said no, or said nothing. The message is for an administrator and holds no secret. */
export class CloudFailure extends Error {
  override readonly name = 'CloudFailure';
  readonly code: CloudFailureCode;
  /** How long the provider wants to be left alone; null where it does not say. */
  readonly retryAfterMilliseconds: number | null;
  constructor(code: CloudFailureCode, message: string, options?: ErrorOptions & { retryAfterMilliseconds?: number }) {
    super(message, options);
    this.code = code;
    this.retryAfterMilliseconds = options?.retryAfterMilliseconds ?? null;
  }

  /** Whether what was asked for may have been done. */
  get kind(): CloudFailureKind {
    return CLOUD_FAILURES[this.code];
  }
}

/** One thing wrong with a document: where it is, and what would be right. */
export type DocumentProblem = Readonly<{ path: string; message: string }>;

/** A document that holds, with its defaults, or everything that is wrong with it. */
export type CheckedDocument<T> =
  | Readonly<{ ok: true; value: T }>
  | Readonly<{ ok: false; problems: readonly DocumentProblem[] }>;

/** One provider: all that the application knows of it. */
export type CloudDriver = Readonly<{
  providerType: string;
  /** Specifications as they were written; paths start with `specifications`. */
  checkSpecifications: (input: unknown) => CheckedDocument<CloudSpecifications>;
  /** The JSON Schema (draft 2020-12) of specifications, from the same source. */
  specificationsSchema: () => object;
  /** What is wrong with the fields of an account; paths start with `name`, and no message repeats a value. */
  checkAccount: (
    account: Pick<CloudAccount, 'configuration' | 'credentials'>,
    name: string,
  ) => readonly DocumentProblem[];
  /** What an administrator should know of specifications that are accepted as they are. */
  notes: (specifications: CloudSpecifications) => readonly string[];
  /** One for each text of user data that a launch needs. `swapGiB`: the empty disk that first boot makes swap of. */
  firstBoots: (specifications: CloudSpecifications) => readonly Readonly<{ swapGiB?: number | undefined }>[];
  /** Of one text, before any encoding. */
  userDataBytesMax: number;
  open: OpenCloud;
}>;

/**
 * Opens the driver of an account, or throws CloudFailure `bad-account` or `no-driver`; nothing is asked before the first call. However
 * often an account is opened, it has at most four calls under way at the same moment, and a call that waits for its turn counts that
 * wait into its own bound: an account is a lane of its own, and one that hangs holds up no other.
 */
export type OpenCloud = (account: CloudAccount) => Cloud;
