/** An object or a list that is being read. */
type Level = {
  isList: boolean;
  /** Of a list: which entry is being read, from 0. */
  entry: number;
  /** Of an object: the field that is being read. */
  field: string | undefined;
  /** Most objects of a long list have one field: it needs no set. */
  fields: Set<string> | undefined;
};

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 44, 91, 92, 93, 123, 125];
/** The first ones tell enough. */
const REPEATED_MAX = 100;
/** A longer path is cut off: its depth is the client's choice. */
const PATH_LENGTH_MAX = 200;

/**
 * The fields that an object in a JSON text has more than once, at any depth, as dotted paths (`range.start`, `ips.3`), each once. The text
 * must be valid JSON. Names that are written differently and mean the same (`"ip"`, `"\u0069p"`) are one name. `JSON.parse` keeps the last
 * value of such a field and says nothing (RFC 8259, 4, leaves it open).
 */
export function repeatedFields(text: string): readonly string[] {
  const repeated = new Set<string>();
  /** One for each depth that was reached, used again for whatever comes at that depth. */
  const levels: Level[] = [];
  let depth = 0;
  let level: Level | undefined;
  let isFieldNext = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        if (isFieldNext && level !== undefined) {
          if (!begins(level, nameOf(text, at, end)) && repeated.size < REPEATED_MAX)
            repeated.add(pathOf(levels, depth));
          isFieldNext = false;
        }
        at = end;
        break;
      }
      case COMMA:
        if (level?.isList === true) level.entry += 1;
        else isFieldNext = true;
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        isFieldNext = text.charCodeAt(at) === OPEN_OBJECT;
        level = levels[depth] ??= { isList: false, entry: 0, field: undefined, fields: undefined };
        level.isList = !isFieldNext;
        level.entry = 0;
        level.field = undefined;
        level.fields = undefined;
        depth += 1;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth -= 1;
        level = levels[depth - 1];
        isFieldNext = false;
        break;
    }
  }
  return [...repeated];
}

/** Whether the object has not had this field before. */
function begins(level: Level, name: string): boolean {
  const { field: before, fields } = level;
  level.field = name;
  if (before === undefined) return true;
  const known = fields ?? new Set([before]);
  level.fields = known;
  if (known.has(name)) return false;
  known.add(name);
  return true;
}

function nameOf(text: string, start: number, end: number): string {
  const plain = text.slice(start + 1, end);
  return plain.includes('\\') ? String(JSON.parse(text.slice(start, end + 1))) : plain;
}

/** Where the string that starts at a quote has its other quote. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

function pathOf(levels: readonly Level[], depth: number): string {
  let path = '';
  for (const { isList, entry, field } of levels.slice(0, depth)) {
    path += `.${isList ? entry : field}`;
    if (path.length > PATH_LENGTH_MAX) break;
  }
  return path.slice(1);
}
