import {
  everyDifference,
  type ListDifference,
  listDifference,
  type RouterDifference,
} from '../../application/ip-control/commit-difference.ts';
import type { Application } from '../../application/application.ts';
import { LIST_KINDS } from '../../domain/ip-control/waiting-changes.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import { type CommandTools, outputOf } from '../command.ts';
import { counted } from '../../domain/counted.ts';
import { accepted, CommandFailure, endsText, EXIT, isLong, usage } from '../output.ts';

export type DiffOptions = Readonly<{ list?: ListKind; due?: boolean; all?: boolean; wide?: boolean; json?: boolean }>;

/** `commit diff`: one list, or many. */
export async function showDifference(
  application: Application,
  customer: string | undefined,
  region: string | undefined,
  options: DiffOptions,
  tools: CommandTools,
): Promise<void> {
  const many = options.due === true || options.all === true;
  if (many === (customer !== undefined)) throw usage('name a customer and a region, or give --due or --all.');
  const output = outputOf(options, tools);
  if (customer !== undefined) {
    if (region === undefined) throw usage('name the region, too.');
    const of = { customer, region, list: options.list ?? 'BLACKHOLE' };
    const difference = accepted(await listDifference(of, application));
    output.object(rowOf(difference), linesOf(difference, options.wide === true));
    return requireSeen([difference]);
  }
  const lists = options.list === undefined ? LIST_KINDS : [options.list];
  const differences = await everyDifference({ lists, which: options.all === true ? 'all' : 'due' }, application);
  if (output.json) output.object({ ...sumOf(differences), lists: differences.map(rowOf) });
  else output.object({}, linesOfAll(differences, options.wide === true));
  return requireSeen(differences);
}

function requireSeen(differences: readonly ListDifference[]): void {
  const unseen = new Set(
    differences.flatMap(({ routers }) =>
      routers.filter(({ problem }) => problem !== undefined).map(({ router }) => router),
    ),
  );
  if (unseen.size > 0)
    throw new CommandFailure(EXIT.failed, 'router-not-seen', `what is on ${[...unseen].join(', ')} could not be seen.`);
}

function rowOf({ routers, ...list }: ListDifference) {
  return {
    ...list,
    routers: routers.map(({ router, added, removed, kept, ...seen }) => ({
      router,
      added_count: added.length,
      removed_count: removed.length,
      added,
      removed,
      ...(kept === undefined ? {} : { kept_count: kept }),
      ...seen,
    })),
  };
}

function linesOf({ region, list, prefixes, routers }: ListDifference, wide: boolean): readonly string[] {
  return [
    `${list} in ${region}: ${counted(prefixes, 'block')}`,
    ...routers.flatMap((difference) => [
      `${difference.router}: ${summaryOf(difference)}`,
      ...blockLines('+', difference.added, wide),
      ...blockLines('-', difference.removed, wide),
    ]),
  ];
}

function blockLines(sign: string, prefixes: readonly string[], wide: boolean): readonly string[] {
  if (isLong(prefixes) && !wide) return [`  ${sign} ${endsText(prefixes, 'blocks')}; --wide lists them`];
  return prefixes.map((prefix) => `  ${sign} ${prefix}`);
}

function summaryOf({ added, removed, kept, problem, disabled }: RouterDifference): string {
  if (problem !== undefined) return problem;
  if (disabled === true) return 'disabled: commits pass it over';
  const keeps = kept === undefined ? '' : `, ${kept} kept that the log does not explain`;
  return `${added.length} added, ${removed.length} removed${keeps}`;
}

function linesOfAll(differences: readonly ListDifference[], wide: boolean): readonly string[] {
  const { lists_count: lists, added_count: added, removed_count: removed } = sumOf(differences);
  return [
    ...differences.flatMap((difference) => linesOf(difference, wide)),
    `${counted(lists, 'list')}: ${added} added, ${removed} removed in all`,
  ];
}

function sumOf(differences: readonly ListDifference[]) {
  const routers = differences.flatMap((difference) => difference.routers);
  return {
    lists_count: differences.length,
    added_count: routers.reduce((sum, { added }) => sum + added.length, 0),
    removed_count: routers.reduce((sum, { removed }) => sum + removed.length, 0),
  };
}
