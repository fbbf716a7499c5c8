import { once } from 'node:events';
import { createServer } from 'node:http';
import express from 'express';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { routerOf } from '../../src/http/route.ts';

test('an operation that should not be used any more says since when, and when it will be gone', async () => {
  const operation = { method: 'GET', scope: 'anybody', request: {}, answers: { 200: z.unknown() } } as const;
  const app = express();
  const handle = [(_request: unknown, response: express.Response): void => void response.end()];
  const deprecated = { since: '2026-11-27T20:50:00+00:00', sunset: '2027-11-27T00:00:00+01:00' };
  const routes = [
    { ...operation, path: '/old', deprecated, handle },
    { ...operation, path: '/new', handle },
  ];
  app.use(routerOf(routes, { caseSensitive: true }));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const old = await request(`${base}/old`);
  assert.equal([old.headers['deprecation'], old.headers['sunset']], ['@1795812600', 'Fri, 26 Nov 2027 23:00:00 GMT']);
  const present = await request(`${base}/new`);
  assert.equal([present.headers['deprecation'], present.headers['sunset']], [undefined, undefined]);
  await Promise.all([old.body.dump(), present.body.dump()]);
  server.close();
});

test.run();
