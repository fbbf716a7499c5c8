/** One document may have 16 MiB; a UTF-16 unit may need three bytes. */
const PART_CHARACTERS = 2_000_000;

/** Cuts a text so that each part fits a document; never between the halves of one character. */
export function textParts(text: string, most = PART_CHARACTERS): readonly string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length || parts.length === 0;) {
    const end = start + most < text.length && isHighSurrogate(text, start + most - 1) ? start + most - 1 : start + most;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}
