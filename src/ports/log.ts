/** Structured lines. Never hand it a secret. */
export type Log = Readonly<{
  debug: (fields: object, message: string) => void;
  info: (fields: object, message: string) => void;
  warn: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
  child: (fields: object) => Log;
}>;
