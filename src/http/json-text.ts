/** JSON text of a value in which bigints are written as exact integers, which JSON allows and `JSON.stringify` does not. */
export function jsonText(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${value.map((item) => jsonText(item)).join(',')}]`;
      return `{${Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`)
        .join(',')}}`;
    default:
      return JSON.stringify(value) ?? 'null';
  }
}
