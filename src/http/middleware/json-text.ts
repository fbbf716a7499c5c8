/** JSON text of a value in which bigints are written as exact integers, which JSON allows and `JSON.stringify` does not. */
export function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  let text = '';
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${jsonText(member)}`;
  }
  return `{${text}}`;
}
