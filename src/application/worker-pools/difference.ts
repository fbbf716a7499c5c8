import { isObject, pathText } from '../../events/worker-pools/document-checks.ts';
import { sameJson } from '../../commands/worker-pools/same-json.ts';

/** One place where two records differ. `before` or `after` is missing where the field is only in the other one. */
export type Difference = Readonly<{ path: string; before?: unknown; after?: unknown }>;

/** Where two records differ, as deep as they have the same shape. */
export function differences(before: unknown, after: unknown, path = ''): readonly Difference[] {
  if (isObject(before) && isObject(after)) {
    const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return fields.flatMap((field) => differences(before[field], after[field], pathText(path, [field])));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length && before.some(isObject)) {
    return before.flatMap((entry: unknown, index) => differences(entry, after[index], pathText(path, [index])));
  }
  if (before === undefined) return after === undefined ? [] : [{ path, after }];
  if (after === undefined) return [{ path, before }];
  return sameJson(before, after) ? [] : [{ path, before, after }];
}
