import { coverTexts } from '../../../addresses/cidr-cover.ts';
import { CoverText } from '../../../addresses/cover-text.ts';
import type { RangeSet } from '../../../addresses/range-set.ts';
import { contentOf, contentOfText } from '../../../domain/ip-control/commit-content.ts';
import type { ListContent } from '../../../events/ip-control/vocabulary.ts';

/** What a list is to hold on routers. Very long ones are one text, of which the blocks are made for those routers alone that take blocks. */
export class WantedList {
  readonly count: number;
  readonly text: CoverText | undefined;
  #prefixes: readonly string[] | undefined;

  private constructor(count: number, text: CoverText | undefined, prefixes: readonly string[] | undefined) {
    this.count = count;
    this.text = text;
    this.#prefixes = prefixes;
  }

  /** The list of these blocks, canonical and in order. */
  static ofPrefixes(prefixes: readonly string[]): WantedList {
    return new WantedList(prefixes.length, undefined, prefixes);
  }

  static ofText(text: CoverText): WantedList {
    return new WantedList(text.count, text, undefined);
  }

  /** Canonical CIDR texts in order. */
  get prefixes(): readonly string[] {
    this.#prefixes ??= this.text?.texts() ?? [];
    return this.#prefixes;
  }

  /** What its commit remembers of it. */
  content(): ListContent {
    return this.text === undefined ? contentOf(this.prefixes) : contentOfText(this.text);
  }
}

/** From so many ranges on, a list is one text. */
const TEXT_FROM = 4096;
/** So many bytes of texts are kept for the next commits of the same lists. */
const KEPT_BYTES = 64 * 1024 * 1024;

/**
 * The texts of very long lists, as the last commits of them wanted them: one of each list, the least recently wanted goes first. With them the
 * text of a list that has changed a little is made of what it was before; without them it is the same, and made as a whole.
 */
export class KnownTexts {
  readonly #texts = new Map<string, CoverText>();
  readonly #most: number;
  #bytes = 0;

  constructor(most = KEPT_BYTES) {
    this.#most = most;
  }

  /** What the list of this name is to hold: the cover of a set. */
  wanted(name: string, content: RangeSet): WantedList {
    const before = this.#texts.get(name);
    this.#forget(name, before);
    if (content.rangeCount < TEXT_FROM) return WantedList.ofPrefixes(coverTexts(content));
    const text = CoverText.of(content, before);
    this.#keep(name, text);
    return WantedList.ofText(text);
  }

  #keep(name: string, text: CoverText): void {
    this.#texts.set(name, text);
    this.#bytes += text.byteLength;
    for (const [oldest, old] of this.#texts) {
      if (this.#bytes <= this.#most) return;
      this.#forget(oldest, old);
    }
  }

  #forget(name: string, text: CoverText | undefined): void {
    if (text === undefined) return;
    this.#texts.delete(name);
    this.#bytes -= text.byteLength;
  }
}
