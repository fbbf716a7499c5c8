// The baseline: what one writes in an afternoon. Express 5, JSON body, zod, and one synchronous=FULL insert per request.
import { randomUUID } from 'node:crypto';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import express from 'express';
import { z } from 'zod';

const [file = ''] = process.argv.slice(2);
const database = openSqlite(file);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec(
  'CREATE TABLE events (position INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, created INTEGER NOT NULL, UNIQUE (stream, revision)) STRICT',
);
const insert = database.prepare('INSERT INTO events (stream, revision, type, data, created) VALUES (?, ?, ?, ?, ?)');
const body = z.object({
  addresses: z
    .array(z.union([z.ipv4(), z.ipv6()]))
    .min(1)
    .max(4096),
  reason: z.string().max(200).optional(),
  actor: z.string().max(100).optional(),
});
let revision = 0;

const app = express();
app.disable('x-powered-by');
app.use(express.json({ limit: '2mb' }));
app.post('/disable', (request, response) => {
  const parsed = body.safeParse(request.body);
  if (!parsed.success) {
    response.status(400).json({ error: 'bad request' });
    return;
  }
  revision += 1;
  const data = JSON.stringify({
    type: 'AddressesDisabled',
    customer: 'c1',
    data: {
      ranges: parsed.data.addresses.map((a) => ({ first: a, last: a })),
      reason: parsed.data.reason,
      actor: parsed.data.actor,
    },
    at: new Date().toISOString(),
    requestId: randomUUID(),
  });
  const { lastInsertRowid } = insert.run('c1', revision, 'AddressesDisabled', data, Date.now());
  response.status(201).json({ position: Number(lastInsertRowid), n: parsed.data.addresses.length });
});
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
});
process.on('SIGTERM', () => process.exit(0));
