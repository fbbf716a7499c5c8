import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog } from '../../src/adapters/log.ts';
import type { Log } from '../../src/ports/log.ts';

function logToMemory(level = 'info'): { log: Log; lines: () => readonly Record<string, unknown>[] } {
  const texts: string[] = [];
  const log = createLog({ level, destination: (line) => void texts.push(line) });
  return { log, lines: () => texts.map((text) => JSON.parse(text)) };
}

test('a line is one JSON object with level, time, fields and message', () => {
  const { log, lines } = logToMemory();
  log.info({ region: 3, position: 7n }, 'deployed');
  const [line] = lines();
  assert.match(String(line?.time), /^\d{4}-\d\d-\d\dT/);
  assert.equal({ ...line, time: '' }, { level: 'info', time: '', region: 3, position: 7, msg: 'deployed' });
});

test('levels below the one asked for are not written', () => {
  const { log, lines } = logToMemory('warn');
  log.debug({}, 'a');
  log.info({}, 'b');
  log.warn({}, 'c');
  log.error({}, 'd');
  assert.equal(
    lines().map(({ level, msg }) => `${String(level)} ${String(msg)}`),
    ['warn c', 'error d'],
  );
});

test('a child adds its fields to each line', () => {
  const { log, lines } = logToMemory();
  log.child({ runner: 'views' }).child({ try: 2 }).info({ page: 1 }, 'read');
  const [line] = lines();
  assert.equal({ ...line, time: '' }, { level: 'info', time: '', runner: 'views', try: 2, page: 1, msg: 'read' });
});

test('an error is written with its message, stack and causes', () => {
  const { log, lines } = logToMemory();
  log.error({ error: new Error('no answer', { cause: new TypeError('bad port') }) }, 'push failed');
  const text = JSON.stringify(lines()[0]);
  for (const part of ['no answer', 'log.test.ts', 'TypeError: bad port']) assert.match(text, part);
});

test('fields that hold secrets are never printed, however deep, whatever their case, also in a child', () => {
  const { log, lines } = logToMemory();
  const fields = {
    token: 'S3CRET',
    request: { headers: { Authorization: 'Bearer S3CRET', host: 'edge' } },
    routers: [{ name: 'core1', options: { password: 'S3CRET', privateKey: 'S3CRET' } }],
  };
  log.info(fields, 'asked');
  log.child({ secret: 'S3CRET' }).warn({ a: { b: { c: { cookie: 'S3CRET' } } } }, 'asked again');
  assert.not.match(JSON.stringify(lines()), 'S3CRET');
  const [line] = lines();
  assert.equal(line?.request, { headers: { Authorization: '[redacted]', host: 'edge' } });
  assert.equal(fields.token, 'S3CRET');
});

test.run();
