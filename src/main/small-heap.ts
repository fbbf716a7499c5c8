import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap of this process grow by half of what is alive between two full collections, where V8 lets it grow to a multiple:
 * a long run over the log leaves old views behind at every step, and nobody gains from keeping them.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=50');
}
