import { type Command, InvalidArgumentError } from 'commander';
import {
  checkPoolChanges,
  checkPoolName,
  checkScopeLimits,
  checkScopeName,
} from '../../domain/worker-pools/documents.ts';
import type { ScopeLimits } from '../../events/worker-pools/limits.ts';
import type { PoolChanges } from '../../events/worker-pools/pool-record.ts';
import type { CloudDriver } from '../../ports/clouds.ts';
import type { ActOptions } from '../command.ts';
import { usage } from '../output.ts';
import { readDocument } from './documents.ts';
import { taken } from './print.ts';

export type PoolOptions = Readonly<{
  providerAccount?: string;
  enabled?: boolean;
  architectures?: string;
  specifications?: string;
  instanceWide?: boolean;
  ephemeral?: boolean;
  limits?: string;
  staticMetadata?: string;
  /** `false`: none. */
  aptAuthentication?: string | false;
  dryRun?: boolean;
}> &
  ActOptions;

/** The options of `create` and `edit`. */
export function poolOptions(command: Command): Command {
  return command
    .option('--provider-account <name>', 'the cloud-provider-account asset to create instances with')
    .option('--enabled', 'the pool may create instances (default)')
    .option('--no-enabled', 'the pool creates no instances')
    .option('--architectures <list>', 'task architectures, separated by commas: amd64,arm64')
    .option('--specifications <file>', 'the kind of instance, YAML or JSON; - for standard input')
    .option('--instance-wide', 'any scope may use the pool (default)')
    .option('--no-instance-wide', 'a single scope may use the pool')
    .option('--ephemeral', 'a worker ends after a single work request')
    .option('--no-ephemeral', 'a worker takes one work request after another (default)')
    .option('--limits <file>', 'instance limits, YAML or JSON; - for standard input')
    .option('--static-metadata <file>', 'static metadata for workers, YAML or JSON; - for standard input')
    .option('--apt-authentication <name>', 'the apt-authentication asset that the worker software is installed with')
    .option('--no-apt-authentication', 'none')
    .option('--dry-run', 'print what would change, and change nothing');
}

/** What the options name, checked; everything that is wrong with it is told at once. @throws CommandFailure usage */
export async function poolChanges(options: PoolOptions, cloudDrivers: readonly CloudDriver[]): Promise<PoolChanges> {
  refuseTwoFromInput(options);
  const { architectures, aptAuthentication } = options;
  const given = {
    provider_account: options.providerAccount,
    enabled: options.enabled,
    architectures: architectures?.split(',').map((name) => name.trim()),
    static_metadata: await documentOf('--static-metadata', options.staticMetadata),
    specifications: await documentOf('--specifications', options.specifications),
    instance_wide: options.instanceWide,
    ephemeral: options.ephemeral,
    limits: await documentOf('--limits', options.limits),
    apt_authentication: aptAuthentication === false ? null : aptAuthentication,
  };
  return taken(checkPoolChanges(given, cloudDrivers));
}

/** A scope's limits from a file. @throws CommandFailure usage */
export async function scopeLimitsOf(source: string | undefined): Promise<ScopeLimits | undefined> {
  return source === undefined ? undefined : taken(checkScopeLimits(await readDocument('--limits', source)));
}

/** A pool's name as an argument. @throws CommandFailure usage */
export function poolNameOf(name: string): string {
  return taken(checkPoolName(name));
}

/** A scope's name as an argument. @throws CommandFailure usage */
export function scopeNameOf(name: string): string {
  return taken(checkScopeName(name));
}

/** A whole number as an option or argument. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^-?\d{1,10}$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
  };
}

function refuseTwoFromInput({ specifications: a, limits: b, staticMetadata: c }: PoolOptions): void {
  if ([a, b, c].filter((source) => source === '-').length > 1) {
    throw usage('only one of --specifications, --limits and --static-metadata can be read from standard input.');
  }
}

async function documentOf(option: string, source: string | undefined): Promise<unknown> {
  return source === undefined ? undefined : await readDocument(option, source);
}
