import { type Command, InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { architectures } from '../../events/worker-pools/architectures.ts';
import { poolLimits, scopeLimits, type ScopeLimits } from '../../events/worker-pools/limits.ts';
import { assetName, poolName, scopeName } from '../../events/worker-pools/names.ts';
import { type PoolChanges, staticMetadata } from '../../events/worker-pools/pool-record.ts';
import { check, type Problem } from '../../events/worker-pools/document-checks.ts';
import { specifications } from '../../events/worker-pools/specifications.ts';
import { usage } from '../output.ts';
import { readDocument } from './documents.ts';
import { problemsFailure } from './print.ts';

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
  json?: boolean;
}>;

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
export async function poolChanges(options: PoolOptions): Promise<PoolChanges> {
  refuseTwoFromInput(options);
  const problems: Problem[] = [];
  function take<T>(schema: z.ZodType<T>, name: string, value: unknown): T | undefined {
    if (value === undefined) return undefined;
    const checked = check(schema, name, value);
    if (checked.ok) return checked.value;
    problems.push(...checked.problems);
    return undefined;
  }
  const { aptAuthentication } = options;
  const named = {
    provider_account: take(assetName, 'provider_account', options.providerAccount),
    enabled: options.enabled,
    architectures: take(
      architectures,
      'architectures',
      options.architectures?.split(',').map((name) => name.trim()),
    ),
    static_metadata: take(staticMetadata, 'static_metadata', await given('--static-metadata', options.staticMetadata)),
    specifications: take(specifications, 'specifications', await given('--specifications', options.specifications)),
    instance_wide: options.instanceWide,
    ephemeral: options.ephemeral,
    limits: take(poolLimits, 'limits', await given('--limits', options.limits)),
    apt_authentication: aptAuthentication === false ? null : take(assetName, 'apt_authentication', aptAuthentication),
  };
  if (problems.length > 0) throw problemsFailure(problems);
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

/** A scope's limits from a file. @throws CommandFailure usage */
export async function scopeLimitsOf(source: string | undefined): Promise<ScopeLimits | undefined> {
  if (source === undefined) return undefined;
  const checked = check(scopeLimits, 'limits', await readDocument('--limits', source));
  if (checked.ok) return checked.value;
  throw problemsFailure(checked.problems);
}

/** A pool's name as an argument. @throws CommandFailure usage */
export function poolNameOf(name: string): string {
  return checkedName(poolName, 'worker pool name', name);
}

/** A scope's name as an argument. @throws CommandFailure usage */
export function scopeNameOf(name: string): string {
  return checkedName(scopeName, 'scope name', name);
}

/** A whole number as an option or argument. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^-?\d{1,10}$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
  };
}

function checkedName(schema: z.ZodType<string>, what: string, name: string): string {
  const checked = check(schema, what, name);
  if (checked.ok) return checked.value;
  throw problemsFailure(checked.problems);
}

function refuseTwoFromInput({ specifications: a, limits: b, staticMetadata: c }: PoolOptions): void {
  if ([a, b, c].filter((source) => source === '-').length > 1) {
    throw usage('only one of --specifications, --limits and --static-metadata can be read from standard input.');
  }
}

async function given(option: string, source: string | undefined): Promise<unknown> {
  return source === undefined ? undefined : await readDocument(option, source);
}
