import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openEdgeward } from '../support/servers/edgeward-server.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

test('the line of a request names the trace that its client says it is part of, and no other', async () => {
  const edgeward = await openEdgeward();
  const url = await edgeward.serve();
  const sent = [
    ['well', `00-${TRACE}-00f067aa0ba902b7-01`, TRACE],
    ['later-version', `01-${TRACE}-00f067aa0ba902b7-01-more`, TRACE],
    ['zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
    ['upper-case', `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
    ['invalid-version', `ff-${TRACE}-00f067aa0ba902b7-01`, undefined],
    ['nonsense', 'x", "traceId": "y', undefined],
  ] as const;
  for (const [id, traceparent] of sent) {
    const { body } = await request(`${url}/healthz`, { headers: { traceparent, 'x-request-id': id } });
    await body.dump();
  }
  await edgeward.stop();
  for (const [id, , traceId] of sent) {
    const line = edgeward.logged().find((one) => one['requestId'] === id);
    assert.ok(line, id);
    assert.is(line['traceId'], traceId, id);
  }
  await edgeward.remove();
});

test.run();
