import { BadConfig } from '../config.ts';
import { StoreUnavailable } from '../ports/event-store.ts';
import { StoreRefused, type StoreRefusedCode } from '../ports/store-refused.ts';

/** sysexits.h: a setting is wrong; a service that is needed can't be reached. */
const EXIT_CONFIG = 78;
const EXIT_UNAVAILABLE = 69;
const EXIT_FAILED = 1;

const UNAVAILABLE: ReadonlySet<StoreRefusedCode> = new Set(['unreachable', 'unusable']);

/** The exit code and the one line for a failure that is not a command's own. */
export function explainFailure(error: unknown): Readonly<{ exitCode: number; message: string }> {
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return { exitCode: exitCodeOf(error), message };
}

function exitCodeOf(error: unknown): number {
  if (error instanceof BadConfig) return EXIT_CONFIG;
  if (error instanceof StoreRefused) return UNAVAILABLE.has(error.code) ? EXIT_UNAVAILABLE : EXIT_CONFIG;
  return error instanceof StoreUnavailable ? EXIT_UNAVAILABLE : EXIT_FAILED;
}
