const LAST_CODE_POINT = 0x10_ffff;
const BEFORE_SURROGATES = 0xd7ff;
const AFTER_SURROGATES = 0xe000;

/** The least text that comes after all that start with `prefix`, in code point order; undefined: there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const codePoints = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  for (let last = codePoints.pop(); last !== undefined; last = codePoints.pop()) {
    if (last === LAST_CODE_POINT) continue;
    const next = last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1;
    return String.fromCodePoint(...codePoints, next);
  }
  return undefined;
}
