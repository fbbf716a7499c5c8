import type { Log } from '../../ports/log.ts';
import type { Collection } from '../../ports/read-models.ts';
import { PartsMissing } from './view-parts.ts';

/** Generations of which something that was saved is not there any more: they are made again. */
export class BrokenGenerations {
  readonly #ids = new Set<string>();
  readonly #log: Pick<Log, 'error'>;

  constructor(log: Pick<Log, 'error'>) {
    this.#log = log;
  }

  /** Looks whether this is why a generation can't be relied upon; the first time an error tells so. */
  note(error: unknown): void {
    if (!(error instanceof PartsMissing) || this.has(error.collection)) return;
    this.#ids.add(idOf(error.collection));
    this.#log.error({ error }, `${error.message}; they are made again from the log`);
  }

  has(collection: Collection): boolean {
    return this.#ids.has(idOf(collection));
  }
}

function idOf({ projection, generation }: Collection): string {
  return `${projection}/${generation}`;
}
