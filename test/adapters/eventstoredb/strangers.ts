import { randomUUID } from 'node:crypto';
import type { EventLog } from '../../support/stores/eventstoredb-stand-in/event-log.ts';

/** Events of a program that is not ours. */
export function stranger(log: EventLog, stream: string, count: number, bytes = 2): void {
  const data = Buffer.from(`"${'x'.repeat(bytes - 2)}"`);
  for (let index = 0; index < count; index += 1) {
    log.append(stream, 'any', [
      {
        id: randomUUID(),
        type: 'OrderPlaced',
        contentType: 'application/json',
        data,
        customMetadata: Buffer.from(''),
      },
    ]);
  }
}
