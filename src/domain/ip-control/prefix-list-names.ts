import { listKind, listNameOf, prefixListName } from '../../events/ip-control/vocabulary.ts';

/** The prefix-lists that a customer of this name would have on routers; none where the name has nothing that a list can be named after. */
export function prefixListNamesOf(customerName: string): readonly string[] {
  const listName = listNameOf(customerName);
  return listName === '' ? [] : listKind.options.map((kind) => prefixListName(listName, kind));
}
