import { stringify } from 'yaml';
import type { Difference } from '../../application/worker-pools/difference.ts';
import type { Checked } from '../../events/worker-pools/document-checks.ts';
import { type Output, usage } from '../output.ts';

/** A record as YAML for people. */
export function yamlLines(value: unknown): readonly string[] {
  return stringify(value, { lineWidth: 120, aliasDuplicateObjects: false }).trimEnd().split('\n');
}

/** What was given, where it holds. @throws CommandFailure usage, one line a problem */
export function taken<T>(checked: Checked<T>): T {
  if (checked.ok) return checked.value;
  throw usage(checked.problems.map(({ path, message }) => `${path} ${message}`).join('\n'));
}

export type EnsureOutcome = Readonly<{
  /** `worker pool spot` */
  what: string;
  name: string;
  created: boolean;
  differences: readonly Difference[];
  notes: readonly string[];
  dryRun: boolean;
}>;

/** What came of a command that makes something be as it is given. */
export function printEnsured(output: Output, outcome: EnsureOutcome): void {
  const { what, name, created, differences, notes, dryRun } = outcome;
  const changed = created || differences.length > 0;
  const did = created ? 'created' : changed ? 'changed' : 'unchanged';
  const line = dryRun && changed ? `${what} would be ${did}:` : `${what} ${did}`;
  const details = created && !dryRun ? [] : differenceLines(differences);
  output.object({ name, created, changed, dry_run: dryRun, differences, notes }, [
    details.length > 0 && !line.endsWith(':') ? `${line}:` : line,
    ...details,
    ...notes.map((note) => `note: ${note}`),
  ]);
}

/** A termination with its fields as everything here is printed. */
export function shownTermination<T extends Readonly<{ afterTask: boolean }>>({ afterTask, ...rest }: T) {
  return { ...rest, after_task: afterTask };
}

/** Differences for people: `+` is new, `-` is gone, `~` is changed. */
function differenceLines(differences: readonly Difference[]): readonly string[] {
  return differences.map((difference) => {
    const { path } = difference;
    if (!('before' in difference)) return `  + ${path}: ${shown(difference.after)}`;
    if (!('after' in difference)) return `  - ${path}: ${shown(difference.before)}`;
    return `  ~ ${path}: ${shown(difference.before)} → ${shown(difference.after)}`;
  });
}

function shown(value: unknown): string {
  return JSON.stringify(value);
}
