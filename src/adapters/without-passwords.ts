/**
 * A text in which no URL shows its password: what a command prints of its arguments, or of what a library says of a connection string, may
 * hold one.
 */
export function withoutPasswords(text: string): string {
  return text.replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s]*@/gi, '$1:…@');
}
