import type { CoverText } from '../../../addresses/cover-text.ts';
import { type Keeping, wantedOn } from '../../../commands/ip-control/kept-lists.ts';
import type { ListsAsText, RouterDriver } from '../../../ports/routers.ts';
import { entriesOf, type HeldList, isSameList } from './router-calls.ts';
import type { WantedList } from './wanted-list.ts';

export type ListOnRouter = Readonly<{
  driver: RouterDriver;
  list: string;
  /** All that the list is to hold. */
  wanted: WantedList;
  /** While the log is a restored one: what the router holds beside it stays, but for what the log explains. */
  keeping?: Keeping | undefined;
}>;

/** How a list is compared with what a router holds, and replaced: entry by entry, or as one text. */
export type ListForm = {
  /** Looks at what the router holds before anything is changed: whether that is right, or why it may not be changed. */
  compare(within: AbortSignal): Promise<boolean | Readonly<{ problem: string }>>;
  replace(within: AbortSignal, timeoutMilliseconds: number): Promise<void>;
  /** Reads back whether the router holds exactly what it is to hold. */
  isHeld(within: AbortSignal): Promise<boolean>;
  /** How many blocks it keeps beside what is wanted everywhere. */
  readonly kept: number;
  /** What it held and is to hold, where that can come in slices. */
  readonly entries: Readonly<{ held: readonly string[]; wanted: readonly string[] }> | undefined;
};

/** A list that is one text is compared as one, where the router holds texts. What stays of a restored log's list is found among its entries. */
export function formOf({ driver, list, wanted, keeping }: ListOnRouter): ListForm {
  if (keeping === undefined && wanted.text !== undefined && driver.text !== undefined)
    return new AsText(driver.text, list, wanted.text);
  return new ByEntries(driver, list, wanted.prefixes, keeping);
}

class ByEntries implements ListForm {
  readonly #driver: RouterDriver;
  readonly #list: string;
  readonly #keeping: Keeping | undefined;
  #prefixes: readonly string[];
  #before: HeldList = 'absent';
  kept = 0;

  constructor(driver: RouterDriver, list: string, prefixes: readonly string[], keeping: Keeping | undefined) {
    this.#driver = driver;
    this.#list = list;
    this.#prefixes = prefixes;
    this.#keeping = keeping;
  }

  async compare(within: AbortSignal): Promise<boolean | Readonly<{ problem: string }>> {
    this.#before = await this.#driver.read(this.#list, within);
    const wanted = wantedOn(this.#before, this.#prefixes, this.#keeping);
    if ('problem' in wanted) return wanted;
    [this.#prefixes, this.kept] = [wanted.prefixes, wanted.kept.length];
    return isSameList(this.#before, this.#prefixes);
  }

  replace(within: AbortSignal, timeoutMilliseconds: number): Promise<void> {
    return this.#driver.replace(this.#list, this.#prefixes, within, { timeoutMilliseconds });
  }

  async isHeld(within: AbortSignal): Promise<boolean> {
    return isSameList(await this.#driver.read(this.#list, within), this.#prefixes);
  }

  get entries() {
    return { held: entriesOf(this.#before), wanted: this.#prefixes };
  }
}

class AsText implements ListForm {
  readonly #lists: ListsAsText;
  readonly #list: string;
  readonly #wanted: CoverText;
  readonly kept = 0;
  readonly entries = undefined;

  constructor(lists: ListsAsText, list: string, wanted: CoverText) {
    this.#lists = lists;
    this.#list = list;
    this.#wanted = wanted;
  }

  compare(within: AbortSignal): Promise<boolean> {
    return this.isHeld(within);
  }

  replace(within: AbortSignal): Promise<void> {
    return this.#lists.replace(this.#list, this.#wanted, within);
  }

  async isHeld(within: AbortSignal): Promise<boolean> {
    const held = await this.#lists.read(this.#list, within);
    return held === 'absent' ? this.#wanted.count === 0 : this.#wanted.hasLinesOf(held);
  }
}
