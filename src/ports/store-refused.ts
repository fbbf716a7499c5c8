/**
 * Why a store could not be opened. `bad-url`, `login-refused`, `not-permitted`, `unsupported` and `other-prefix` are settings to be
 * put right; `unreachable` may pass; `unusable` is a file that is missing, damaged, another's or out of reach, to be put right where it is.
 */
export type StoreRefusedCode =
  | 'bad-url'
  | 'unreachable'
  | 'other-prefix'
  | 'login-refused'
  | 'not-permitted'
  | 'unsupported'
  | 'unusable';

/** A store can't be used as it is set up. The message is one line for an operator and holds no secret. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
  readonly code: StoreRefusedCode;
  constructor(code: StoreRefusedCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
