import { RouterFailure } from '../../../ports/routers.ts';

/** Our prefix, then at most 124 characters that no dialect gives a meaning to; so a name is a file name and one word, too. */
const LIST_NAME = /^Svc-[A-Za-z0-9_][A-Za-z0-9_.-]{0,123}$/;

/** Refuses a list that is not ours, before anything is done with its name. @throws RouterFailure `not-permitted` */
export function requireListName(list: string): void {
  if (LIST_NAME.test(list)) return;
  throw new RouterFailure(
    'not-permitted',
    `list ${JSON.stringify(list.slice(0, 140))} is not touched: ours are named Svc-… with letters, digits, "_", "." and "-", up to 128 characters`,
  );
}

/** Of all names that a router has, those of lists of ours, sorted. */
export function ourLists(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].filter((name) => LIST_NAME.test(name)).sort();
}
